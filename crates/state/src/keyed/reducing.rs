//! One value a key, to which others are added.

use std::fmt;

use serde::Serialize;
use tidemill_core::Result;

use super::{KeyedState, ValueState};

/// How two values become one.
type Reduce<T> = Box<dyn Fn(T, T) -> T + Send + Sync>;

/// The handle of a state in which all values of a key are reduced to one.
pub struct ReducingState<T> {
    value: ValueState<T>,
    reduce: Reduce<T>,
}

impl<T: Send + 'static> ReducingState<T> {
    pub(super) fn new(value: ValueState<T>, reduce: impl Fn(T, T) -> T + Send + Sync + 'static) -> Self {
        Self { value, reduce: Box::new(reduce) }
    }

    /// What the values of the current key come to; `None` if there are none.
    ///
    /// # Errors
    /// As [`ValueState::value`].
    pub fn get<'s>(&self, state: &'s mut KeyedState) -> Result<Option<&'s T>> {
        self.value.value(state)
    }

    /// Adds a value to those of the current key; says whether it is the first.
    ///
    /// # Errors
    /// As [`ValueState::value`].
    pub fn add(&self, state: &mut KeyedState, value: T) -> Result<bool> {
        self.value.update_with(state, |current| {
            let first = current.is_none();
            *current = Some(match current.take() {
                Some(current) => (self.reduce)(current, value),
                None => value,
            });
            first
        })
    }

    /// Forgets the values of the current key.
    ///
    /// # Errors
    /// As [`ValueState::value`].
    pub fn clear(&self, state: &mut KeyedState) -> Result<()> {
        self.value.clear(state)
    }

    /// Adds to the values in the namespace `target` those in `sources`, all of the current key; there are none then in
    /// `sources`. For windows that become one. `target` is the current namespace afterwards.
    ///
    /// # Errors
    /// As [`ValueState::value`].
    pub fn merge_namespaces<N: Serialize>(&self, state: &mut KeyedState, target: &N, sources: &[N]) -> Result<()> {
        self.value.merge_namespaces(state, target, sources, &self.reduce)
    }
}

impl<T> fmt::Debug for ReducingState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReducingState({:?})", self.value)
    }
}
