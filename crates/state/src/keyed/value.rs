//! One value a key.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use tidemill_core::Result;

use super::descriptor::{StateTtlConfig, expiry};
use super::{KeyedState, StateDescriptor};

/// The handle of a state that has one value a key, or none.
pub struct ValueState<T> {
    cells: usize,
    name: Cow<'static, str>,
    ttl: Option<StateTtlConfig>,
    of: PhantomData<fn() -> T>,
}

impl<T: Send + 'static> ValueState<T> {
    pub(super) fn new(cells: usize, descriptor: StateDescriptor<T>) -> Self {
        Self { cells, name: descriptor.name, ttl: descriptor.ttl, of: PhantomData }
    }

    /// The value of the current key; `None` if there is none, or it has expired.
    ///
    /// # Errors
    /// `Invalid` if there is no current key, `Data` if what is stored is no such value, `Unavailable` if the backend does
    /// not do its part; the same holds for all calls of all states.
    pub fn value<'s>(&self, state: &'s mut KeyedState) -> Result<Option<&'s T>> {
        let now = state.now;
        let (cells, slot) = state.cells::<T>(self.cells, &self.name)?;
        if cells.get(slot, now).is_some()
            && let Some(prolonged) = StateTtlConfig::prolonged(self.ttl, cells.expiry(slot), now)
        {
            cells.change(slot, now, prolonged, |_| ());
        }
        Ok(cells.get(slot, now))
    }

    /// Writes the value of the current key.
    ///
    /// # Errors
    /// As [`ValueState::value`].
    pub fn update(&self, state: &mut KeyedState, value: T) -> Result<()> {
        self.update_with(state, |current| *current = Some(value))
    }

    /// Changes the value of the current key in place: `f` gets what there is, and leaves what is to be there.
    ///
    /// # Errors
    /// As [`ValueState::value`].
    pub fn update_with<R>(&self, state: &mut KeyedState, f: impl FnOnce(&mut Option<T>) -> R) -> Result<R> {
        let now = state.now;
        let (cells, slot) = state.cells::<T>(self.cells, &self.name)?;
        Ok(cells.change(slot, now, expiry(self.ttl, now), f))
    }

    /// Deletes the value of the current key.
    ///
    /// # Errors
    /// As [`ValueState::value`].
    pub fn clear(&self, state: &mut KeyedState) -> Result<()> {
        self.update_with(state, |value| *value = None)
    }

    /// Makes one value of those that the current key has in some namespaces, and of what it has in `target`; the
    /// namespaces have none then. `target` is the current namespace afterwards.
    pub(super) fn merge_namespaces<N: Serialize>(
        &self,
        state: &mut KeyedState,
        target: &N,
        sources: &[N],
        merge: impl Fn(T, T) -> T,
    ) -> Result<()> {
        let mut merged: Option<T> = None;
        let mut add = |value: Option<T>| {
            merged = match (merged.take(), value) {
                (Some(merged), Some(value)) => Some(merge(merged, value)),
                (merged, value) => merged.or(value),
            };
        };
        state.set_current_namespace(target)?;
        add(self.update_with(state, Option::take)?);
        for source in sources {
            state.set_current_namespace(source)?;
            add(self.update_with(state, Option::take)?);
        }
        state.set_current_namespace(target)?;
        self.update_with(state, |value| *value = merged)
    }
}

impl<T> fmt::Debug for ValueState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ValueState({})", self.name)
    }
}
