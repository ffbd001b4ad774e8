//! The trigger that never fires.

use tidemill_core::Result;
use tidemill_state::keyed::KeyedState;

use super::{Trigger, TriggerContext, TriggerResult};
use crate::window::TimeWindow;

/// A window never tells its result.
#[derive(Debug, Clone, Copy, Default)]
pub struct NeverTrigger;

impl NeverTrigger {
    /// For [`WindowedStream::trigger`](crate::WindowedStream::trigger), or to be part of another.
    pub fn of() -> impl Fn(&mut KeyedState) -> Result<Self> + Clone + Send + Sync + 'static {
        |_| Ok(Self)
    }
}

impl<T> Trigger<T> for NeverTrigger {
    fn on_element(&mut self, _: &T, _: TimeWindow, _: &mut TriggerContext<'_>) -> Result<TriggerResult> {
        Ok(TriggerResult::Continue)
    }

    fn on_merge(&mut self, _: TimeWindow, _: &[TimeWindow], _: &mut TriggerContext<'_>) -> Result<()> {
        Ok(())
    }

    fn clear(&mut self, _: TimeWindow, _: &mut TriggerContext<'_>) -> Result<()> {
        Ok(())
    }
}
