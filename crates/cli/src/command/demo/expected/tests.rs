use super::*;

/// Minutes that had `half` of 100 orders when the watermark was in their middle.
fn minutes(halves: &[i64]) -> Expected {
    let mut expected = Expected::default();
    for (minute, &half) in (1..).zip(halves) {
        let end_ms = minute * 60_000;
        expected.observe(end_ms, 0, 0);
        expected.observe(end_ms, 30_000, half);
        expected.finish(end_ms, |_| Some(100));
    }
    expected
}

#[test]
fn a_minute_is_as_full_as_those_before_it_were() {
    let seen = minutes(&[40, 50, 60]).seen_at(45_000).unwrap();
    assert!((seen.mean - 0.5).abs() < 1e-9);
    assert_eq!((seen.least, seen.most, seen.minutes), (0.4, 0.6, 3));
    assert_eq!(minutes(&[40, 50, 60]).seen_at(29_999).unwrap().most, 0.0);
}

#[test]
fn two_minutes_say_nothing() {
    assert_eq!(minutes(&[40, 60]).seen_at(45_000), None);
}

#[test]
fn only_the_last_twenty_count() {
    let halves: Vec<i64> = [10; 5].into_iter().chain([50; 20]).collect();
    assert_eq!(minutes(&halves).seen_at(30_000).unwrap(), Seen { mean: 0.5, least: 0.5, most: 0.5, minutes: 20 });
}

#[test]
fn a_minute_without_orders_says_nothing() {
    let mut expected = minutes(&[40, 50]);
    expected.observe(600_000, 30_000, 0);
    expected.finish(600_000, |_| None);
    assert_eq!(expected.seen_at(45_000), None);
}
