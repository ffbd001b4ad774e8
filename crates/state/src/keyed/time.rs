//! The clocks of keyed state, and its timers.

use tidemill_core::{EventTime, Result, Watermark};

use super::KeyedState;
use super::layout;
use super::timers::Fired;

impl KeyedState {
    /// The event time of the element that is processed now, and the watermark that its row carries. What lasts for a
    /// time in event time goes by the later of the two.
    pub fn set_element_time(&mut self, time: Option<EventTime>, row_watermark: Watermark) {
        self.now.event_ms = time.map_or(i64::MIN, |time| time.0).max(row_watermark.0);
    }

    /// Processing time has come to this millisecond since the Unix epoch; it does not go back.
    pub fn set_processing_time(&mut self, now_ms: i64) {
        self.now.processing_ms = self.now.processing_ms.max(now_ms);
    }

    /// All elements up to the watermark have come, but those that are late. Then timers are due.
    pub fn advance_watermark(&mut self, watermark: Watermark) {
        self.watermark = self.watermark.max(watermark);
    }

    /// Registers a timer of the current key and namespace: it is due when the watermark reaches `time`. Registered again,
    /// it is the same timer.
    ///
    /// # Errors
    /// `Invalid` if there is no current key.
    pub fn register_event_time_timer(&mut self, time: EventTime) -> Result<()> {
        let slot = self.slot("a timer")?;
        let place = (self.keys.group(slot), self.keys.place(slot));
        self.event_timers.register(&mut self.store, place, time.0, self.now.event_ms)
    }

    /// Deletes a timer of the current key and namespace; nothing happens if there is none.
    ///
    /// # Errors
    /// `Invalid` if there is no current key.
    pub fn delete_event_time_timer(&mut self, time: EventTime) -> Result<()> {
        let slot = self.slot("a timer")?;
        self.event_timers.delete(&mut self.store, (self.keys.group(slot), self.keys.place(slot)), time.0)
    }

    /// Registers a timer of the current key and namespace: it is due at this millisecond since the Unix epoch, in
    /// processing time. Registered again, it is the same timer.
    ///
    /// # Errors
    /// `Invalid` if there is no current key.
    pub fn register_processing_time_timer(&mut self, time_ms: i64) -> Result<()> {
        let slot = self.slot("a timer")?;
        let place = (self.keys.group(slot), self.keys.place(slot));
        self.processing_timers.register(&mut self.store, place, time_ms, time_ms)
    }

    /// Deletes a timer of the current key and namespace; nothing happens if there is none.
    ///
    /// # Errors
    /// `Invalid` if there is no current key.
    pub fn delete_processing_time_timer(&mut self, time_ms: i64) -> Result<()> {
        let slot = self.slot("a timer")?;
        self.processing_timers.delete(&mut self.store, (self.keys.group(slot), self.keys.place(slot)), time_ms)
    }

    /// Fires the first event-time timer that the watermark has reached, in the order of their times: its key and
    /// namespace become the current ones. Called until it gives `None`.
    ///
    /// # Errors
    /// `Unavailable` if the backend does not do its part.
    pub fn next_event_time_timer(&mut self) -> Result<Option<EventTime>> {
        let Some(fired) = self.event_timers.fire(&mut self.store, self.watermark.0)? else { return Ok(None) };
        // A timer that was registered for a time long past does not see what had expired then already.
        self.now.event_ms = fired.time_ms.max(fired.registered_ms);
        self.set_current_place(&fired)?;
        Ok(Some(EventTime(fired.time_ms)))
    }

    /// Fires the first processing-time timer whose time has come, as [`KeyedState::next_event_time_timer`] does; gives
    /// the time for which it was registered.
    ///
    /// # Errors
    /// `Unavailable` if the backend does not do its part.
    pub fn next_processing_time_timer(&mut self) -> Result<Option<i64>> {
        let Some(fired) = self.processing_timers.fire(&mut self.store, self.now.processing_ms)? else {
            return Ok(None);
        };
        self.now.event_ms = self.watermark.0;
        self.set_current_place(&fired)?;
        Ok(Some(fired.time_ms))
    }

    fn set_current_place(&mut self, fired: &Fired) -> Result<()> {
        self.key.clear();
        self.key.extend_from_slice(layout::parts(&fired.place)?.0);
        self.current = Some(self.keys.slot(fired.group, &fired.place));
        Ok(())
    }

    /// When the next processing-time timer is due, at the earliest; in milliseconds since the Unix epoch.
    #[must_use]
    pub fn next_processing_time(&self) -> Option<i64> {
        self.processing_timers.next_ms()
    }
}
