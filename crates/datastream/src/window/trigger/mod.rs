//! When windows tell their results: the trait of triggers, and those that there are.

mod context;
mod continuous_event_time;
mod count;
mod event_time;
mod never;
mod purging;

use std::sync::Arc;

use tidemill_core::{EventTime, Result};
use tidemill_state::keyed::KeyedState;

use super::TimeWindow;

pub use context::TriggerContext;
pub use continuous_event_time::ContinuousEventTimeTrigger;
pub use count::CountTrigger;
pub use event_time::EventTimeTrigger;
pub use never::NeverTrigger;
pub use purging::PurgingTrigger;

/// What becomes of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerResult {
    /// Nothing.
    Continue,
    /// It tells what its elements come to, and keeps them. One without elements tells nothing.
    Fire,
    /// It loses its elements. The trigger's own state and timers stay.
    Purge,
    /// It tells what its elements come to, and loses them.
    FireAndPurge,
}

impl TriggerResult {
    pub(super) fn fires(self) -> bool {
        matches!(self, Self::Fire | Self::FireAndPurge)
    }

    pub(super) fn purges(self) -> bool {
        matches!(self, Self::Purge | Self::FireAndPurge)
    }
}

/// Says when the windows of a keyed stream tell their results, instead of once when they are complete. As Flink's;
/// [`WindowedStream::trigger`](super::WindowedStream::trigger) shows one.
///
/// # Contract
/// - What it remembers between calls is in keyed state, which is of the key and the window that it is called for; so are
///   its timers.
/// - A timer for a time that is past comes at once, behind the call that has registered it.
/// - When a window is forgotten, `clear` leaves nothing: no state, and no timer of processing time.
pub trait Trigger<T>: Send + 'static {
    /// An element has come into the window, and is not late for it.
    ///
    /// # Errors
    /// What its states say; the same holds for all calls.
    fn on_element(
        &mut self,
        element: &T,
        window: TimeWindow,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult>;

    /// The watermark has reached a timer of the window; or the moment at which the window is forgotten: its last, and the
    /// allowed lateness behind it.
    ///
    /// # Errors
    /// What its states say.
    fn on_event_time(
        &mut self,
        time: EventTime,
        window: TimeWindow,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        let _ = (time, window, context);
        Ok(TriggerResult::Continue)
    }

    /// The clock has reached a timer of the window, in milliseconds since 1970.
    ///
    /// # Errors
    /// What its states say.
    fn on_processing_time(
        &mut self,
        time_ms: i64,
        window: TimeWindow,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        let _ = (time_ms, window, context);
        Ok(TriggerResult::Continue)
    }

    /// The windows `merged`, which are sessions, have become one, or part of one that is longer: `window`. What the trigger
    /// keeps of them is merged (`merge_namespaces` of its states does that), and the timers that follow from it are registered
    /// for `window`. Then `clear` is called for each of `merged`, and `on_element` for the element that has joined them.
    ///
    /// # Errors
    /// What its states say.
    fn on_merge(&mut self, window: TimeWindow, merged: &[TimeWindow], context: &mut TriggerContext<'_>) -> Result<()>;

    /// The window is gone: what the trigger keeps of it is cleared, and its timers are deleted.
    ///
    /// # Errors
    /// What its states say.
    fn clear(&mut self, window: TimeWindow, context: &mut TriggerContext<'_>) -> Result<()>;
}

/// Makes the trigger of one subtask, and registers its states.
pub(super) type MakeTrigger<T> = Arc<dyn Fn(&mut KeyedState) -> Result<Box<dyn Trigger<T>>> + Send + Sync>;
