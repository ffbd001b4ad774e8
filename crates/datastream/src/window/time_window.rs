//! What a window is, and what comes of one.

use serde::{Deserialize, Serialize};
use tidemill_core::EventTime;

/// A span of event time: `start` is in it, `end` is not. In milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TimeWindow {
    /// The first millisecond.
    pub start: i64,
    /// The millisecond behind the last.
    pub end: i64,
}

impl TimeWindow {
    /// From the beginning to the end of time.
    pub const GLOBAL: Self = Self { start: i64::MIN, end: i64::MAX };

    /// The last moment that is in it.
    #[must_use]
    pub fn max_timestamp(&self) -> EventTime {
        EventTime(self.end.saturating_sub(1))
    }

    /// Whether the two have a moment in common, or touch.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.start <= other.end && self.end >= other.start
    }

    /// The smallest window that covers both.
    #[must_use]
    pub fn cover(&self, other: &Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// What the elements of a key in a window come to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Windowed<K, R> {
    /// The key.
    pub key: K,
    /// The window.
    pub window: TimeWindow,
    /// The result.
    pub value: R,
}

/// An element that was late for a window.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LateElement<T> {
    /// The element.
    pub element: T,
    /// The windows that it missed. None if it has no time: then it is in no window.
    pub missed: Vec<TimeWindow>,
}
