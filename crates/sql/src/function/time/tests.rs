//! Units and patterns against counting by days and against the calendar of `chrono`.

use chrono::{Datelike, NaiveDateTime, Timelike};
use proptest::prelude::*;

use super::pattern::Pattern;
use super::text;
use super::unit::Unit;
use super::value::local;

fn times() -> impl Strategy<Value = NaiveDateTime> {
    (-4_000_000_000_000..8_000_000_000_000i64).prop_map(|ms| local(ms, 0).unwrap())
}

fn cutting() -> impl Strategy<Value = Unit> {
    let units: Vec<Unit> = Unit::ALL.iter().map(|(unit, _)| *unit).filter(|unit| unit.cuts()).collect();
    prop::sample::select(units)
}

/// The units that TIMESTAMPADD takes: five hundred of larger ones pass the end of the calendar.
fn adding() -> impl Strategy<Value = Unit> {
    cutting().prop_filter("adds", |unit| unit.adds())
}

proptest! {
    #[test]
    fn a_time_lies_between_its_floor_and_its_ceil(time in times(), unit in cutting()) {
        let (floor, ceil) = (unit.floor(time).unwrap(), unit.ceil(time).unwrap());
        prop_assert!(floor <= time && time <= ceil);
        prop_assert_eq!(unit.floor(floor), Some(floor));
        prop_assert_eq!(unit.ceil(floor), Some(floor));
        prop_assert!(ceil == time || unit.add(floor, 1) == Some(ceil));
        prop_assert!(time.date() == floor.date() || floor.time() == chrono::NaiveTime::MIN);
    }

    #[test]
    fn what_was_added_lies_between(time in times(), count in -500..500i64, unit in adding()) {
        let later = unit.add(time, count).unwrap();
        // A day that a month lacks is cut off, and never brought back.
        let cut = later.day() < time.day();
        prop_assert!(unit.between(time, later) == count || cut && unit.between(time, later).abs() <= count.abs() + 1);
        prop_assert_eq!(unit.between(time, later), -unit.between(later, time));
    }

    #[test]
    fn whole_months_do_not_pass_the_later_time(a in times(), b in times()) {
        let (from, to) = (a.min(b), a.max(b));
        let months = Unit::Month.between(from, to);
        prop_assert!(Unit::Month.add(from, months).unwrap() <= to);
        prop_assert!(Unit::Month.add(from, months + 1).unwrap() > to);
    }

    #[test]
    fn a_pattern_reads_what_it_writes(time in times()) {
        for pattern in ["yyyy-MM-dd HH:mm:ss.SSS", "yyyyMMddHHmmssSSS", "d.M.yyyy h:m:s.SSS a", "E, dd MMM uuuu kk:mm:ss.SSS", "yyyy DDD K a mm ss SSS"] {
            let pattern = Pattern::new(pattern).unwrap();
            prop_assert_eq!(pattern.parse(&pattern.format(time)), Some(time), "{}", pattern.format(time));
        }
    }

    #[test]
    fn any_text_is_no_panic(pattern in "[yuMdDEaHhKkmsS' :.-]{0,12}", text in "\\PC{0,20}") {
        if let Ok(pattern) = Pattern::new(&pattern) {
            pattern.parse(&text);
            pattern.parse_front(&text);
        }
        text::timestamp(&text);
        text::date(&text);
        text::zone(&text);
    }

    #[test]
    fn parts_make_the_time(time in times()) {
        let part = |unit: Unit| unit.part_of(time);
        prop_assert_eq!(part(Unit::Epoch), time.and_utc().timestamp());
        prop_assert_eq!(part(Unit::Hour) * 60 + part(Unit::Minute), i64::from(time.num_seconds_from_midnight() / 60));
        let first = Unit::Year.floor(time).unwrap();
        prop_assert_eq!(part(Unit::DayOfYear), (time.date() - first.date()).num_days() + 1);
        let sunday = Unit::Week.floor(time).unwrap();
        prop_assert_eq!(part(Unit::DayOfWeek), (time.date() - sunday.date()).num_days() + 1);
    }
}

#[test]
fn letters_without_a_meaning_are_refused() {
    for pattern in ["no", "YYYY", "yyyy [x", "'open", "w", "SSSSSSSSSS", "Z"] {
        assert!(Pattern::new(pattern).is_err(), "{pattern}");
    }
}
