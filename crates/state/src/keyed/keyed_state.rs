//! The state of one operator's subtask: which states there are, and of which key they are now.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Error, Result, Watermark};

use super::catalog::{Catalog, Kind};
use super::cells::{CellTable, Cells};
use super::codec::{Codec, Postcard};
use super::descriptor::{MapStateDescriptor, StateDescriptor};
use super::keys::{Keys, PlaceHash, Slot};
use super::layout::{self, StateId};
use super::store::Store;
use super::timers::Timers;
use super::{AggregateFunction, AggregatingState, ListState, MapState, ReducingState, ValueState};
use crate::backend::{Backend, Clocks};
use crate::key_group::KEY_GROUPS;

/// What one subtask of an operator remembers of its keys.
///
/// States are registered once, by descriptors, and then read and written through handles, always of the *current key*
/// (and the current namespace, which is empty unless one is set). Whoever drives the operator
///
/// 1. calls [`KeyedState::prefetch`] with the keys of a batch, so that a far backend is asked once,
/// 2. sets the key and the time of each element before the program sees it,
/// 3. lets the timers fire that a watermark or a moment of processing time has reached,
/// 4. calls [`KeyedState::end_batch`] after each batch: there memory is freed and what has expired is cleaned up.
pub struct KeyedState {
    pub(super) store: Store,
    pub(super) catalog: Catalog,
    pub(super) keys: Keys,
    /// The states that have one value a key.
    pub(super) cells: Vec<Box<dyn CellTable>>,
    pub(super) event_timers: Timers,
    pub(super) processing_timers: Timers,
    pub(super) key_groups: Range<usize>,
    pub(super) current: Option<Slot>,
    /// The current key as bytes, and the current place.
    pub(super) key: Vec<u8>,
    place: Vec<u8>,
    /// What values expire by.
    pub(super) now: Clocks,
    pub(super) watermark: Watermark,
    /// What may be cleaned up: no element or timer to come can have earlier clocks.
    pub(super) cleaned: Clocks,
    /// Where the sweep goes on.
    pub(super) swept_to: usize,
}

impl KeyedState {
    /// For a subtask that owns these key groups, with nothing in it yet.
    ///
    /// # Errors
    /// `Internal` if there are no such key groups.
    pub fn new(backend: Box<dyn Backend>, key_groups: Range<usize>) -> Result<Self> {
        if key_groups.end > KEY_GROUPS || key_groups.is_empty() {
            return Err(Error::internal(format!("there are no key groups {key_groups:?}")));
        }
        let mut catalog = Catalog::default();
        let mut timers =
            |name| Ok::<_, Error>(Timers::new(catalog.register(name, Kind::Timers, "")?, key_groups.clone()));
        let (event_timers, processing_timers) = (timers("event-time timers")?, timers("processing-time timers")?);
        Ok(Self {
            store: Store::new(backend),
            catalog,
            keys: Keys::default(),
            cells: vec![],
            event_timers,
            processing_timers,
            key_groups,
            current: None,
            key: vec![],
            place: vec![],
            now: Clocks::START,
            watermark: Watermark::MIN,
            cleaned: Clocks::START,
            swept_to: 0,
        })
    }

