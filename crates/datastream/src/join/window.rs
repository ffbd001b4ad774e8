//! The join of elements that are in the same window.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::Result;
use tidemill_state::keyed::KeyedState;

use crate::collector::Collector;
use crate::connected::{ConnectedStreams, Either};
use crate::data_stream::DataStream;
use crate::output_tag::OutputTag;
use crate::timed::Element;
use crate::window::{LateElement, ProcessWindowFunction, TimeWindow, Trigger, WindowAssigner, WindowedStream};

/// Two keyed streams by windows of event time.
pub struct WindowJoin<K, A, B> {
    both: WindowedStream<K, Either<A, B>>,
}

/// A function that sees all elements of both streams in a window, when it is complete.
pub trait CoGroupFunction<K, A, B>: Send + 'static {
    /// What it emits.
    type Out: Element;

    /// The window of the key is complete, or an allowed late element has come: these are the elements, of each stream in the
    /// order in which they came.
    ///
    /// # Errors
    /// What the function says: the run fails.
    fn co_group(
        &mut self,
        key: &K,
        window: TimeWindow,
        elements: (Vec<A>, Vec<B>),
        out: &mut Collector<Self::Out>,
    ) -> Result<()>;
}

impl<K, A, B> ConnectedStreams<K, A, B>
where
    K: Element + Serialize + DeserializeOwned,
    A: Element + Serialize + DeserializeOwned,
    B: Element + Serialize + DeserializeOwned,
{
    /// The elements of both by windows of event time.
    #[must_use]
    pub fn window(self, assigner: WindowAssigner) -> WindowJoin<K, A, B> {
        WindowJoin { both: self.both.window(assigner) }
    }
}

impl<K, A, B> WindowJoin<K, A, B>
where
    K: Element + Serialize + DeserializeOwned,
    A: Element + Serialize + DeserializeOwned,
    B: Element + Serialize + DeserializeOwned,
{
    /// As [`WindowedStream::allowed_lateness`].
    #[must_use]
    pub fn allowed_lateness(self, lateness: Duration) -> Self {
        Self { both: self.both.allowed_lateness(lateness) }
    }

    /// As [`WindowedStream::trigger`].
    #[must_use]
    pub fn trigger<G: Trigger<Either<A, B>>>(
        self,
        make: impl Fn(&mut KeyedState) -> Result<G> + Send + Sync + 'static,
    ) -> Self {
        Self { both: self.both.trigger(make) }
    }

    /// As [`WindowedStream::side_output_late_data`].
    #[must_use]
    pub fn side_output_late_data(self, tag: &OutputTag<LateElement<Either<A, B>>>) -> Self {
        Self { both: self.both.side_output_late_data(tag) }
    }

    /// Makes one element of each pair that is in a window together. `name` is what a checkpoint knows the state by.
    pub fn apply<Out: Element>(
        self,
        name: &str,
        join: impl Fn(&A, &B) -> Out + Clone + Send + Sync + 'static,
    ) -> DataStream<Out> {
        self.co_group(name, Pairs(join))
    }

    /// A function sees all elements of a window at once. `name` is what a checkpoint knows the state by.
    pub fn co_group<F>(self, name: &str, function: F) -> DataStream<F::Out>
    where
        F: CoGroupFunction<K, A, B> + Clone + Sync,
    {
        self.both.process(name, CoGroup(function))
    }
}

impl<K, A, B> fmt::Debug for WindowJoin<K, A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WindowJoin of {:?}", self.both)
    }
}

#[derive(Clone)]
struct CoGroup<F>(F);

impl<K, A, B, F> ProcessWindowFunction<K, Either<A, B>> for CoGroup<F>
where
    F: CoGroupFunction<K, A, B>,
{
    type Out = F::Out;

    fn process(
        &mut self,
        key: &K,
        window: TimeWindow,
        elements: Vec<Either<A, B>>,
        out: &mut Collector<F::Out>,
    ) -> Result<()> {
        let mut both = (vec![], vec![]);
        for element in elements {
            match element {
                Either::First(element) => both.0.push(element),
                Either::Second(element) => both.1.push(element),
            }
        }
        self.0.co_group(key, window, both, out)
    }
}

#[derive(Clone)]
struct Pairs<J>(J);

impl<K, A, B, Out, J> CoGroupFunction<K, A, B> for Pairs<J>
where
    Out: Element,
    J: Fn(&A, &B) -> Out + Send + 'static,
{
    type Out = Out;

    fn co_group(&mut self, _: &K, _: TimeWindow, both: (Vec<A>, Vec<B>), out: &mut Collector<Out>) -> Result<()> {
        let (first, second) = both;
        let pairs = first.iter().flat_map(|a| second.iter().map(move |b| (a, b)));
        pairs.for_each(|(a, b)| out.collect((self.0)(a, b)));
        Ok(())
    }
}
