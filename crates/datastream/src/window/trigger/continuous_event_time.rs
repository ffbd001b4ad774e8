//! The trigger that goes by an interval of event time.

use std::time::Duration;

use tidemill_core::{Error, EventTime, Result, Watermark};
use tidemill_state::keyed::{KeyedState, ReducingState, StateDescriptor};

use super::{Trigger, TriggerContext, TriggerResult};
use crate::window::TimeWindow;

/// A window tells what it has come to whenever the watermark passes a multiple of an interval, and when it passes the end of
/// the window; then anew for each allowed late element.
#[derive(Debug)]
pub struct ContinuousEventTimeTrigger {
    interval_ms: i64,
    /// The next multiple of the interval. It may lie behind the end of the window: a session may get longer.
    next: ReducingState<i64>,
}

impl ContinuousEventTimeTrigger {
    /// At the multiples of `interval`, in whole milliseconds: for
    /// [`WindowedStream::trigger`](crate::WindowedStream::trigger), or to be part of another trigger.
    pub fn of(interval: Duration) -> impl Fn(&mut KeyedState) -> Result<Self> + Clone + Send + Sync + 'static {
        let interval_ms = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
        move |states| {
            if interval_ms == 0 {
                return Err(Error::invalid("a trigger can't fire every 0 ms").hint("give it a millisecond at least"));
            }
            let next = states.reducing_state(StateDescriptor::new("trigger next"), i64::min)?;
            Ok(Self { interval_ms, next })
        }
    }

    /// From now on the next multiple is that behind `time`.
    fn schedule(&mut self, time: EventTime, window: TimeWindow, context: &mut TriggerContext<'_>) -> Result<()> {
        let past = time.0.rem_euclid(self.interval_ms);
        let next = time.0.saturating_sub(past).saturating_add(self.interval_ms);
        self.next.add(context.state(), next)?;
        self.register(next, window, context)
    }

    fn register(&self, next: i64, window: TimeWindow, context: &mut TriggerContext<'_>) -> Result<()> {
        // The last watermark would pass the multiples of a window without an end for ever.
        let endless = window == TimeWindow::GLOBAL && context.current_watermark() == Watermark::MAX;
        if next >= window.max_timestamp().0 || endless {
            return Ok(());
        }
        context.register_event_time_timer(EventTime(next))
    }
}

impl<T> Trigger<T> for ContinuousEventTimeTrigger {
    fn on_element(&mut self, _: &T, window: TimeWindow, context: &mut TriggerContext<'_>) -> Result<TriggerResult> {
        let end = window.max_timestamp();
        if context.current_watermark().0 >= end.0 {
            return Ok(TriggerResult::Fire);
        }
        context.register_event_time_timer(end)?;
        if let Some(time) = context.timestamp()
            && self.next.get(context.state())?.is_none()
        {
            self.schedule(time, window, context)?;
        }
        Ok(TriggerResult::Continue)
    }

    fn on_event_time(
        &mut self,
        time: EventTime,
        window: TimeWindow,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        let end = window.max_timestamp();
        if time == end {
            return Ok(TriggerResult::Fire);
        }
        // A multiple behind the end may be the moment at which the window is forgotten.
        if time > end || self.next.get(context.state())? != Some(&time.0) {
            return Ok(TriggerResult::Continue);
        }
        self.next.clear(context.state())?;
        self.schedule(time, window, context)?;
        Ok(TriggerResult::Fire)
    }

    fn on_merge(&mut self, window: TimeWindow, merged: &[TimeWindow], context: &mut TriggerContext<'_>) -> Result<()> {
        self.next.merge_namespaces(context.state(), &window, merged)?;
        match self.next.get(context.state())?.copied() {
            Some(next) => self.register(next, window, context),
            None => Ok(()),
        }
    }

    fn clear(&mut self, window: TimeWindow, context: &mut TriggerContext<'_>) -> Result<()> {
        context.delete_event_time_timer(window.max_timestamp())?;
        if let Some(next) = self.next.get(context.state())?.copied() {
            context.delete_event_time_timer(EventTime(next))?;
        }
        self.next.clear(context.state())
    }
}
