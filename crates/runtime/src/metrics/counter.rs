//! A counter; and a tally, for work that may come to nothing and be done again: what it counts is added when it is done.
//!
//! Operators count where they are called, and know no attempts. So the tally is the thread's while the work lasts, as the
//! present moment is (`clock`).

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    /// Adds to it: at once, or where the work of this thread is tallied, when that is added.
    pub fn add(&self, more: u64) {
        let noted = TALLY.with_borrow_mut(|tally| tally.as_mut().map(|tally| tally.note(self, more)));
        if noted.is_none() {
            self.0.fetch_add(more, Relaxed);
        }
    }

    /// What it has come to.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// What work has counted that may still come to nothing.
#[derive(Debug, Default)]
pub(crate) struct Tally(Vec<(Arc<AtomicU64>, u64)>);

impl Tally {
    fn note(&mut self, Counter(counter): &Counter, more: u64) {
        match self.0.iter_mut().find(|(noted, _)| Arc::ptr_eq(noted, counter)) {
            Some((_, count)) => *count += more,
            None => self.0.push((Arc::clone(counter), more)),
        }
    }

    /// The work has come to something: its counters grow by what it has counted.
    pub(crate) fn add(self) {
        for (counter, count) in self.0 {
            counter.fetch_add(count, Relaxed);
        }
    }
}

thread_local! {
    static TALLY: RefCell<Option<Tally>> = const { RefCell::new(None) };
}

/// Puts back the tally that was before, also where the work panics.
struct Restore(Option<Tally>);

impl Drop for Restore {
    fn drop(&mut self) {
        TALLY.set(self.0.take());
    }
}

/// Does work on this thread, and gives what it has counted.
pub(crate) fn tallied<T>(work: impl FnOnce() -> T) -> (T, Tally) {
    let _restore = Restore(TALLY.replace(Some(Tally::default())));
    let done = work();
    (done, TALLY.take().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn what_work_counts_is_added_when_it_is_done() {
        let (rows, late) = (Counter::default(), Counter::default());
        rows.add(1);
        let ((), tally) = tallied(|| {
            rows.add(2);
            late.add(1);
            rows.add(3);
        });
        assert_eq!((rows.get(), late.get()), (1, 0));
        tally.add();
        assert_eq!((rows.get(), late.get()), (6, 1));
        rows.add(1);
        assert_eq!(rows.get(), 7, "nothing is tallied any more");
    }

    #[test]
    fn what_work_has_counted_that_comes_to_nothing_is_forgotten() {
        let rows = Counter::default();
        drop(tallied(|| rows.add(5)));
        let panics = catch_unwind(AssertUnwindSafe(|| {
            tallied(|| {
                rows.add(7);
                panic!("drawn to fail");
            })
        }));
        assert!(panics.is_err());
        rows.add(1);
        assert_eq!(rows.get(), 1);
    }
}
