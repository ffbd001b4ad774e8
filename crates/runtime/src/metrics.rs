//! Counters that add up: what was read, what was late and why.

mod counter;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tidemill_core::EventTime;

pub use counter::Counter;
pub(crate) use counter::{Tally, tallied};

/// Why a row missed a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LateReason {
    /// Its own watermark had passed the window's end (and the allowed lateness).
    Late,
    /// Its time is NULL or outside of the years 1 to 9999: it is in no window.
    NoEventTime,
    /// Its time is further ahead than its table's rows can be: it is in no window.
    Future,
    /// It touches a session that had closed when it came (by its own watermark).
    SessionClosed,
}

impl LateReason {
    /// Why a row whose time its table's rows can't have is in no window.
    pub(crate) fn of_unusable(time_ms: Option<i64>) -> Self {
        if time_ms.is_some_and(|ms| EventTime(ms).possible()) { Self::Future } else { Self::NoEventTime }
    }

    /// The word in the column `late_reason`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::NoEventTime => "no-event-time",
            Self::Future => "future",
            Self::SessionClosed => "session-closed",
        }
    }
}

/// What one window operator, over all its subtasks, did with the rows that reached it.
#[derive(Debug, Default)]
pub struct WindowMetrics {
    /// Rows that reached the operator.
    pub rows: Counter,
    /// Rows that missed at least one window because they were late.
    pub late_rows: Counter,
    /// Rows whose time is NULL or impossible.
    pub no_event_time_rows: Counter,
    /// Rows whose time is further ahead than their table's rows can be.
    pub future_rows: Counter,
    /// By how much longer the watermark's delay would have to be for late rows to be in time.
    pub missing_delay: DelayHistogram,
}

impl WindowMetrics {
    /// Counts a row whose time can't be used.
    pub(crate) fn count_unusable(&self, reason: LateReason) {
        let counter = if reason == LateReason::Future { &self.future_rows } else { &self.no_event_time_rows };
        add(counter, 1);
    }
}

/// How often each delay occurred, to the next power of two of milliseconds. It is not tallied: in a batch nothing is late.
#[derive(Debug)]
pub struct DelayHistogram([AtomicU64; 64]);

impl Default for DelayHistogram {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; 64])
    }
}

impl DelayHistogram {
    /// Counts a delay of so many milliseconds.
    pub(crate) fn record(&self, delay_ms: i64) {
        let bits = 64 - delay_ms.max(0).cast_unsigned().leading_zeros();
        self.0[bits.min(63) as usize].fetch_add(1, Relaxed);
    }

    /// The shortest delay (milliseconds, a power of two) that at most `rows` rows exceed.
    #[must_use]
    pub fn exceeded_by_at_most(&self, rows: u64) -> u64 {
        let mut exceeding = 0;
        for bits in (0..64u32).rev() {
            exceeding += self.0[bits as usize].load(Relaxed);
            if exceeding > rows {
                return 1u64.checked_shl(bits).unwrap_or(u64::MAX);
            }
        }
        0
    }
}

/// What one source read.
#[derive(Debug, Default)]
pub struct SourceMetrics {
    /// Rows decoded.
    pub rows: Counter,
    /// Rows that could not be decoded, and were kept.
    pub rejected: Counter,
}

/// The counters of one run, by name.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    /// By table.
    pub sources: BTreeMap<Arc<str>, Arc<SourceMetrics>>,
    /// By statement: its windows. Statements with equal windows share them.
    pub windows: BTreeMap<Arc<str>, Vec<Arc<WindowMetrics>>>,
}

/// Reads a counter.
#[must_use]
pub fn count(counter: &Counter) -> u64 {
    counter.get()
}

/// Adds to a counter.
pub(crate) fn add(counter: &Counter, rows: usize) {
    counter.add(rows as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_proposed_that_few_rows_exceed() {
        let delays = DelayHistogram::default();
        for delay_ms in [0, 1, 3, 100, 1000, 60_000] {
            delays.record(delay_ms);
        }
        assert_eq!(delays.exceeded_by_at_most(6), 0);
        assert_eq!(delays.exceeded_by_at_most(1), 1024);
        assert_eq!(delays.exceeded_by_at_most(0), 65_536);
    }
}
