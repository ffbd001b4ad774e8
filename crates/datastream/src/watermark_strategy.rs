//! When elements happened, and how late others may still come.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidemill_core::{Error, EventTime, Result};

/// Says when an element happened.
type Assigner<T> = Arc<dyn Fn(&T) -> EventTime + Send + Sync>;

/// When elements happened, and how far behind the latest another may be without being late. As Flink's.
///
/// ```
/// use std::time::Duration;
/// use tidemill_datastream::{EventTime, WatermarkStrategy};
///
/// struct Order {
///     placed_ms: i64,
/// }
/// let strategy = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_secs(5))
///     .with_timestamp_assigner(|order: &Order| EventTime(order.placed_ms));
/// # let _ = strategy;
/// ```
pub struct WatermarkStrategy<T> {
    behind_ms: i64,
    assigner: Assigner<T>,
    idle_after: Option<Duration>,
}

impl WatermarkStrategy<()> {
    /// An element may be so much older than the latest before it. The watermark is a millisecond below that, so that one
    /// which is exactly so old is in time. In whole milliseconds.
    #[must_use]
    pub fn for_bounded_out_of_orderness(bound: Duration) -> WithoutTimestamps {
        WithoutTimestamps { behind_ms: i64::try_from(bound.as_millis()).unwrap_or(i64::MAX) }
    }

    /// No element is older than the one before it.
    #[must_use]
    pub fn for_monotonous_timestamps() -> WithoutTimestamps {
        WithoutTimestamps { behind_ms: 0 }
    }
}

impl<T> WatermarkStrategy<T> {
    /// A source that has given no element for so long, by the machine's clock, is idle: until it gives one, its watermark
    /// goes with that of the slowest source that it meets and that is neither idle nor at its end. As Flink's, of the source
    /// as a whole. What it gives when it wakes is late for what was told without it. By default a source is never idle, and
    /// all that it meets wait for it.
    ///
    /// A batch waits for all of its input. An iterator that waits for its next element keeps the thread that would look at
    /// the clock, so it is never idle.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tidemill_datastream::{EventTime, WatermarkStrategy};
    ///
    /// let strategy = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_secs(20))
    ///     .with_timestamp_assigner(|placed_ms: &i64| EventTime(*placed_ms))
    ///     .with_idleness(Duration::from_secs(60));
    /// # let _ = strategy;
    /// ```
    #[must_use]
    pub fn with_idleness(self, idle_after: Duration) -> Self {
        Self { idle_after: Some(idle_after), ..self }
    }

    pub(crate) fn idle_after(&self) -> Option<Duration> {
        self.idle_after
    }

    /// # Errors
    /// `Invalid` if a source would always be idle.
    pub(crate) fn check(&self) -> Result<()> {
        if self.idle_after.is_some_and(|after| after.is_zero()) {
            return Err(Error::invalid("a source that is idle after no time at all is not possible")
                .hint("give with_idleness a time, or leave it out: then a source is never idle"));
        }
        Ok(())
    }

    pub(crate) fn time_of(&self, element: &T) -> i64 {
        (self.assigner)(element).0
    }

    /// The watermark that follows from an element of this time.
    pub(crate) fn claim(&self, time_ms: i64) -> i64 {
        time_ms.saturating_sub(self.behind_ms).saturating_sub(1)
    }
}

impl<T> Clone for WatermarkStrategy<T> {
    fn clone(&self) -> Self {
        Self { behind_ms: self.behind_ms, assigner: Arc::clone(&self.assigner), idle_after: self.idle_after }
    }
}

impl<T> fmt::Debug for WatermarkStrategy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("WatermarkStrategy");
        fields.field("behind_ms", &self.behind_ms).field("idle_after", &self.idle_after).finish_non_exhaustive()
    }
}

/// A strategy that does not know yet when elements happened.
#[derive(Debug, Clone, Copy)]
pub struct WithoutTimestamps {
    behind_ms: i64,
}

impl WithoutTimestamps {
    /// Elements happened when `assigner` says.
    #[must_use]
    pub fn with_timestamp_assigner<T>(
        self,
        assigner: impl Fn(&T) -> EventTime + Send + Sync + 'static,
    ) -> WatermarkStrategy<T> {
        WatermarkStrategy { behind_ms: self.behind_ms, assigner: Arc::new(assigner), idle_after: None }
    }
}
