//! How fast rows come: row n is due n / rate seconds after the first.

use std::time::Duration;

/// A number of rows a second.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    rows_per_second: u64,
}

impl Pace {
    /// `rows_per_second` is at least 1.
    #[must_use]
    pub fn new(rows_per_second: u64) -> Self {
        Self { rows_per_second: rows_per_second.max(1) }
    }

    /// How long after the first row this one is due.
    #[must_use]
    pub fn due(self, row: u64) -> Duration {
        let (seconds, rest) = (row / self.rows_per_second, row % self.rows_per_second);
        // Rounded up: a row is never early.
        let nanoseconds = (u128::from(rest) * 1_000_000_000).div_ceil(u128::from(self.rows_per_second));
        Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds as u64)
    }

    /// How many rows are due after this time, the first among them.
    #[must_use]
    pub fn rows_after(self, elapsed: Duration) -> u64 {
        let rows = elapsed.as_nanos().saturating_mul(u128::from(self.rows_per_second)) / 1_000_000_000;
        u64::try_from(rows).unwrap_or(u64::MAX).saturating_add(1)
    }
}

#[cfg(test)]
mod tests;
