//! Counters that add up: what was read, what was late and why.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Why a row missed a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LateReason {
    /// Its own watermark had passed the window's end (and the allowed lateness).
    Late,
    /// Its time is NULL or outside of the years 1 to 9999: it is in no window.
    NoEventTime,
    /// It touches a session that had closed when it came (by its own watermark).
    SessionClosed,
}

impl LateReason {
    /// The word in the column `late_reason`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::NoEventTime => "no-event-time",
            Self::SessionClosed => "session-closed",
        }
    }
}

/// What one window operator, over all its subtasks, did with the rows that reached it.
#[derive(Debug, Default)]
pub struct WindowMetrics {
    /// Rows that reached the operator.
    pub rows: AtomicU64,
    /// Rows that missed at least one window because they were late.
    pub late_rows: AtomicU64,
    /// Rows with no usable time.
    pub no_event_time_rows: AtomicU64,
}

/// What one source read.
#[derive(Debug, Default)]
pub struct SourceMetrics {
    /// Rows decoded.
    pub rows: AtomicU64,
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
pub fn count(counter: &AtomicU64) -> u64 {
    counter.load(Relaxed)
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, rows: usize) {
    counter.fetch_add(rows as u64, Relaxed);
}