    /// Registers a state of one value a key.
    ///
    /// # Errors
    /// `Invalid` if the name is taken, or snapshots have left something else under it; the same holds for all states.
    pub fn value_state<T: Send + 'static>(&mut self, descriptor: StateDescriptor<T>) -> Result<ValueState<T>> {
        let cells = self.register_cells(&descriptor, Kind::Value, Arc::clone(&descriptor.codec))?;
        Ok(ValueState::new(cells, descriptor))
    }

    /// Registers a state of a list a key.
    ///
    /// # Errors
    /// `Invalid`.
    pub fn list_state<T>(&mut self, descriptor: StateDescriptor<T>) -> Result<ListState<T>> {
        let cells = self.register_cells(&descriptor, Kind::List, Arc::new(Postcard) as Arc<dyn Codec<u64>>)?;
        Ok(ListState::new(cells, self.cells[cells].state(), descriptor))
    }

    /// Registers a state of a map a key.
    ///
    /// # Errors
    /// `Invalid`.
    pub fn map_state<K, V>(&mut self, descriptor: MapStateDescriptor<K, V>) -> Result<MapState<K, V>> {
        let codecs = format!("{}, {}", descriptor.keys.name(), descriptor.values.name());
        let state = self.catalog.register(&descriptor.name, Kind::Map, &codecs)?;
        Ok(MapState::new(state, descriptor))
    }

    /// Registers a state of one value a key, to which others are added by `reduce`.
    ///
    /// # Errors
    /// `Invalid`.
    pub fn reducing_state<T: Send + 'static>(
        &mut self,
        descriptor: StateDescriptor<T>,
        reduce: impl Fn(T, T) -> T + Send + Sync + 'static,
    ) -> Result<ReducingState<T>> {
        let cells = self.register_cells(&descriptor, Kind::Reducing, Arc::clone(&descriptor.codec))?;
        Ok(ReducingState::new(ValueState::new(cells, descriptor), reduce))
    }

    /// Registers a state of one accumulator a key; the descriptor is of accumulators.
    ///
    /// # Errors
    /// `Invalid`.
    pub fn aggregating_state<A: AggregateFunction>(
        &mut self,
        descriptor: StateDescriptor<A::Acc>,
        function: A,
    ) -> Result<AggregatingState<A>> {
        let cells = self.register_cells(&descriptor, Kind::Aggregating, Arc::clone(&descriptor.codec))?;
        Ok(AggregatingState::new(ValueState::new(cells, descriptor), function))
    }

    /// A table of values of type `C`, for a state whose descriptor is of type `T`.
    fn register_cells<T, C: Send + 'static>(
        &mut self,
        descriptor: &StateDescriptor<T>,
        kind: Kind,
        codec: Arc<dyn Codec<C>>,
    ) -> Result<usize> {
        let state = self.catalog.register(&descriptor.name, kind, descriptor.codec.name())?;
        self.cells.push(Box::new(Cells::new(state, codec)));
        Ok(self.cells.len() - 1)
    }

    /// The names of states that snapshots have left and nobody has registered. They are kept.
    #[must_use]
    pub fn unregistered(&self) -> Vec<&str> {
        self.catalog.unregistered()
    }

    /// From now on states are of this key, and no namespace. Equal keys must be written alike by serde.
    ///
    /// # Errors
    /// `Invalid` if the key can't be written, `Internal` if its key group is another subtask's.
    pub fn set_current_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<()> {
        self.current = None;
        let hash = self.encode_key(key)?;
        self.place.clear();
        layout::push(&mut self.place, &self.key);
        layout::push(&mut self.place, &[]);
        self.current = Some(self.keys.slot(hash, &self.place));
        Ok(())
    }

    /// From now on states are of this namespace of the current key: of a window, say.
    ///
    /// # Errors
    /// `Invalid` if it can't be written, or there is no current key.
    pub fn set_current_namespace<N: Serialize + ?Sized>(&mut self, namespace: &N) -> Result<()> {
        self.slot("a namespace")?;
        let namespace = encode(namespace, "a namespace", vec![])?;
        self.place.clear();
        layout::push(&mut self.place, &self.key);
        layout::push(&mut self.place, &namespace);
        self.current = Some(self.keys.slot(PlaceHash::new(&self.key).with_namespace(&namespace), &self.place));
        Ok(())
    }

    /// The current key.
    ///
    /// # Errors
    /// `Invalid` if there is none, `Data` if it is of another type.
    pub fn current_key<K: DeserializeOwned>(&self) -> Result<K> {
        let place = self.keys.place(self.slot("the current key")?);
        decode(layout::parts(place)?.0, "the current key")
    }

    /// The current namespace, if one is set.
    ///
    /// # Errors
    /// `Invalid` if there is no current key, `Data` if the namespace is of another type, or there is none.
    pub fn current_namespace<N: DeserializeOwned>(&self) -> Result<N> {
        let place = self.keys.place(self.slot("the current namespace")?);
        decode(layout::parts(place)?.1, "the current namespace")
    }

    /// Writes a key as bytes, and says its hash.
    fn encode_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<PlaceHash> {
        let mut bytes = std::mem::take(&mut self.key);
        bytes.clear();
        self.key = encode(key, "a key", bytes)?;
        let hash = PlaceHash::new(&self.key);
        let group = hash.group();
        if !self.key_groups.contains(&usize::from(group)) {
            let owned = &self.key_groups;
            return Err(Error::internal(format!("a key of the key group {group} has come to the owner of {owned:?}")));
        }
        Ok(hash)
    }

    /// The slot of the current key.
    pub(super) fn slot(&self, what: &str) -> Result<Slot> {
        self.current.ok_or_else(|| {
            Error::invalid(format!("{what} belongs to a key, and there is no current key"))
                .hint("use keyed state only while an element or a timer is processed")
        })
    }

    /// The beginning of the keys of entries that a state has in the current place.
    pub(super) fn entries(&self, state: StateId, name: &str) -> Result<Vec<u8>> {
        let slot = self.slot(name)?;
        Ok(layout::in_place(self.keys.group(slot), state, self.keys.place(slot)))
    }

    /// The values of a state, with that of the current key at hand.
    pub(super) fn cells<C: Send + 'static>(&mut self, cells: usize, name: &str) -> Result<(&mut Cells<C>, Slot)> {
        let slot = self.slot(name)?;
        let Self { cells: tables, store, keys, .. } = self;
        let table = tables.get_mut(cells).ok_or_else(|| foreign(name))?;
        if !table.knows(slot) {
            let key = layout::in_place(keys.group(slot), table.state(), keys.place(slot));
            let entry = if store.far() { store.get_many(&[&key])?.pop().flatten() } else { store.take(&key)? };
            table.load(slot, entry).map_err(|e| e.context(format!("the state '{name}'")))?;
        }
        let table: &mut dyn Any = table.as_mut();
        Ok((table.downcast_mut().ok_or_else(|| foreign(name))?, slot))
    }
}

