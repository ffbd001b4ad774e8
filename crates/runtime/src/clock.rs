//! The present time: what functions such as `NOW()` tell, and what windows of processing time go by.
//!
//! DataFusion evaluates an expression without a context. So the present moment is the thread's while a step of a task
//! lasts ([`at`]): all that a batch meets in one task happens at one moment, as a row's way through an operator does in
//! Flink, and two calls of `NOW()` agree. The clock is a part of the run, so that a test can hold it.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::Utc;
use tidemill_core::Watermark;

/// Tells the time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> i64;
}

/// The machine's clock, which somebody may put back.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        Utc::now().timestamp_millis()
    }
}

/// The clock of a job: it never goes back, whatever the one that it reads does.
#[derive(Debug)]
pub(crate) struct JobClock {
    clock: Arc<dyn Clock>,
    highest_ms: AtomicI64,
}

impl JobClock {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, highest_ms: AtomicI64::new(i64::MIN) }
    }

    /// From now on it is past a watermark that has been published: rows that come now have a later time.
    pub(crate) fn passes(&self, watermark: Watermark) {
        self.highest_ms.fetch_max(watermark.0.saturating_add(1), Ordering::Relaxed);
    }

    /// The watermark that it has reached: rows of the present millisecond are still to come.
    pub(crate) fn watermark(&self) -> Watermark {
        Watermark(self.now_ms().saturating_sub(1))
    }
}

impl Clock for JobClock {
    fn now_ms(&self) -> i64 {
        let now_ms = self.clock.now_ms();
        self.highest_ms.fetch_max(now_ms, Ordering::Relaxed).max(now_ms)
    }
}

thread_local! {
    static MOMENT_MS: Cell<Option<i64>> = const { Cell::new(None) };
}

/// Puts back the moment that was before, also where the work panics.
struct Restore(Option<i64>);

impl Drop for Restore {
    fn drop(&mut self) {
        MOMENT_MS.set(self.0);
    }
}

/// Does work for which the present moment is `now_ms` (milliseconds since 1970), however long it takes.
pub fn at<T>(now_ms: i64, work: impl FnOnce() -> T) -> T {
    let _restore = Restore(MOMENT_MS.replace(Some(now_ms)));
    work()
}

/// The present moment, in milliseconds since 1970: that of the step which this thread is doing, or what the machine's
/// clock shows.
#[must_use]
pub fn present_ms() -> i64 {
    MOMENT_MS.get().unwrap_or_else(|| SystemClock.now_ms())
}

#[cfg(test)]
mod tests;
