//! What a trigger knows beside the element and the window.

use std::fmt;

use tidemill_core::{EventTime, Result, Watermark};
use tidemill_state::keyed::KeyedState;

use crate::process::Context;

/// What a trigger knows beside the element and the window, and where it keeps what it remembers of the window.
pub struct TriggerContext<'a> {
    state: &'a mut KeyedState,
    time: Option<EventTime>,
    watermark: Watermark,
    processing_time: i64,
    /// When the window is forgotten: it has a timer of its own then.
    forgotten: i64,
}

impl<'a> TriggerContext<'a> {
    pub(in crate::window) fn new(context: &'a mut Context<'_>, forgotten: i64) -> Self {
        let (time, watermark) = (context.timestamp(), context.current_watermark());
        let processing_time = context.current_processing_time();
        Self { state: context.state(), time, watermark, processing_time, forgotten }
    }

    /// The states of the key and the window: what the handles that were registered read and write.
    pub fn state(&mut self) -> &mut KeyedState {
        self.state
    }

    /// When the element happened, or the time of the timer; `None` if elements have no time.
    #[must_use]
    pub fn timestamp(&self) -> Option<EventTime> {
        self.time
    }

    /// How far event time has come.
    #[must_use]
    pub fn current_watermark(&self) -> Watermark {
        self.watermark
    }

    /// The present moment, in milliseconds since 1970. The elements of one batch have the same.
    #[must_use]
    pub fn current_processing_time(&self) -> i64 {
        self.processing_time
    }

    /// Asks to be called when the watermark reaches this time. Asked again, it is the same timer.
    ///
    /// # Errors
    /// `Unavailable` if the state backend does not do its part; the same holds for all timers.
    pub fn register_event_time_timer(&mut self, time: EventTime) -> Result<()> {
        if time.0 == self.forgotten {
            // The window is about to register its own, or has.
            return Ok(());
        }
        self.state.register_event_time_timer(time)
    }

    /// Takes that back; nothing happens if there is no such timer.
    ///
    /// # Errors
    /// As [`TriggerContext::register_event_time_timer`].
    pub fn delete_event_time_timer(&mut self, time: EventTime) -> Result<()> {
        if time.0 == self.forgotten {
            return Ok(());
        }
        self.state.delete_event_time_timer(time)
    }

    /// Asks to be called when the clock reaches this time, in milliseconds since 1970.
    ///
    /// # Errors
    /// As [`TriggerContext::register_event_time_timer`].
    pub fn register_processing_time_timer(&mut self, time_ms: i64) -> Result<()> {
        self.state.register_processing_time_timer(time_ms)
    }

    /// Takes that back; nothing happens if there is no such timer.
    ///
    /// # Errors
    /// As [`TriggerContext::register_event_time_timer`].
    pub fn delete_processing_time_timer(&mut self, time_ms: i64) -> Result<()> {
        self.state.delete_processing_time_timer(time_ms)
    }
}

impl fmt::Debug for TriggerContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TriggerContext").field("timestamp", &self.time).field("watermark", &self.watermark).finish()
    }
}
