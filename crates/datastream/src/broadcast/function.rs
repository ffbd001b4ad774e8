//! What a program writes that has keyed state and broadcast state.

use std::fmt;

use tidemill_core::{EventTime, Result, Watermark};
use tidemill_runtime::clock::present_ms;

use super::BroadcastStates;
use crate::collector::Collector;
use crate::output_tag::{OutputTag, Sides};
use crate::process::{Context, Timer};
use crate::timed::Element;

/// A function that is called for each element of a keyed stream, with the state of its key, and in each subtask for each
/// element of a broadcast stream. As Flink's.
///
/// # Contract
/// - Broadcast elements come in the same order in each subtask, and what they do to broadcast state depends on nothing but
///   themselves and that state: so it is the same in all.
/// - In what order the two streams meet is not determined, and may differ from key to key and from run to run. What must not
///   depend on it waits in keyed state: for a rule that has yet to come, or for a timer.
/// - A timer of event time comes when both streams have reached it; a broadcast stream without event time is not waited for.
/// - What a broadcast element emits, each subtask emits: as many times as the step has subtasks.
/// - For the rest as [`KeyedProcessFunction`](crate::KeyedProcessFunction).
pub trait KeyedBroadcastProcessFunction<K, T, B>: Send + 'static {
    /// What it emits.
    type Out: Element;

    /// An element of the key has come. It can read broadcast state, not write it: other subtasks would not know.
    ///
    /// # Errors
    /// What the function says, and what its states say; the same holds for all calls.
    fn process_element(
        &mut self,
        key: &K,
        value: T,
        broadcast: &BroadcastStates,
        context: &mut Context<'_>,
        out: &mut Collector<Self::Out>,
    ) -> Result<()>;

    /// A broadcast element has come. There is no key, so there is no keyed state, and no timer.
    ///
    /// # Errors
    /// What the function says, and what its states say.
    fn process_broadcast_element(
        &mut self,
        value: B,
        broadcast: &mut BroadcastStates,
        context: &mut BroadcastContext<'_>,
        out: &mut Collector<Self::Out>,
    ) -> Result<()>;

    /// A timer of the key has come. The element's time in the context is the timer's.
    ///
    /// # Errors
    /// What the function says, and what its states say.
    fn on_timer(
        &mut self,
        key: &K,
        timer: Timer,
        broadcast: &BroadcastStates,
        context: &mut Context<'_>,
        out: &mut Collector<Self::Out>,
    ) -> Result<()> {
        let _ = (key, timer, broadcast, context, out);
        Ok(())
    }
}

/// What a function knows beside a broadcast element.
pub struct BroadcastContext<'a> {
    pub(super) sides: &'a mut Sides,
    /// Of the element; `i64::MIN` where there is none.
    pub(super) time: i64,
    pub(super) row_watermark: i64,
    pub(super) watermark: Watermark,
}

impl BroadcastContext<'_> {
    /// When the element happened; `None` if broadcast elements have no time.
    #[must_use]
    pub fn timestamp(&self) -> Option<EventTime> {
        (self.time != i64::MIN).then_some(EventTime(self.time))
    }

    /// How far event time has come.
    #[must_use]
    pub fn current_watermark(&self) -> Watermark {
        self.watermark
    }

    /// The present moment, in milliseconds since 1970. It is another in each subtask: broadcast state must not depend on it.
    #[must_use]
    pub fn current_processing_time(&self) -> i64 {
        present_ms()
    }

    /// Emits an element to a side output, once in each subtask. If nobody reads that, the element is dropped.
    ///
    /// # Errors
    /// `Invalid` if the side output is of another type.
    pub fn output<S: Element>(&mut self, tag: &OutputTag<S>, value: S) -> Result<()> {
        self.sides.collect(tag, value, self.time, self.row_watermark)
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("timestamp", &self.timestamp())
            .field("watermark", &self.watermark)
            .finish()
    }
}
