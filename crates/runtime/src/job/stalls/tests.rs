//! When a stall is told, by a clock of the test's own.

use super::*;

const AFTER: Duration = Duration::from_secs(30);

fn standing(table: &str, watermark: i64, rows: u64) -> Standing {
    let (table, partition) = (Arc::from(table), Some(Arc::from("part")));
    Standing { table, watermark: Watermark(watermark), partition, rows, ended: false }
}

/// What is told at each of the moments, in seconds.
struct Clock {
    start: Instant,
    stalls: Stalls,
}

impl Clock {
    fn new() -> Self {
        Self { start: Instant::now(), stalls: Stalls::new(AFTER) }
    }

    fn at(&mut self, seconds: u64, standings: &[Standing]) -> Vec<Stall> {
        self.stalls.look(self.start + Duration::from_secs(seconds), standings)
    }
}

#[test]
fn a_watermark_that_moves_is_never_told() {
    let mut clock = Clock::new();
    for minute in 0..100 {
        assert_eq!(clock.at(29 * minute, &[standing("a", minute as i64, minute)]), []);
    }
}

#[test]
fn a_stall_is_told_once_it_is_long_and_then_at_growing_intervals() {
    let mut clock = Clock::new();
    let told: Vec<u64> = (0..300).filter(|s| !clock.at(*s, &[standing("a", 7, 3)]).is_empty()).collect();
    assert_eq!(told, [30, 60, 120, 240]);
    // It moves, and the patience is the first again.
    assert_eq!(clock.at(300, &[standing("a", 8, 3)]), []);
    assert_eq!(clock.at(329, &[standing("a", 8, 3)]), []);
    assert_eq!(clock.at(330, &[standing("a", 8, 3)]).len(), 1);
}

#[test]
fn a_late_look_tells_once() {
    let mut clock = Clock::new();
    clock.at(0, &[standing("a", 7, 3)]);
    assert_eq!(clock.at(1000, &[standing("a", 7, 3)])[0].standing, Duration::from_secs(1000));
    assert_eq!(clock.at(1001, &[standing("a", 7, 3)]), []);
}

#[test]
fn it_is_said_whether_rows_come_and_who_waits() {
    let mut clock = Clock::new();
    clock.at(0, &[standing("a", 7, 3), standing("b", 1, 0)]);
    clock.at(10, &[standing("a", 9, 5), standing("b", 1, 0)]);
    let told = clock.at(30, &[standing("a", 9, 8), standing("b", 1, 0)]);
    assert_eq!(told.len(), 1);
    assert_eq!((&*told[0].table, told[0].watermark, told[0].cause), ("b", Watermark(1), StallCause::NoRows));
    assert_eq!(told[0].ahead, Some(("a".into(), Watermark(9))));
    let told = clock.at(40, &[standing("a", 9, 8), standing("b", 10, 1)]);
    assert_eq!((told[0].cause, told[0].standing), (StallCause::NoLaterRow(3), Duration::from_secs(30)));
    assert_eq!(told[0].ahead, Some(("b".into(), Watermark(10))));
}

#[test]
fn a_source_that_has_ended_holds_nothing_back() {
    let mut clock = Clock::new();
    let ended = Standing { ended: true, ..standing("a", 9, 1) };
    clock.at(0, &[standing("a", 1, 0), standing("b", 5, 0)]);
    let told = clock.at(100, &[ended.clone(), standing("b", 5, 0)]);
    assert_eq!(told.iter().map(|stall| &*stall.table).collect::<Vec<_>>(), ["b"]);
    assert_eq!(told[0].ahead, None);
    let told = clock.at(500, &[ended, standing("b", 5, 0)]);
    assert_eq!(told.iter().map(|stall| &*stall.table).collect::<Vec<_>>(), ["b"]);
}
