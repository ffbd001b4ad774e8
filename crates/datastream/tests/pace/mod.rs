//! How fast a source is read by a run that is to be stopped.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Counts an element. Until `limit` have come there is time for checkpoints; from then on little comes, so that the run hears
/// that it is to stop before its input ends.
pub fn pace(seen: &AtomicUsize, limit: usize) {
    let number = seen.fetch_add(1, Ordering::Relaxed);
    if number >= limit {
        std::thread::sleep(Duration::from_millis(3));
    } else if number.is_multiple_of(50) {
        std::thread::sleep(Duration::from_millis(1));
    }
}
