//! Dates, times and timestamps, read by their fixed positions.

use super::{Misfit, Parse};

const NANOS_A_SECOND: i64 = 1_000_000_000;

/// How timestamps are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimestampFormat {
    /// `2026-11-29 10:00:00.000`
    #[default]
    Sql,
    /// `2026-11-29T10:00:00.000`
    Iso8601,
}

/// Reads `DATE`: `2026-11-29`.
pub(in crate::format) struct Date {
    /// Whether `2026-1-5` is one too.
    pub(in crate::format) zeros_optional: bool,
}

/// Reads `TIME`: `10:00:00`, with up to nine digits of a fraction.
pub(in crate::format) struct Time {
    /// Whether `10:00` is one too.
    pub(in crate::format) seconds_optional: bool,
}

/// Reads `TIMESTAMP` and `TIMESTAMP_LTZ`.
pub(in crate::format) struct Timestamp {
    format: TimestampFormat,
    /// Whether a `Z` must end the text.
    zoned: bool,
    /// The unit: 1,000 for milliseconds.
    units_a_second: i64,
    /// What to do about a text in the other form.
    other_form: &'static str,
}

impl Timestamp {
    pub(in crate::format) fn new(
        format: TimestampFormat,
        zoned: bool,
        units_a_second: i64,
        other_form: &'static str,
    ) -> Self {
        Self { format, zoned, units_a_second, other_form }
    }

    fn units(&self, text: &[u8]) -> Result<i64, Misfit> {
        let local = match (self.zoned, text.split_last()) {
            (true, Some((b'Z', local))) => local,
            (true, _) => return Err(self.malformed(text)),
            (false, _) => text,
        };
        let separator = if self.format == TimestampFormat::Sql { b' ' } else { b'T' };
        let (Some(date), Some(time)) = (local.get(..10), local.get(11..)) else { return Err(self.malformed(text)) };
        if local[10] != separator {
            return Err(self.malformed(text));
        }
        let days = parse_date(date).ok_or_else(|| self.malformed(text))?;
        let seconds_optional = self.format == TimestampFormat::Iso8601;
        let (seconds, nanos) = parse_time(time, seconds_optional).ok_or_else(|| self.malformed(text))?;
        let units = (i64::from(days) * 86_400 + seconds).checked_mul(self.units_a_second);
        units
            .and_then(|units| units.checked_add(nanos / (NANOS_A_SECOND / self.units_a_second)))
            .ok_or_else(|| Misfit::new("is out of its range"))
    }

    /// What to say of a text that is no timestamp.
    #[cold]
    pub(in crate::format) fn malformed(&self, text: &[u8]) -> Misfit {
        let problem = match (self.format, self.zoned) {
            (TimestampFormat::Sql, false) => "is not a time like 2026-11-29 10:00:00.000",
            (TimestampFormat::Sql, true) => "is not a time like 2026-11-29 10:00:00.000Z",
            (TimestampFormat::Iso8601, false) => "is not a time like 2026-11-29T10:00:00.000",
            (TimestampFormat::Iso8601, true) => "is not a time like 2026-11-29T10:00:00.000Z",
        };
        let misfit = Misfit::new(problem);
        match (self.format, text.get(10), self.zoned, text.last()) {
            (TimestampFormat::Sql, Some(b'T'), ..) | (TimestampFormat::Iso8601, Some(b' '), ..) => {
                misfit.hint(self.other_form)
            }
            (_, _, false, Some(b'Z')) => misfit.hint("declare the column TIMESTAMP_LTZ, whose values end in Z"),
            (_, _, true, Some(b'0'..=b'9')) => misfit.hint("declare the column TIMESTAMP, whose values have no Z"),
            _ => misfit,
        }
    }
}

impl Parse<i64> for Timestamp {
    fn parse(&self, text: &[u8]) -> Result<Option<i64>, Misfit> {
        self.units(text).map(Some)
    }
}

