//! The running reduced value of each key.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::Result;
use tidemill_state::keyed::{KeyedState, ReducingState, StateDescriptor};

use crate::collector::Collector;
use crate::process::{Context, KeyedProcessFunction};
use crate::timed::Element;

/// Tells what the elements of a key have come to, whenever there is one more.
pub(crate) struct RunningReduce<T>(ReducingState<T>);

impl<T: Element + Serialize + DeserializeOwned> RunningReduce<T> {
    pub(crate) fn new(states: &mut KeyedState, reduce: impl Fn(T, T) -> T + Send + Sync + 'static) -> Result<Self> {
        Ok(Self(states.reducing_state(StateDescriptor::new("reduced"), reduce)?))
    }
}

impl<K, T: Element> KeyedProcessFunction<K, T> for RunningReduce<T> {
    type Out = T;

    fn process_element(&mut self, _: &K, value: T, context: &mut Context<'_>, out: &mut Collector<T>) -> Result<()> {
        self.0.add(context.state(), value)?;
        if let Some(reduced) = self.0.get(context.state())? {
            out.collect(reduced.clone());
        }
        Ok(())
    }
}
