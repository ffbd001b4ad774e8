use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use tidemill_core::Watermark;

use super::{Clock, JobClock, at, present_ms};

/// Shows what it is set to.
#[derive(Debug, Default)]
struct Held(AtomicI64);

impl Clock for Held {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_step_has_one_moment_and_leaves_the_one_before() {
    let inner = at(5, || {
        assert_eq!((present_ms(), at(7, present_ms), present_ms()), (5, 7, 5));
        let panicked = catch_unwind(|| at(9, || panic!("on purpose")));
        assert!(panicked.is_err());
        present_ms()
    });
    assert_eq!(inner, 5);
    assert!(present_ms() > 1_700_000_000_000, "outside of a step it is the machine's clock");
}

#[test]
fn a_run_that_goes_on_is_past_what_was_published() {
    let clock = JobClock::new(Arc::new(Held::default()));
    assert_eq!((clock.now_ms(), clock.watermark()), (0, Watermark(-1)));
    clock.passes(Watermark(41));
    assert_eq!((clock.now_ms(), clock.watermark()), (42, Watermark(41)));
    clock.passes(Watermark::MAX);
    assert_eq!(clock.now_ms(), i64::MAX);
}

proptest! {
    #[test]
    fn it_never_goes_back(shown in prop::collection::vec(any::<i64>(), 1..20)) {
        let held = Arc::new(Held::default());
        let clock = JobClock::new(Arc::clone(&held) as Arc<dyn Clock>);
        let mut highest = i64::MIN;
        for ms in shown {
            held.0.store(ms, Ordering::Relaxed);
            highest = highest.max(ms);
            prop_assert_eq!(clock.now_ms(), highest);
            prop_assert!(clock.watermark() < Watermark(highest) || highest == i64::MIN);
        }
    }
}