impl Parse<i32> for Date {
    fn parse(&self, text: &[u8]) -> Result<Option<i32>, Misfit> {
        let date = parse_date(text).or_else(|| self.zeros_optional.then(|| parse_short_date(text))?);
        date.map(Some).ok_or_else(not_a_date)
    }
}

impl Parse<i32> for Time {
    fn parse(&self, text: &[u8]) -> Result<Option<i32>, Misfit> {
        let time = parse_time(text, self.seconds_optional);
        let milliseconds = time.map(|(seconds, nanos)| (seconds * 1_000 + nanos / 1_000_000) as i32);
        milliseconds.map(Some).ok_or_else(not_a_time)
    }
}

/// What to say of a text that is no date.
#[cold]
pub(in crate::format) fn not_a_date() -> Misfit {
    Misfit::new("is not a date like 2026-11-29")
}

/// What to say of a text that is no time of a day.
#[cold]
pub(in crate::format) fn not_a_time() -> Misfit {
    Misfit::new("is not a time like 10:00:00")
}

/// The days since 1970-01-01 of `yyyy-MM-dd`.
#[inline]
fn parse_date(text: &[u8]) -> Option<i32> {
    let text: &[u8; 10] = text.try_into().ok()?;
    let (year, month, day) =
        (two(text[0], text[1])? * 100 + two(text[2], text[3])?, two(text[5], text[6])?, two(text[8], text[9])?);
    if text[4] != b'-' || text[7] != b'-' || !(1..=12).contains(&month) || day < 1 || day > days_of_month(year, month) {
        return None;
    }
    Some(days_from_civil(year, month, day))
}

/// The days since 1970-01-01 of `yyyy-[M]M-[d]d`.
#[cold]
fn parse_short_date(text: &[u8]) -> Option<i32> {
    let mut parts = text.split(|byte| *byte == b'-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let padded = |part: &[u8]| match part {
        [ones] => Some([b'0', *ones]),
        [tens, ones] => Some([*tens, *ones]),
        _ => None,
    };
    let date = [year, &padded(month)?, &padded(day)?].join(&b'-');
    parts.next().is_none().then(|| parse_date(&date))?
}

/// The second of the day, and the nanoseconds past it, of `HH:mm:ss` with an optional fraction.
#[inline]
fn parse_time(text: &[u8], seconds_optional: bool) -> Option<(i64, i64)> {
    let (hour, minute) = (two(*text.first()?, *text.get(1)?)?, two(*text.get(3)?, *text.get(4)?)?);
    let (second, fraction) = match text.get(5..) {
        Some([b':', tens, ones, fraction @ ..]) => (two(*tens, *ones)?, fraction),
        Some([]) if seconds_optional => (0, &text[..0]),
        _ => return None,
    };
    if text[2] != b':' || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some((i64::from(hour * 3_600 + minute * 60 + second), parse_fraction(fraction)?))
}

/// The nanoseconds of `.123`, or of nothing.
#[inline]
fn parse_fraction(text: &[u8]) -> Option<i64> {
    let Some((point, digits)) = text.split_first() else { return Some(0) };
    if *point != b'.' || digits.len() > 9 {
        return None;
    }
    let mut nanos = 0;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        nanos = nanos * 10 + i64::from(digit);
    }
    Some(nanos * 10i64.pow(9 - digits.len() as u32))
}

/// The value of two digits.
#[inline]
fn two(tens: u8, ones: u8) -> Option<i32> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| i32::from(tens) * 10 + i32::from(ones))
}

fn days_of_month(year: i32, month: i32) -> i32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 1970-01-01 to a date of the Gregorian calendar, with years that start in March: the leap day is then
/// the last of its year.
fn days_from_civil(year: i32, month: i32, day: i32) -> i32 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The year, month and day that lie `days` after 1970-01-01.
pub(in crate::format) fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month as u32, day as u32)
}
