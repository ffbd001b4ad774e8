//! The trigger that counts elements.

use tidemill_core::Result;
use tidemill_state::keyed::{KeyedState, ReducingState, StateDescriptor};

use super::{Trigger, TriggerContext, TriggerResult};
use crate::window::TimeWindow;

/// A window tells its result whenever so many elements have come since it last did. What is less when the window ends is not
/// told.
#[derive(Debug)]
pub struct CountTrigger {
    max_count: u64,
    /// Since the window has last told its result.
    count: ReducingState<u64>,
}

impl CountTrigger {
    /// After each `max_count` elements: for [`WindowedStream::trigger`](crate::WindowedStream::trigger), or to be part of
    /// another trigger.
    pub fn of(max_count: u64) -> impl Fn(&mut KeyedState) -> Result<Self> + Clone + Send + Sync + 'static {
        move |states| {
            let count = states.reducing_state(StateDescriptor::new("trigger count"), |a, b| a + b)?;
            Ok(Self { max_count, count })
        }
    }
}

impl<T> Trigger<T> for CountTrigger {
    fn on_element(&mut self, _: &T, _: TimeWindow, context: &mut TriggerContext<'_>) -> Result<TriggerResult> {
        self.count.add(context.state(), 1)?;
        if self.count.get(context.state())?.is_none_or(|count| *count < self.max_count) {
            return Ok(TriggerResult::Continue);
        }
        self.count.clear(context.state())?;
        Ok(TriggerResult::Fire)
    }

    fn on_merge(&mut self, window: TimeWindow, merged: &[TimeWindow], context: &mut TriggerContext<'_>) -> Result<()> {
        self.count.merge_namespaces(context.state(), &window, merged)
    }

    fn clear(&mut self, _: TimeWindow, context: &mut TriggerContext<'_>) -> Result<()> {
        self.count.clear(context.state())
    }
}
