//! Local times against their definition: every instant near is asked what clocks show there.

use super::*;
use proptest::prelude::*;

const HOUR_MS: i64 = 3_600_000;

fn zone(name: &str) -> TimeZone {
    name.parse().unwrap()
}

fn utc(text: &str) -> i64 {
    NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").unwrap().and_utc().timestamp_millis()
}

#[test]
fn a_clock_that_is_put_forward_skips_an_hour() {
    let berlin = zone("Europe/Berlin");
    let jump = utc("2026-03-29 01:00:00");
    assert_eq!(berlin.local_ms(jump - 1), utc("2026-03-29 02:00:00") - 1);
    assert_eq!(berlin.local_ms(jump), utc("2026-03-29 03:00:00"));
    assert_eq!(berlin.instant_ms(utc("2026-03-29 02:30:00")), utc("2026-03-29 01:30:00"));
    for skipped in ["2026-03-29 02:00:00", "2026-03-29 02:30:00", "2026-03-29 03:00:00"] {
        assert_eq!(berlin.passed_ms(utc(skipped)), jump, "{skipped}");
    }
}

#[test]
fn a_clock_that_is_put_back_shows_an_hour_twice() {
    let berlin = zone("Europe/Berlin");
    let half_past_two = utc("2026-10-25 02:30:00");
    assert_eq!(berlin.instant_ms(half_past_two), utc("2026-10-25 00:30:00"));
    assert_eq!(berlin.passed_ms(half_past_two), utc("2026-10-25 01:30:00"));
    // Two o'clock is shown again, one millisecond to two is not.
    assert_eq!(berlin.passed_ms(utc("2026-10-25 02:00:00")), utc("2026-10-25 00:00:00"));
    assert_eq!(berlin.passed_ms(utc("2026-10-25 03:00:00")), utc("2026-10-25 02:00:00"));
}

#[test]
fn a_day_that_was_skipped_is_passed_at_once() {
    let apia = zone("Pacific/Apia");
    let jump = utc("2011-12-30 10:00:00");
    assert_eq!(apia.passed_ms(utc("2011-12-30 00:00:00")), jump);
    assert_eq!(apia.passed_ms(utc("2011-12-31 00:00:00")), jump);
}

#[test]
fn offsets_are_those_that_flink_takes() {
    assert_eq!(zone("GMT+02:00").local_ms(0), 2 * HOUR_MS);
    assert_eq!(zone("GMT-8"), zone("GMT-08:00"));
    assert_eq!(zone("GMT+02:00").to_string(), "GMT+02:00");
    for name in ["UTC", "GMT", "GMT+00:00"] {
        assert!(zone(name).is_utc(), "{name}");
    }
    let hint = |name: &str| TimeZone::from_str(name).unwrap_err().hint_text().unwrap().to_owned();
    assert_eq!(hint("+02:00"), "write 'GMT+02:00'");
    assert_eq!(hint("UTC+2"), "write 'GMT+2'");
    assert_eq!(hint("Europe/Berlinn"), "did you mean 'Europe/Berlin'?");
    for name in ["GMT+19:00", "GMT+02:60", "GMT+02:", "GMT+2:0", "GMT+", "GMT+é", "", "default"] {
        assert!(TimeZone::from_str(name).is_err(), "{name}");
    }
}

#[test]
fn what_no_calendar_reaches_stays_as_it_is() {
    for zone in [zone("Europe/Berlin"), zone("GMT+18:00"), zone("GMT-18:00"), TimeZone::UTC] {
        assert!(zone.passed_ms(i64::MAX) > i64::MAX / 2);
        assert!(zone.instant_ms(i64::MIN) < i64::MIN / 2);
        assert!(zone.local_ms(i64::MAX) > i64::MAX / 2);
    }
}

/// Instants around changes of every sort: an hour, half an hour, a day, the end of local mean time.
fn near_a_change() -> impl Strategy<Value = (TimeZone, i64)> {
    let change = prop_oneof![
        Just(("Europe/Berlin", "2026-03-29 01:00:00")),
        Just(("Europe/Berlin", "2026-10-25 01:00:00")),
        Just(("America/New_York", "2026-11-01 06:00:00")),
        Just(("Australia/Lord_Howe", "2026-04-04 15:00:00")),
        Just(("Australia/Lord_Howe", "2026-10-03 15:30:00")),
        Just(("Pacific/Apia", "2011-12-30 10:00:00")),
        Just(("Europe/Berlin", "1893-03-31 23:06:32")),
        Just(("GMT-03:30", "2026-01-01 00:00:00")),
    ];
    (change, -30 * 3600..30 * 3600i64).prop_map(|((name, at), second)| (zone(name), utc(at) + second * 1000))
}

proptest! {
    #[test]
    fn a_local_time_is_passed_when_no_instant_shows_an_earlier_one((zone, local) in near_a_change()) {
        let passed = zone.passed_ms(local);
        prop_assert!(zone.local_ms(passed - 1) < local);
        for minute in 0..60 * 60 {
            prop_assert!(zone.local_ms(passed + minute * 60_000) >= local);
        }
        if zone.local_ms(zone.instant_ms(local)) == local {
            prop_assert!(zone.instant_ms(local) < passed + 48 * HOUR_MS);
        }
    }

    #[test]
    fn every_instant_is_found_again_by_what_clocks_show_then((zone, instant) in near_a_change()) {
        let found = zone.instant_ms(zone.local_ms(instant));
        prop_assert!(found <= instant && zone.local_ms(found) == zone.local_ms(instant));
    }
}
