//! What a function knows beside the element.

use std::fmt;

use tidemill_core::{EventTime, Result, Watermark};
use tidemill_runtime::clock::present_ms;
use tidemill_state::keyed::KeyedState;

use super::Timer;
use crate::output_tag::{OutputTag, Sides};
use crate::timed::Element;

/// What a function knows beside the element, and where it keeps what it remembers.
pub struct Context<'a> {
    pub(super) state: &'a mut KeyedState,
    pub(super) sides: &'a mut Sides,
    /// The timer that has come; `None` where an element has.
    pub(super) timer: Option<Timer>,
    /// Of the element, or of the timer; `i64::MIN` where there is none.
    pub(crate) time: i64,
    /// The element's own, or that of the element which has set a timer that comes at once.
    pub(crate) row_watermark: i64,
    pub(super) watermark: Watermark,
}

impl Context<'_> {
    /// The states of the key: what the handles that were registered read and write.
    pub fn state(&mut self) -> &mut KeyedState {
        self.state
    }

    /// When the element happened, or the time of the timer; `None` if elements have no time.
    #[must_use]
    pub fn timestamp(&self) -> Option<EventTime> {
        match self.timer {
            Some(Timer::ProcessingTime(time_ms)) => Some(EventTime(time_ms)),
            _ => (self.time != i64::MIN).then_some(EventTime(self.time)),
        }
    }

    /// The element's own watermark: the highest that followed from the elements before it in its partition. It is a function of
    /// the input alone, as [`Context::current_watermark`] is not where several partitions meet; that one has not passed it.
    /// [`Watermark::MIN`] where elements have no time, and in a timer.
    #[must_use]
    pub fn element_watermark(&self) -> Watermark {
        if self.timer.is_some() { Watermark::MIN } else { Watermark(self.row_watermark) }
    }

    /// Whether the element has come when its own watermark had reached its time. What is not late comes before the timers of
    /// its time. An element without a time is late; in a timer nothing is.
    #[must_use]
    pub fn late(&self) -> bool {
        self.timer.is_none() && self.row_watermark >= self.time
    }

    /// How far event time has come.
    #[must_use]
    pub fn current_watermark(&self) -> Watermark {
        self.watermark
    }

    /// The present moment, in milliseconds since 1970. The elements of one batch have the same.
    #[must_use]
    pub fn current_processing_time(&self) -> i64 {
        present_ms()
    }

    /// Asks to be called when the watermark reaches this time. Asked again, it is the same timer.
    ///
    /// # Errors
    /// `Unavailable` if the state backend does not do its part; the same holds for all timers.
    pub fn register_event_time_timer(&mut self, time: EventTime) -> Result<()> {
        self.state.register_event_time_timer(time)
    }

    /// Takes that back; nothing happens if there is no such timer.
    ///
    /// # Errors
    /// As [`Context::register_event_time_timer`].
    pub fn delete_event_time_timer(&mut self, time: EventTime) -> Result<()> {
        self.state.delete_event_time_timer(time)
    }

    /// Asks to be called when the clock reaches this time, in milliseconds since 1970.
    ///
    /// # Errors
    /// As [`Context::register_event_time_timer`].
    pub fn register_processing_time_timer(&mut self, time_ms: i64) -> Result<()> {
        self.state.register_processing_time_timer(time_ms)
    }

    /// Takes that back; nothing happens if there is no such timer.
    ///
    /// # Errors
    /// As [`Context::register_event_time_timer`].
    pub fn delete_processing_time_timer(&mut self, time_ms: i64) -> Result<()> {
        self.state.delete_processing_time_timer(time_ms)
    }

    /// Emits an element to a side output. If nobody reads that, the element is dropped.
    ///
    /// # Errors
    /// `Invalid` if the side output is of another type.
    pub fn output<S: Element>(&mut self, tag: &OutputTag<S>, value: S) -> Result<()> {
        self.sides.collect(tag, value, self.time, self.row_watermark)
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("timestamp", &self.timestamp()).field("watermark", &self.watermark).finish()
    }
}
