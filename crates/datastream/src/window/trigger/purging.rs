//! The trigger that makes another's windows lose what they have told.

use tidemill_core::{EventTime, Result};
use tidemill_state::keyed::KeyedState;

use super::{Trigger, TriggerContext, TriggerResult};
use crate::window::TimeWindow;

/// As another trigger, but a window that tells its result loses its elements: the next result is of those that come later.
#[derive(Debug, Clone)]
pub struct PurgingTrigger<G>(G);

impl<G> PurgingTrigger<G> {
    /// As the trigger that `make` makes: `PurgingTrigger::of(CountTrigger::of(3))`.
    pub fn of(
        make: impl Fn(&mut KeyedState) -> Result<G> + Clone + Send + Sync + 'static,
    ) -> impl Fn(&mut KeyedState) -> Result<Self> + Clone + Send + Sync + 'static {
        move |states| Ok(Self(make(states)?))
    }
}

fn purging(result: TriggerResult) -> TriggerResult {
    if result.fires() { TriggerResult::FireAndPurge } else { result }
}

impl<T, G: Trigger<T>> Trigger<T> for PurgingTrigger<G> {
    fn on_element(
        &mut self,
        element: &T,
        window: TimeWindow,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        self.0.on_element(element, window, context).map(purging)
    }

    fn on_event_time(
        &mut self,
        time: EventTime,
        window: TimeWindow,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        self.0.on_event_time(time, window, context).map(purging)
    }

    fn on_processing_time(
        &mut self,
        time_ms: i64,
        window: TimeWindow,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        self.0.on_processing_time(time_ms, window, context).map(purging)
    }

    fn on_merge(&mut self, window: TimeWindow, merged: &[TimeWindow], context: &mut TriggerContext<'_>) -> Result<()> {
        self.0.on_merge(window, merged, context)
    }

    fn clear(&mut self, window: TimeWindow, context: &mut TriggerContext<'_>) -> Result<()> {
        self.0.clear(window, context)
    }
}
