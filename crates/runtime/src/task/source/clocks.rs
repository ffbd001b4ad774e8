//! Sources that meet downstream, and their clocks: one that is idle goes by those of the others.
//!
//! An idle source can't say that it has caught up, and what merges it with others would wait for it.
//! So it publishes what the slowest of the others has reached, as Flink's idle inputs let the others
//! pass. When it wakes, its rows carry at least what it has published (a floor), so what went out
//! without them holds; nothing else has to know that it slept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidemill_core::Watermark;
use tokio::sync::Notify;

/// The clocks of sources that meet.
#[derive(Default)]
pub(crate) struct Clocks {
    clocks: Mutex<Vec<Clock>>,
}

struct Clock {
    watermark: Watermark,
    idle: bool,
    ended: bool,
    /// Wakes the source's subtasks, which may go by the others' clocks.
    subtasks: Arc<Notify>,
}

/// One source's place among those that it meets.
pub(crate) struct OwnClock {
    clocks: Arc<Clocks>,
    index: usize,
}

impl Clocks {
    /// Adds a source.
    pub(super) fn join(self: &Arc<Self>, subtasks: Arc<Notify>) -> OwnClock {
        let mut clocks = self.lock();
        clocks.push(Clock { watermark: Watermark::MIN, idle: false, ended: false, subtasks });
        OwnClock { clocks: Arc::clone(self), index: clocks.len() - 1 }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Clock>> {
        // No code that holds the lock can panic half-way through a change.
        self.clocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OwnClock {
    /// The source itself has reached this.
    pub(super) fn reached(&self, watermark: Watermark) {
        self.change(|clock| {
            let later = watermark > clock.watermark;
            clock.watermark = clock.watermark.max(watermark);
            later
        });
    }

    pub(super) fn set_idle(&self, idle: bool) {
        self.change(|clock| std::mem::replace(&mut clock.idle, idle) != idle);
    }

    pub(super) fn ended(&self) {
        self.change(|clock| !std::mem::replace(&mut clock.ended, true));
    }

    fn change(&self, change: impl FnOnce(&mut Clock) -> bool) {
        let mut clocks = self.clocks.lock();
        if change(&mut clocks[self.index]) {
            clocks.iter().filter(|clock| clock.idle).for_each(|clock| clock.subtasks.notify_waiters());
        }
    }

    /// How far the others have come: the slowest that is not idle; if all are, the one that came
    /// furthest; `-∞` where there is no other.
    pub(super) fn others(&self) -> Watermark {
        let clocks = self.clocks.lock();
        let others = clocks.iter().enumerate().filter(|(index, clock)| *index != self.index && !clock.ended);
        let others: Vec<&Clock> = others.map(|(_, clock)| clock).collect();
        let active = others.iter().filter(|clock| !clock.idle).map(|clock| clock.watermark).min();
        active.or(others.iter().map(|clock| clock.watermark).max()).unwrap_or(Watermark::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_source_goes_by_the_slowest_that_is_not() {
        let clocks = Arc::new(Clocks::default());
        let [a, b, c] = [0; 3].map(|_| clocks.join(Arc::default()));
        assert_eq!(a.others(), Watermark::MIN);
        b.reached(Watermark(20));
        c.reached(Watermark(30));
        assert_eq!(a.others(), Watermark(20));
        b.set_idle(true);
        assert_eq!(a.others(), Watermark(30));
        c.set_idle(true);
        a.set_idle(true);
        b.reached(Watermark(40));
        assert_eq!((a.others(), b.others()), (Watermark(40), Watermark(30)), "all are idle: the furthest");
        b.set_idle(false);
        assert_eq!(a.others(), Watermark(40));
        b.ended();
        c.ended();
        assert_eq!(a.others(), Watermark::MIN, "there is no other");
    }
}
