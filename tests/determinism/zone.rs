//! What clocks show, by asking for one instant after the other: the slow way, and the plain one.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::Tz;

/// By zone and local time.
type Passed = HashMap<(Option<Tz>, i64), i64>;

/// What clocks in the zone show at the instant, as if it were UTC.
pub fn local(zone: Option<Tz>, instant_ms: i64) -> i64 {
    let Some(zone) = zone else { return instant_ms };
    let utc = DateTime::from_timestamp_millis(instant_ms).unwrap().naive_utc();
    instant_ms + i64::from(zone.offset_from_utc_datetime(&utc).fix().local_minus_utc()) * 1000
}

/// The first instant after the last one at which clocks show less than `end_ms`.
pub fn passed(zone: Option<Tz>, end_ms: i64) -> i64 {
    static KNOWN: LazyLock<Mutex<Passed>> = LazyLock::new(Mutex::default);
    *KNOWN.lock().unwrap().entry((zone, end_ms)).or_insert_with(|| search(zone, end_ms))
}

/// No clock is more than 15 hours from UTC, so the last instant is that near; clocks change at whole minutes.
fn search(zone: Option<Tz>, end_ms: i64) -> i64 {
    let before = |instant_ms: &i64| local(zone, *instant_ms) < end_ms;
    let whole = (end_ms + 15 * 3_600_000).div_euclid(60_000);
    let last_minute = (whole - 30 * 60..=whole).rev().map(|minute| minute * 60_000).find(before).unwrap();
    (last_minute..last_minute + 60_000).rev().find(before).unwrap() + 1
}
