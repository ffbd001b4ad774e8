//! The trigger that windows have if none is given.

use tidemill_core::{EventTime, Result};
use tidemill_state::keyed::KeyedState;

use super::{Trigger, TriggerContext, TriggerResult};
use crate::window::TimeWindow;

/// A window tells its result when the watermark has passed its end, and anew for each allowed late element: what windows do
/// that are given no trigger.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventTimeTrigger;

impl EventTimeTrigger {
    /// For [`WindowedStream::trigger`](crate::WindowedStream::trigger), or to be part of another.
    pub fn of() -> impl Fn(&mut KeyedState) -> Result<Self> + Clone + Send + Sync + 'static {
        |_| Ok(Self)
    }
}

impl<T> Trigger<T> for EventTimeTrigger {
    fn on_element(&mut self, _: &T, window: TimeWindow, context: &mut TriggerContext<'_>) -> Result<TriggerResult> {
        let end = window.max_timestamp();
        if context.current_watermark().0 >= end.0 {
            return Ok(TriggerResult::Fire);
        }
        context.register_event_time_timer(end)?;
        Ok(TriggerResult::Continue)
    }

    fn on_event_time(
        &mut self,
        time: EventTime,
        window: TimeWindow,
        _: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(if time == window.max_timestamp() { TriggerResult::Fire } else { TriggerResult::Continue })
    }

    fn on_merge(&mut self, _: TimeWindow, _: &[TimeWindow], _: &mut TriggerContext<'_>) -> Result<()> {
        Ok(())
    }

    fn clear(&mut self, window: TimeWindow, context: &mut TriggerContext<'_>) -> Result<()> {
        context.delete_event_time_timer(window.max_timestamp())
    }
}