/// The key group of a key, as [`KeyedState::set_current_key`] finds it; `bytes` is used for writing it.
///
/// # Errors
/// `Invalid` if the key can't be written.
pub fn key_group<K: Serialize + ?Sized>(key: &K, bytes: &mut Vec<u8>) -> Result<u8> {
    encode_key(key, bytes)?;
    Ok(PlaceHash::new(bytes).group())
}

/// Makes `bytes` a key as it is written: its key group is that of [`key_hash`](crate::key_group::key_hash).
///
/// # Errors
/// `Invalid` if the key can't be written.
pub fn encode_key<K: Serialize + ?Sized>(key: &K, bytes: &mut Vec<u8>) -> Result<()> {
    bytes.clear();
    *bytes = encode(key, "a key", std::mem::take(bytes))?;
    Ok(())
}

/// The key that [`encode_key`] has written.
///
/// # Errors
/// `Data` if it is of another type.
pub fn decode_key<K: DeserializeOwned>(bytes: &[u8]) -> Result<K> {
    decode(bytes, "a key")
}

/// A handle is of no use to a state that has not made it.
fn foreign(name: &str) -> Error {
    Error::invalid(format!("the handle of the state '{name}' is of another operator"))
        .hint("register the state with the operator that uses it, whenever one is made")
}

fn encode<T: Serialize + ?Sized>(value: &T, what: &str, bytes: Vec<u8>) -> Result<Vec<u8>> {
    postcard::to_extend(value, bytes).map_err(|e| Error::invalid(format!("{what} can't be written: {e}")).because(e))
}

fn decode<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T> {
    postcard::from_bytes(bytes)
        .map_err(|e| Error::data(format!("{what} is not of the type that is asked for: {e}")).because(e))
}
