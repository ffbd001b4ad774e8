//! Times in the forms that need no pattern, and the names of time zones in calls.

use std::sync::LazyLock;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use tidemill_runtime::time_zone::TimeZone;

use super::pattern::{self, Pattern};

/// `2024-02-29 13:04:05[.123456789]` or `2024-02-29`; month, day, hour, minute and second may have one digit.
pub(super) fn timestamp(text: &str) -> Option<NaiveDateTime> {
    match text.split_once(' ') {
        None => date(text),
        Some((day, clock)) => Some(day_of(day, pattern::date)?.and_time(time(clock)?)),
    }
}

/// Midnight of `2024-02-29`, behind which a clock may stand; month and day may have one digit.
pub(super) fn date(text: &str) -> Option<NaiveDateTime> {
    let (day, _) = text.split_once(' ').unwrap_or((text, ""));
    Some(day_of(day, NaiveDate::from_ymd_opt)?.and_time(NaiveTime::MIN))
}

/// The front of a text, which shows `2024-02-29 13:04:05`.
pub(super) fn date_and_clock(text: &str) -> Option<NaiveDateTime> {
    static FORM: LazyLock<Option<Pattern>> = LazyLock::new(|| Pattern::new("yyyy-MM-dd HH:mm:ss").ok());
    FORM.as_ref()?.parse_front(text)
}

fn day_of(text: &str, date: impl Fn(i32, u32, u32) -> Option<NaiveDate>) -> Option<NaiveDate> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 {
        return None;
    }
    date(number(year)?.cast_signed(), short(month)?, short(day)?)
}

fn time(text: &str) -> Option<NaiveTime> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = clock.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || fraction.len() > 9 {
        return None;
    }
    let nanosecond = number(&format!("{fraction:0<9}"))?;
    NaiveTime::from_hms_nano_opt(short(hour)?, short(minute)?, short(second)?, nanosecond)
}

fn number(digits: &str) -> Option<u32> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn short(digits: &str) -> Option<u32> {
    (1..=2).contains(&digits.len()).then(|| number(digits))?
}

/// A zone by its name or its offset; what nobody knows is GMT, as for Java.
pub(super) fn zone(name: &str) -> TimeZone {
    name.parse().unwrap_or(TimeZone::UTC)
}
