//! Two keyed streams with state in common.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tidemill_core::Result;
use tidemill_state::keyed::KeyedState;

use crate::collector::Collector;
use crate::data_stream::DataStream;
use crate::keyed_stream::KeyedStream;
use crate::process::{Context, KeyedProcessFunction, Pace, Timer};
use crate::timed::Element;

/// An element of one of two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Either<A, B> {
    /// Of the first.
    First(A),
    /// Of the second.
    Second(B),
}

/// Two streams by the same key: what follows sees the elements of both, with state in common.
pub struct ConnectedStreams<K, A, B> {
    pub(crate) both: KeyedStream<K, Either<A, B>>,
}

/// A function over two streams with state in common. As [`KeyedProcessFunction`], which says what it must do.
pub trait KeyedCoProcessFunction<K, A, B>: Send + 'static {
    /// What it emits.
    type Out: Element;

    /// An element of the first stream has come.
    ///
    /// # Errors
    /// What the function says, and what its states say; the same holds for all calls.
    fn process_element1(
        &mut self,
        key: &K,
        value: A,
        context: &mut Context<'_>,
        out: &mut Collector<Self::Out>,
    ) -> Result<()>;

    /// An element of the second stream has come.
    ///
    /// # Errors
    /// What the function says, and what its states say.
    fn process_element2(
        &mut self,
        key: &K,
        value: B,
        context: &mut Context<'_>,
        out: &mut Collector<Self::Out>,
    ) -> Result<()>;

    /// A timer of the key has come.
    ///
    /// # Errors
    /// What the function says, and what its states say.
    fn on_timer(
        &mut self,
        key: &K,
        timer: Timer,
        context: &mut Context<'_>,
        out: &mut Collector<Self::Out>,
    ) -> Result<()> {
        let _ = (key, timer, context, out);
        Ok(())
    }
}

impl<K, A, B> ConnectedStreams<K, A, B>
where
    K: Serialize + DeserializeOwned + 'static,
    A: Element,
    B: Element,
{
    pub(crate) fn new(first: KeyedStream<K, A>, second: KeyedStream<K, B>) -> Self {
        Self { both: KeyedStream::connected(first, second) }
    }

    /// Each element of both, and each timer that one has registered, goes through a function with state of its key. As
    /// [`KeyedStream::process`].
    pub fn process<F: KeyedCoProcessFunction<K, A, B>>(
        self,
        name: &str,
        make: impl Fn(&mut KeyedState) -> Result<F> + Send + Sync + 'static,
    ) -> DataStream<F::Out> {
        self.both.process_as(name, String::new(), Pace::default(), Arc::new(move |states| Ok(CoProcess(make(states)?))))
    }
}

impl<K, A, B> fmt::Debug for ConnectedStreams<K, A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectedStreams of {:?}", self.both)
    }
}

struct CoProcess<F>(F);

impl<K, A, B, F> KeyedProcessFunction<K, Either<A, B>> for CoProcess<F>
where
    F: KeyedCoProcessFunction<K, A, B>,
{
    type Out = F::Out;

    fn process_element(
        &mut self,
        key: &K,
        value: Either<A, B>,
        context: &mut Context<'_>,
        out: &mut Collector<F::Out>,
    ) -> Result<()> {
        match value {
            Either::First(value) => self.0.process_element1(key, value, context, out),
            Either::Second(value) => self.0.process_element2(key, value, context, out),
        }
    }

    fn on_timer(
        &mut self,
        key: &K,
        timer: Timer,
        context: &mut Context<'_>,
        out: &mut Collector<F::Out>,
    ) -> Result<()> {
        self.0.on_timer(key, timer, context, out)
    }
}
