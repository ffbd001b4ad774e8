//! Processing time as a watermark: what a source publishes whose windows go by the clock, whether rows come or not.

use std::time::{Duration, Instant};

/// How far the watermark may stay behind the clock: so much later than its end a window tells its result.
const PERIOD: Duration = Duration::from_millis(10);

/// When the clock is told next.
#[derive(Debug)]
pub(super) struct Pulse {
    due: Instant,
}

impl Pulse {
    /// Due at once.
    pub(super) fn new() -> Self {
        Self { due: Instant::now() }
    }

    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// Whether it is time; then the next is a period later.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let is_time = self.due <= now;
        if is_time {
            self.due = now + PERIOD;
        }
        is_time
    }
}
