//! A map a key: each entry of it an entry of its own, in the order of the bytes of the map's keys.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;
use std::vec;

use tidemill_core::Result;

use super::codec::Codec;
use super::descriptor::{StateTtlConfig, expiry};
use super::layout::StateId;
use super::{KeyedState, MapStateDescriptor};
use crate::backend::{Entry, KeyRange};

/// How many entries are read at once.
const PAGE: usize = 256;

/// The handle of a state that has a map a key, empty at first.
pub struct MapState<K, V> {
    state: StateId,
    name: Cow<'static, str>,
    keys: Arc<dyn Codec<K>>,
    values: Arc<dyn Codec<V>>,
    ttl: Option<StateTtlConfig>,
}

impl<K, V> MapState<K, V> {
    pub(super) fn new(state: StateId, descriptor: MapStateDescriptor<K, V>) -> Self {
        let MapStateDescriptor { name, keys, values, ttl } = descriptor;
        Self { state, name, keys, values, ttl }
    }

    /// What `key` stands for in the map of the current key.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn get(&self, state: &mut KeyedState, key: &K) -> Result<Option<V>> {
        let key = self.entry_key(state, key)?;
        let Some(entry) = self.live(state, &key)? else { return Ok(None) };
        let value = self.values.decode(&entry.value).map_err(|e| self.named(e))?;
        self.prolong(state, key, entry)?;
        Ok(Some(value))
    }

    /// Whether the map of the current key has `key`.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn contains(&self, state: &mut KeyedState, key: &K) -> Result<bool> {
        let key = self.entry_key(state, key)?;
        let Some(entry) = self.live(state, &key)? else { return Ok(false) };
        self.prolong(state, key, entry)?;
        Ok(true)
    }

    /// Makes `key` stand for `value` in the map of the current key.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn put(&self, state: &mut KeyedState, key: &K, value: &V) -> Result<()> {
        let key = self.entry_key(state, key)?;
        let mut bytes = vec![];
        self.values.encode(value, &mut bytes).map_err(|e| self.named(e))?;
        state.store.put(key, Some(Entry { value: bytes, expiry: expiry(self.ttl, state.now) }))
    }

    /// Puts several entries into the map of the current key.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn put_all<'e>(&self, state: &mut KeyedState, entries: impl IntoIterator<Item = (&'e K, &'e V)>) -> Result<()>
    where
        K: 'e,
        V: 'e,
    {
        entries.into_iter().try_for_each(|(key, value)| self.put(state, key, value))
    }

    /// Deletes `key` from the map of the current key; nothing happens if it does not have it.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn remove(&self, state: &mut KeyedState, key: &K) -> Result<()> {
        let key = self.entry_key(state, key)?;
        state.store.put(key, None)
    }

    /// Whether the map of the current key has no entries.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn is_empty(&self, state: &mut KeyedState) -> Result<bool> {
        Ok(self.keys(state)?.next().transpose()?.is_none())
    }

    /// The entries of the map of the current key, in the order of its keys.
    ///
    /// # Errors
    /// As [`super::ValueState::value`]; each entry is read when it is asked for, and may fail.
    pub fn entries<'s>(&'s self, state: &'s mut KeyedState) -> Result<MapEntries<'s, K, V>> {
        self.range(state, ..)
    }

    /// The entries whose keys are in a range of the map of the current key: of the first ten, or of those up to a time,
    /// no others are read.
    ///
    /// # Errors
    /// As [`MapState::entries`].
    pub fn range<'s>(&'s self, state: &'s mut KeyedState, keys: impl RangeBounds<K>) -> Result<MapEntries<'s, K, V>> {
        let all = KeyRange::prefix(&state.entries(self.state, &self.name)?);
        let prefix_bytes = all.start.len();
        let bound = |bound: Bound<&K>, behind: Bound<()>| -> Result<Option<Vec<u8>>> {
            let (key, behind) = match bound {
                Bound::Unbounded => return Ok(None),
                Bound::Included(key) => (key, matches!(behind, Bound::Included(()))),
                Bound::Excluded(key) => (key, matches!(behind, Bound::Excluded(()))),
            };
            let mut bytes = all.start.clone();
            self.keys.encode(key, &mut bytes).map_err(|e| self.named(e))?;
            // The next key of all is the same with a zero behind it.
            bytes.extend(behind.then_some(0));
            Ok(Some(bytes))
        };
        let start = bound(keys.start_bound(), Bound::Excluded(()))?.unwrap_or_else(|| all.start.clone());
        let end = bound(keys.end_bound(), Bound::Included(()))?.or_else(|| all.end.clone());
        let rest = Some(KeyRange { start, end });
        Ok(MapEntries { map: self, state, prefix_bytes, page: vec![].into_iter(), rest })
    }

    /// The keys of the map of the current key, in order.
    ///
    /// # Errors
    /// As [`MapState::entries`].
    pub fn keys<'s>(&'s self, state: &'s mut KeyedState) -> Result<impl Iterator<Item = Result<K>> + 's> {
        Ok(self.entries(state)?.map(|entry| Ok(entry?.0)))
    }

    /// The values of the map of the current key, in the order of its keys.
    ///
    /// # Errors
    /// As [`MapState::entries`].
    pub fn values<'s>(&'s self, state: &'s mut KeyedState) -> Result<impl Iterator<Item = Result<V>> + 's> {
        Ok(self.entries(state)?.map(|entry| Ok(entry?.1)))
    }

    /// Deletes all entries of the map of the current key.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn clear(&self, state: &mut KeyedState) -> Result<()> {
        let mut rest = Some(KeyRange::prefix(&state.entries(self.state, &self.name)?));
        while let Some(range) = rest {
            let page = state.store.scan(&range, PAGE)?;
            for (key, _) in page.entries {
                state.store.put(key, None)?;
            }
            rest = page.rest;
        }
        Ok(())
    }

    fn entry_key(&self, state: &KeyedState, key: &K) -> Result<Vec<u8>> {
        let mut bytes = state.entries(self.state, &self.name)?;
        self.keys.encode(key, &mut bytes).map_err(|e| self.named(e))?;
        Ok(bytes)
    }

    /// The entry of a key, if it has not expired.
    fn live(&self, state: &mut KeyedState, key: &[u8]) -> Result<Option<Entry>> {
        Ok(state.store.get(key)?.filter(|entry| !entry.expiry.past(state.now)))
    }

    /// An entry was read: that may let it last longer.
    fn prolong(&self, state: &mut KeyedState, key: Vec<u8>, entry: Entry) -> Result<()> {
        match StateTtlConfig::prolonged(self.ttl, entry.expiry, state.now) {
            Some(expiry) => state.store.put(key, Some(Entry { expiry, ..entry })),
            None => Ok(()),
        }
    }

    fn named(&self, e: tidemill_core::Error) -> tidemill_core::Error {
        e.context(format!("the state '{}'", self.name))
    }
}

