//! When something happened, and how far a stream has come.

use std::fmt;

/// When an event happened: milliseconds since the Unix epoch; negative values are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventTime(pub i64);

impl EventTime {
    /// 0001-01-01T00:00:00.000, the first moment of Flink's `TIMESTAMP`.
    pub const FIRST: Self = Self(-62_135_596_800_000);
    /// 9999-12-31T23:59:59.999, the last moment of Flink's `TIMESTAMP`.
    pub const LAST: Self = Self(253_402_300_799_999);

    /// Whether the time lies in the range that SQL can write. A row outside of it has no event
    /// time: it is in no window and moves no watermark.
    #[must_use]
    pub fn possible(self) -> bool {
        Self::FIRST <= self && self <= Self::LAST
    }
}

/// The event times that a table's rows can have: from the first moment of `TIMESTAMP` to a last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventTimes {
    last: EventTime,
}

impl EventTimes {
    /// All that are possible.
    pub const ALL: Self = Self { last: EventTime::LAST };

    /// All up to this one.
    #[must_use]
    pub fn up_to(last: EventTime) -> Self {
        Self { last: last.min(EventTime::LAST) }
    }

    /// Those that are in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { last: self.last.min(other.last) }
    }

    /// Whether a row can have this time (milliseconds since the Unix epoch).
    #[must_use]
    pub fn hold(self, time_ms: i64) -> bool {
        (EventTime::FIRST..=self.last).contains(&EventTime(time_ms))
    }

    /// Whether rows can have all of these times.
    #[must_use]
    pub fn hold_all(self, times_ms: &[i64]) -> bool {
        // Without a way out at the first that they can't: nearly always there is none, and several are compared at once.
        times_ms.iter().fold(true, |all, &time_ms| all & (EventTime::FIRST.0 <= time_ms) & (time_ms <= self.last.0))
    }
}

/// The claim that event time has reached this moment (milliseconds since the Unix epoch).
///
/// A partition's watermark is the maximum of the `WATERMARK FOR` expression over the rows so far;
/// an operator's is the minimum over its inputs. A window with end `e` is complete at `e - 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watermark(pub i64);

impl Watermark {
    /// Nothing is known yet.
    pub const MIN: Self = Self(i64::MIN);
    /// The input has ended: every window is complete.
    pub const MAX: Self = Self(i64::MAX);

    /// Whether a window that ends (exclusively) at `end_ms` is complete.
    #[must_use]
    pub fn closes(self, end_ms: i64) -> bool {
        self.0 >= end_ms.saturating_sub(1)
    }
}

impl fmt::Display for Watermark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::MIN => write!(f, "-∞"),
            Self::MAX => write!(f, "+∞"),
            Self(ms) => write!(f, "{ms}"),
        }
    }
}
