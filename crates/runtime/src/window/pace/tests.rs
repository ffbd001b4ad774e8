//! When a pace is due, by a clock that the test moves.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_change_waits_an_interval_for_others() {
    let (now, mut pace) = (Instant::now(), Pace::new(10 * SECOND));
    assert_eq!(pace.due(), None);
    pace.arm(now);
    pace.arm(now + SECOND);
    assert_eq!(pace.due(), Some(now + 10 * SECOND));
    assert!(!pace.take(now + 9 * SECOND));
    assert!(pace.take(now + 11 * SECOND));
    assert_eq!(pace.due(), None, "nothing has changed since");
}

#[test]
fn what_has_waited_already_is_due_at_once_but_not_more_often_than_the_interval() {
    let (now, mut pace) = (Instant::now(), Pace::new(10 * SECOND));
    pace.arm_at_once(now);
    assert!(pace.take(now));
    pace.arm_at_once(now + SECOND);
    assert_eq!(pace.due(), Some(now + 10 * SECOND));
    pace.disarm();
    pace.arm_at_once(now + 60 * SECOND);
    assert_eq!(pace.due(), Some(now + 60 * SECOND));
}
