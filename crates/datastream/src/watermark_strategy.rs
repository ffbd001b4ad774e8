//! When elements happened, and how late others may still come.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidemill_core::EventTime;

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
        Self { behind_ms: self.behind_ms, assigner: Arc::clone(&self.assigner) }
    }
}

impl<T> fmt::Debug for WatermarkStrategy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatermarkStrategy").field("behind_ms", &self.behind_ms).finish_non_exhaustive()
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
        WatermarkStrategy { behind_ms: self.behind_ms, assigner: Arc::new(assigner) }
    }
}
