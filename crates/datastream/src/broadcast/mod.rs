//! Broadcast state: elements of one stream that all subtasks of a step hear, beside the keyed elements of another.
//!
//! ```text
//! rules ── broadcast ─► each rule to each subtask ──► the same map in each
//! events ─ key_by ────► each event to the subtask of its key, which looks the rules up
//! ```

mod function;
mod map;
mod operator;
mod state;

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::Result;
use tidemill_runtime::graph::Stream;
use tidemill_state::keyed::KeyedState;

pub use function::{BroadcastContext, KeyedBroadcastProcessFunction};
pub(crate) use operator::{ToAll, to_all};
pub use state::{BroadcastState, BroadcastStates};

use crate::data_stream::{DataStream, foreign};
use crate::environment::Environment;
use crate::keyed_stream::KeyedStream;
use crate::process::ProcessSpec;
use crate::timed::Element;
use operator::{BroadcastOperator, Broadcasting};

/// A stream each of whose elements goes to all subtasks of the step that it is connected with, in the same order.
pub struct BroadcastStream<B> {
    env: Environment,
    /// Of one subtask: what comes from several, each that hears of it would hear of in another order.
    stream: Stream,
    of: PhantomData<fn() -> B>,
}

impl<B: Element> BroadcastStream<B> {
    /// `stream` is of one subtask, and has its elements as those that go to all.
    pub(crate) fn new(env: Environment, stream: Stream) -> Self {
        Self { env, stream, of: PhantomData }
    }
}

impl<B> fmt::Debug for BroadcastStream<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BroadcastStream of {}", type_name::<B>())
    }
}

/// A keyed stream and a broadcast stream, of which something is about to be made.
pub struct BroadcastConnectedStream<K, T, B> {
    keyed: KeyedStream<K, T>,
    broadcast: BroadcastStream<B>,
}

impl<K, T, B> BroadcastConnectedStream<K, T, B>
where
    K: Serialize + DeserializeOwned + 'static,
    T: Element,
    B: Element,
{
    pub(crate) fn new(keyed: KeyedStream<K, T>, broadcast: BroadcastStream<B>) -> Self {
        Self { keyed, broadcast }
    }

    /// Each element of both, and each timer that a keyed one has registered, goes through a function. `name` is what a
    /// checkpoint knows the state by, and errors speak of. `make` makes the function of one subtask; there it registers the
    /// states that it has.
    pub fn process<F: KeyedBroadcastProcessFunction<K, T, B>>(
        self,
        name: &str,
        make: impl Fn(&mut KeyedState, &mut BroadcastStates) -> Result<F> + Send + Sync + 'static,
    ) -> DataStream<F::Out> {
        let Self { keyed, broadcast } = self;
        let broadcast = if broadcast.env.is(keyed.env()) {
            vec![broadcast.stream]
        } else {
            keyed.env().plan(|plan| plan.fail(foreign()));
            vec![]
        };
        let make = move |keyed: &mut KeyedState| {
            let mut states = BroadcastStates::default();
            let function = make(keyed, &mut states)?;
            Ok(Broadcasting::new(function, states))
        };
        let (spec, side_outputs) = keyed.spec(name, "with a broadcast stream".to_owned(), Arc::new(make));
        // The two streams are of two partitions: neither has the clock for both.
        let spec = ProcessSpec { one_partition: false, ..spec };
        keyed.behind_exchange_and_broadcast(
            &broadcast,
            name,
            side_outputs,
            Arc::new(move || Ok(Box::new(BroadcastOperator::new(spec.clone())))),
        )
    }
}

impl<K, T, B> fmt::Debug for BroadcastConnectedStream<K, T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BroadcastConnectedStream of {:?} and {:?}", self.keyed, self.broadcast)
    }
}
