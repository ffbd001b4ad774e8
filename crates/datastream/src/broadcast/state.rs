//! Broadcast states as a function has them.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Error, Result};
use tidemill_state::{Section, State, StateChanges};

use super::map::{AnyMap, Map};

/// Before the names of the sections, each of which has one map.
const BROADCAST: &str = "broadcast";

/// The broadcast states of one subtask: maps in the order of their keys, the same in each subtask. They are in memory,
/// whatever the state backend.
#[derive(Default)]
pub struct BroadcastStates {
    maps: Vec<Box<dyn AnyMap>>,
    /// What snapshots have left of maps that nobody has registered. It is kept.
    unregistered: State,
    /// Snapshots are taken: the first has told all.
    noting: bool,
}

impl BroadcastStates {
    /// Registers a map, empty at first.
    ///
    /// # Errors
    /// `Invalid` if the name is taken.
    pub fn map_state<K, V>(&mut self, name: &str) -> Result<BroadcastState<K, V>>
    where
        K: Ord + Serialize + DeserializeOwned + Send + 'static,
        V: Serialize + DeserializeOwned + Send + 'static,
    {
        if self.maps.iter().any(|map| map.name() == name) {
            return Err(Error::invalid(format!("the broadcast state '{name}' is registered twice"))
                .hint("give each broadcast state of a step a name of its own"));
        }
        let name: Arc<str> = name.into();
        self.maps.push(Box::new(Map::<K, V>::new(Arc::clone(&name))));
        Ok(BroadcastState { index: self.maps.len() - 1, name, of: PhantomData })
    }

    /// Says what has changed since it last said so; the first time, all that there is.
    pub(super) fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        let mut own = StateChanges::default();
        if !std::mem::replace(&mut self.noting, true) {
            own.extend(self.unregistered.changes());
        }
        for map in &mut self.maps {
            own.upsert(section(map.name()), map.snapshot()?);
        }
        changes.extend(own.under(BROADCAST));
        Ok(())
    }

    /// Takes up what [`BroadcastStates::take`] has given.
    pub(super) fn restore(&mut self, mut left: State) -> Result<()> {
        for map in &mut self.maps {
            let batches = left.take(section(map.name()))?;
            map.restore(&batches).map_err(|e| e.context(format!("the broadcast state '{}'", map.name())))?;
        }
        self.unregistered = left;
        Ok(())
    }

    /// The next snapshot says what has changed since what was restored.
    pub(super) fn note_from_now_on(&mut self) {
        self.noting = true;
        self.maps.iter_mut().for_each(|map| map.note_from_now_on());
    }

    /// Takes the broadcast states out of what snapshots of a step have left.
    pub(super) fn take(left: &mut State) -> State {
        left.take_under(BROADCAST)
    }

    /// Puts them into what another is to take up.
    pub(super) fn put(taken: &State, into: &mut State) {
        into.apply(taken.changes().under(BROADCAST));
    }
}

fn section(map: &str) -> Section {
    Section { name: map.to_owned().into(), number: 0 }
}

impl fmt::Debug for BroadcastStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.maps.iter().map(|map| map.name())).finish()
    }
}

/// The handle of a broadcast state.
pub struct BroadcastState<K, V> {
    index: usize,
    name: Arc<str>,
    of: PhantomData<fn() -> (K, V)>,
}

impl<K, V> BroadcastState<K, V>
where
    K: Ord + Serialize + DeserializeOwned + Send + 'static,
    V: Serialize + DeserializeOwned + Send + 'static,
{
    /// What `key` stands for.
    ///
    /// # Errors
    /// `Invalid` if the handle is of another step; the same holds for all calls.
    pub fn get<'s>(&self, states: &'s BroadcastStates, key: &K) -> Result<Option<&'s V>> {
        Ok(self.entries(states)?.get(key))
    }

    /// All entries, in the order of their keys.
    ///
    /// # Errors
    /// As [`BroadcastState::get`].
    pub fn entries<'s>(&self, states: &'s BroadcastStates) -> Result<&'s BTreeMap<K, V>> {
        let map: Option<&dyn Any> = states.maps.get(self.index).map(|map| map.as_ref() as _);
        let map = map.and_then(|map| map.downcast_ref::<Map<K, V>>()).filter(|map| map.name == self.name);
        map.map(|map| &map.entries).ok_or_else(|| self.foreign())
    }

    /// Makes `key` stand for `value`.
    ///
    /// # Errors
    /// As [`BroadcastState::get`]; `Invalid` if the two can't be written.
    pub fn put(&self, states: &mut BroadcastStates, key: K, value: V) -> Result<()> {
        self.map(states)?.put(key, value).map_err(|e| self.named(e))
    }

    /// Takes `key` out; nothing happens if it is not there.
    ///
    /// # Errors
    /// As [`BroadcastState::put`].
    pub fn remove(&self, states: &mut BroadcastStates, key: &K) -> Result<()> {
        self.map(states)?.remove(key).map_err(|e| self.named(e))
    }

    /// Takes all keys out.
    ///
    /// # Errors
    /// As [`BroadcastState::put`].
    pub fn clear(&self, states: &mut BroadcastStates) -> Result<()> {
        self.map(states)?.clear().map_err(|e| self.named(e))
    }

    fn map<'s>(&self, states: &'s mut BroadcastStates) -> Result<&'s mut Map<K, V>> {
        let map: Option<&mut dyn Any> = states.maps.get_mut(self.index).map(|map| map.as_mut() as _);
        let map = map.and_then(|map| map.downcast_mut::<Map<K, V>>()).filter(|map| map.name == self.name);
        map.ok_or_else(|| self.foreign())
    }

    fn foreign(&self) -> Error {
        Error::invalid(format!("the handle of the broadcast state '{}' is of another step", self.name))
            .hint("register the state with the step that uses it, whenever its function is made")
    }

    fn named(&self, e: Error) -> Error {
        e.context(format!("the broadcast state '{}'", self.name))
    }
}

impl<K, V> fmt::Debug for BroadcastState<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BroadcastState({})", self.name)
    }
}
