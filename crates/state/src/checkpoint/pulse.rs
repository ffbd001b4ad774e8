//! Tells a place that is slow from one that hangs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Beats each time that a place has done something that it was asked for.
#[derive(Debug, Clone, Default)]
pub struct Pulse(Arc<AtomicU64>);

impl Pulse {
    pub(super) fn beat(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How often it has beaten so far.
    #[must_use]
    pub fn beats(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
