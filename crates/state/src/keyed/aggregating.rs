//! One accumulator a key, to which values of another type are added, and which gives a result of a third.

use std::fmt;

use serde::Serialize;
use tidemill_core::Result;

use super::{KeyedState, ValueState};

/// How values are aggregated. An average, in plain words: begin with no sum and no count; add a value to the sum and one
/// to the count; the result is the sum by the count; two accumulators are merged by adding both.
pub trait AggregateFunction: Send + 'static {
    /// What is aggregated.
    type In;
    /// What is remembered.
    type Acc: Send + 'static;
    /// What it comes to.
    type Out;

    /// Of no values.
    fn create_accumulator(&self) -> Self::Acc;

    /// Adds a value.
    fn add(&self, accumulator: &mut Self::Acc, value: Self::In);

    /// What the values come to.
    fn result(&self, accumulator: &Self::Acc) -> Self::Out;

    /// One accumulator of the values of both.
    fn merge(&self, a: Self::Acc, b: Self::Acc) -> Self::Acc;
}

/// The handle of a state in which all values of a key are aggregated.
pub struct AggregatingState<A: AggregateFunction> {
    accumulator: ValueState<A::Acc>,
    function: A,
}

impl<A: AggregateFunction> AggregatingState<A> {
    pub(super) fn new(accumulator: ValueState<A::Acc>, function: A) -> Self {
        Self { accumulator, function }
    }

    /// What the values of the current key come to; `None` if there are none.
    ///
    /// # Errors
    /// As [`ValueState::value`].
    pub fn get(&self, state: &mut KeyedState) -> Result<Option<A::Out>> {
        Ok(self.accumulator.value(state)?.map(|accumulator| self.function.result(accumulator)))
    }

    /// Adds a value to those of the current key; says whether it is the first.
    ///
    /// # Errors
    /// As [`ValueState::value`].
    pub fn add(&self, state: &mut KeyedState, value: A::In) -> Result<bool> {
        self.accumulator.update_with(state, |accumulator| {
            let first = accumulator.is_none();
            self.function.add(accumulator.get_or_insert_with(|| self.function.create_accumulator()), value);
            first
        })
    }

    /// Forgets the values of the current key.
    ///
    /// # Errors
    /// As [`ValueState::value`].
    pub fn clear(&self, state: &mut KeyedState) -> Result<()> {
        self.accumulator.clear(state)
    }

    /// Adds to the values in the namespace `target` those in `sources`, all of the current key; there are none then in
    /// `sources`. For windows that become one. `target` is the current namespace afterwards.
    ///
    /// # Errors
    /// As [`ValueState::value`].
    pub fn merge_namespaces<N: Serialize>(&self, state: &mut KeyedState, target: &N, sources: &[N]) -> Result<()> {
        self.accumulator.merge_namespaces(state, target, sources, |a, b| self.function.merge(a, b))
    }
}

impl<A: AggregateFunction> fmt::Debug for AggregatingState<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AggregatingState({:?})", self.accumulator)
    }
}
