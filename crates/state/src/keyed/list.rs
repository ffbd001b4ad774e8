//! A list a key: each element an entry of its own, so that to add one costs the same in a long list.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use tidemill_core::Result;

use super::codec::Codec;
use super::descriptor::{StateTtlConfig, expiry};
use super::layout::StateId;
use super::{KeyedState, StateDescriptor};
use crate::backend::{Entry, KeyRange};

/// How many elements are read at once.
const PAGE: usize = 1024;

/// The handle of a state that has a list a key, empty at first.
pub struct ListState<T> {
    /// The number of the next element, by key.
    next: usize,
    state: StateId,
    name: Cow<'static, str>,
    codec: Arc<dyn Codec<T>>,
    ttl: Option<StateTtlConfig>,
}

impl<T> ListState<T> {
    pub(super) fn new(next: usize, state: StateId, descriptor: StateDescriptor<T>) -> Self {
        let StateDescriptor { name, codec, ttl } = descriptor;
        Self { next, state, name, codec, ttl }
    }

    /// The elements of the current key, in the order in which they were added.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn get(&self, state: &mut KeyedState) -> Result<Vec<T>> {
        let now = state.now;
        let (mut elements, mut last) = (vec![], None);
        for (key, entry) in self.entries(state)? {
            if entry.expiry.past(now) {
                continue;
            }
            let element =
                self.codec.decode(&entry.value).map_err(|e| e.context(format!("the state '{}'", self.name)))?;
            elements.push(element);
            if let Some(expiry) = StateTtlConfig::prolonged(self.ttl, entry.expiry, now) {
                last = Some(expiry);
                state.store.put(key, Some(Entry { expiry, ..entry }))?;
            }
        }
        if let Some(expiry) = last {
            let (cells, slot) = state.cells::<u64>(self.next, &self.name)?;
            cells.change(slot, now, cells.expiry(slot).later(expiry), |_| ());
        }
        Ok(elements)
    }

    /// Adds an element at the end; says whether it is the first.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn add(&self, state: &mut KeyedState, element: &T) -> Result<bool> {
        let mut value = vec![];
        self.codec.encode(element, &mut value).map_err(|e| e.context(format!("the state '{}'", self.name)))?;
        let mut key = state.entries(self.state, &self.name)?;
        let (now, expiry) = (state.now, expiry(self.ttl, state.now));
        let (cells, slot) = state.cells::<u64>(self.next, &self.name)?;
        // It lasts as long as an element does: a list of which all have expired begins anew.
        let until = if cells.get(slot, now).is_some() { cells.expiry(slot).later(expiry) } else { expiry };
        let number = cells.change(slot, now, until, |next| {
            let number = next.unwrap_or(0);
            *next = Some(number + 1);
            number
        });
        key.extend_from_slice(&number.to_be_bytes());
        state.store.put(key, Some(Entry { value, expiry }))?;
        Ok(number == 0)
    }

    /// Adds elements at the end.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn add_all<'e>(&self, state: &mut KeyedState, elements: impl IntoIterator<Item = &'e T>) -> Result<()>
    where
        T: 'e,
    {
        elements.into_iter().try_for_each(|element| self.add(state, element).map(drop))
    }

    /// Puts the elements in the namespaces `sources` behind those in `target`, all of the current key; there are none then
    /// in `sources`. For windows that become one. `target` is the current namespace afterwards.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn merge_namespaces<N: Serialize>(&self, state: &mut KeyedState, target: &N, sources: &[N]) -> Result<()> {
        let mut elements = vec![];
        for source in sources {
            state.set_current_namespace(source)?;
            elements.extend(self.get(state)?);
            self.clear(state)?;
        }
        state.set_current_namespace(target)?;
        self.add_all(state, &elements)
    }

    /// Makes these the elements of the current key.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn update<'e>(&self, state: &mut KeyedState, elements: impl IntoIterator<Item = &'e T>) -> Result<()>
    where
        T: 'e,
    {
        self.clear(state)?;
        self.add_all(state, elements)
    }

    /// Deletes the list of the current key.
    ///
    /// # Errors
    /// As [`super::ValueState::value`].
    pub fn clear(&self, state: &mut KeyedState) -> Result<()> {
        for (key, _) in self.entries(state)? {
            state.store.put(key, None)?;
        }
        let now = state.now;
        let (cells, slot) = state.cells::<u64>(self.next, &self.name)?;
        cells.change(slot, now, expiry(self.ttl, now), |next| *next = None);
        Ok(())
    }

    /// What the store has of the list, expired or not. What stands behind the next number is of a list that has expired.
    fn entries(&self, state: &mut KeyedState) -> Result<Vec<(Vec<u8>, Entry)>> {
        let start = state.entries(self.state, &self.name)?;
        let now = state.now;
        let (cells, slot) = state.cells::<u64>(self.next, &self.name)?;
        let Some(next) = cells.get(slot, now) else { return Ok(vec![]) };
        let first = [start.as_slice(), &0_u64.to_be_bytes()].concat();
        let mut rest = Some(KeyRange { start: first, end: Some([start.as_slice(), &next.to_be_bytes()].concat()) });
        let mut entries = vec![];
        while let Some(range) = rest {
            let page = state.store.scan(&range, PAGE)?;
            entries.extend(page.entries);
            rest = page.rest;
        }
        Ok(entries)
    }
}

impl<T> fmt::Debug for ListState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ListState({})", self.name)
    }
}