/// Entries of a map, in the order of its keys, read as they are asked for.
pub struct MapEntries<'s, K, V> {
    map: &'s MapState<K, V>,
    state: &'s mut KeyedState,
    /// Of the key of an entry, before the map's key.
    prefix_bytes: usize,
    page: vec::IntoIter<(Vec<u8>, Entry)>,
    rest: Option<KeyRange>,
}

impl<K, V> MapEntries<'_, K, V> {
    fn read(&mut self, key: Vec<u8>, entry: Entry) -> Result<(K, V)> {
        let map_key = self.map.keys.decode(&key[self.prefix_bytes..]).map_err(|e| self.map.named(e))?;
        let value = self.map.values.decode(&entry.value).map_err(|e| self.map.named(e))?;
        self.map.prolong(self.state, key, entry)?;
        Ok((map_key, value))
    }
}

impl<K, V> Iterator for MapEntries<'_, K, V> {
    type Item = Result<(K, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, entry)) = self.page.next() {
                if entry.expiry.past(self.state.now) {
                    continue;
                }
                return Some(self.read(key, entry));
            }
            match self.state.store.scan(&self.rest.take()?, PAGE) {
                Ok(page) => {
                    self.page = page.entries.into_iter();
                    self.rest = page.rest;
                }
                Err(e) => return Some(Err(e)),
            }
        }
    }
}

impl<K, V> fmt::Debug for MapState<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MapState({})", self.name)
    }
}
