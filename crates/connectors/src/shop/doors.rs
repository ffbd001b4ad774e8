//! The end of a traffic that has none of its own: whoever watches it closes the shop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// Whether the shop is about to close, and how many events there were when it did.
#[derive(Debug)]
pub(super) struct Doors {
    closing: AtomicBool,
    events: AtomicU64,
}

impl Default for Doors {
    fn default() -> Self {
        Self { closing: AtomicBool::new(false), events: AtomicU64::new(u64::MAX) }
    }
}

impl Doors {
    /// Asks the live reading to end.
    pub(super) fn close(&self) {
        self.closing.store(true, SeqCst);
    }

    /// Whether the live reading is asked to end.
    pub(super) fn closing(&self) -> bool {
        self.closing.load(SeqCst)
    }

    /// The live reading has ended after so many events: no later reading gives more.
    pub(super) fn closed_after(&self, events: u64) {
        self.events.fetch_min(events, SeqCst);
    }

    /// No more events than these.
    pub(super) fn events(&self) -> u64 {
        self.events.load(SeqCst)
    }
}
