//! How often something is done that could be done for every row.

use std::time::{Duration, Instant};

/// A timer of processing time that is armed by a change, and rests where nothing changes.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Duration,
    last: Option<Instant>,
    due: Option<Instant>,
}

impl Pace {
    pub(super) fn new(interval: Duration) -> Self {
        Self { interval, last: None, due: None }
    }

    /// Something has changed, and waits for what else will: due an interval from now.
    pub(super) fn arm(&mut self, now: Instant) {
        self.due.get_or_insert(now + self.interval);
    }

    /// Something has changed that has waited already: due at once, but an interval after the last time.
    pub(super) fn arm_at_once(&mut self, now: Instant) {
        let earliest = self.last.map_or(now, |last| last + self.interval);
        self.due.get_or_insert(earliest.max(now));
    }

    /// What was due is done anyway.
    pub(super) fn disarm(&mut self) {
        self.due = None;
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether it is time; then it is done.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let is_time = self.due.is_some_and(|due| due <= now);
        if is_time {
            self.due = None;
            self.last = Some(now);
        }
        is_time
    }
}

#[cfg(test)]
mod tests;
