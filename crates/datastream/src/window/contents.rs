//! What is kept of the elements in a window, and what comes of it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::Result;
use tidemill_state::keyed::{
    AggregateFunction, AggregatingState, KeyedState, ListState, ReducingState, StateDescriptor,
};

use super::{TimeWindow, Windowed};
use crate::collector::Collector;
use crate::timed::Element;

/// What is kept of the elements of the current key in the current namespace, which is the window.
pub(crate) trait Contents<K, T>: Send + 'static {
    type Out: Element;

    /// Adds an element; whether it is the first.
    fn add(&mut self, state: &mut KeyedState, value: T) -> Result<bool>;

    /// Emits what the elements come to; they stay.
    fn emit(
        &mut self,
        state: &mut KeyedState,
        key: &K,
        window: TimeWindow,
        out: &mut Collector<Self::Out>,
    ) -> Result<()>;

    fn clear(&mut self, state: &mut KeyedState) -> Result<()>;

    /// Adds what `sources` have to `target`, which is the current namespace afterwards.
    fn merge(&mut self, state: &mut KeyedState, target: &TimeWindow, sources: &[TimeWindow]) -> Result<()>;
}

const CONTENTS: &str = "contents";

/// One accumulator a window.
pub(crate) struct Aggregated<A: AggregateFunction>(AggregatingState<A>);

impl<A: AggregateFunction<Acc: Serialize + DeserializeOwned>> Aggregated<A> {
    pub(crate) fn new(state: &mut KeyedState, function: A) -> Result<Self> {
        Ok(Self(state.aggregating_state(StateDescriptor::new(CONTENTS), function)?))
    }
}

impl<K, T, A> Contents<K, T> for Aggregated<A>
where
    K: Element,
    A: AggregateFunction<In = T, Out: Element>,
{
    type Out = Windowed<K, A::Out>;

    fn add(&mut self, state: &mut KeyedState, value: T) -> Result<bool> {
        self.0.add(state, value)
    }

    fn emit(
        &mut self,
        state: &mut KeyedState,
        key: &K,
        window: TimeWindow,
        out: &mut Collector<Self::Out>,
    ) -> Result<()> {
        if let Some(value) = self.0.get(state)? {
            out.collect(Windowed { key: key.clone(), window, value });
        }
        Ok(())
    }

    fn clear(&mut self, state: &mut KeyedState) -> Result<()> {
        self.0.clear(state)
    }

    fn merge(&mut self, state: &mut KeyedState, target: &TimeWindow, sources: &[TimeWindow]) -> Result<()> {
        self.0.merge_namespaces(state, target, sources)
    }
}

/// One element a window, of which others become part.
pub(crate) struct Reduced<T>(ReducingState<T>);

impl<T: Element + Serialize + DeserializeOwned> Reduced<T> {
    pub(crate) fn new(state: &mut KeyedState, reduce: impl Fn(T, T) -> T + Send + Sync + 'static) -> Result<Self> {
        Ok(Self(state.reducing_state(StateDescriptor::new(CONTENTS), reduce)?))
    }
}

impl<K: Element, T: Element> Contents<K, T> for Reduced<T> {
    type Out = Windowed<K, T>;

    fn add(&mut self, state: &mut KeyedState, value: T) -> Result<bool> {
        self.0.add(state, value)
    }

    fn emit(
        &mut self,
        state: &mut KeyedState,
        key: &K,
        window: TimeWindow,
        out: &mut Collector<Self::Out>,
    ) -> Result<()> {
        if let Some(value) = self.0.get(state)?.cloned() {
            out.collect(Windowed { key: key.clone(), window, value });
        }
        Ok(())
    }

    fn clear(&mut self, state: &mut KeyedState) -> Result<()> {
        self.0.clear(state)
    }

    fn merge(&mut self, state: &mut KeyedState, target: &TimeWindow, sources: &[TimeWindow]) -> Result<()> {
        self.0.merge_namespaces(state, target, sources)
    }
}

/// A function that sees all elements of a window at once, when it is complete.
pub trait ProcessWindowFunction<K, T>: Send + 'static {
    /// What it emits.
    type Out: Element;

    /// The window of the key is complete, or an allowed late element has come: these are its elements, in the order in
    /// which they came; those of sessions that have become one, session by session.
    ///
    /// # Errors
    /// What the function says: the run fails.
    fn process(&mut self, key: &K, window: TimeWindow, elements: Vec<T>, out: &mut Collector<Self::Out>) -> Result<()>;
}

/// All elements of a window.
pub(crate) struct Listed<T, P> {
    elements: ListState<T>,
    function: P,
}

impl<T: Element + Serialize + DeserializeOwned, P> Listed<T, P> {
    pub(crate) fn new(state: &mut KeyedState, function: P) -> Result<Self> {
        Ok(Self { elements: state.list_state(StateDescriptor::new(CONTENTS))?, function })
    }
}

impl<K, T: Element, P: ProcessWindowFunction<K, T>> Contents<K, T> for Listed<T, P> {
    type Out = P::Out;

    fn add(&mut self, state: &mut KeyedState, value: T) -> Result<bool> {
        self.elements.add(state, &value)
    }

    fn emit(
        &mut self,
        state: &mut KeyedState,
        key: &K,
        window: TimeWindow,
        out: &mut Collector<Self::Out>,
    ) -> Result<()> {
        let elements = self.elements.get(state)?;
        if elements.is_empty() {
            return Ok(());
        }
        self.function.process(key, window, elements, out)
    }

    fn clear(&mut self, state: &mut KeyedState) -> Result<()> {
        self.elements.clear(state)
    }

    fn merge(&mut self, state: &mut KeyedState, target: &TimeWindow, sources: &[TimeWindow]) -> Result<()> {
        self.elements.merge_namespaces(state, target, sources)
    }
}
