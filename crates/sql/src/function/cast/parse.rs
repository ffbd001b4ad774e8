//! Values of texts, in the forms that Flink's casts read. `None` is a text that is no such value.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, Timelike};

pub(super) fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "1" => Some(true),
        "f" | "false" | "n" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// Digits behind a point are cut off.
pub(super) fn integer(text: &str) -> Option<i128> {
    let text = text.trim();
    let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
    let unsigned = whole.strip_prefix(['+', '-']).unwrap_or(whole);
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(unsigned) || !digits(behind) || unsigned.is_empty() && behind.is_empty() {
        return None;
    }
    let value = if unsigned.is_empty() { 0 } else { unsigned.parse::<i128>().ok()? };
    Some(if whole.starts_with('-') { -value } else { value })
}

pub(super) fn double(text: &str) -> Option<f64> {
    match text.trim() {
        "NaN" => Some(f64::NAN),
        "Infinity" | "+Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        text if is_number(text) => text.parse().ok(),
        _ => None,
    }
}

/// A FLOAT of a text is finite.
pub(super) fn float(text: &str) -> Option<f32> {
    let text = text.trim();
    if is_number(text) { text.parse().ok().filter(|value: &f32| value.is_finite()) } else { None }
}

/// Not one of the words that Rust reads as a number too.
fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'))
}

/// The decimal with this scale, times ten to its power; rounded half away from zero.
pub(super) fn decimal(text: &str, scale: i8) -> Option<i128> {
    let text = text.trim();
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, Some(0)), |(m, e)| (m, e.parse::<i32>().ok()));
    let unsigned = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
    let (whole, behind) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{whole}{behind}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Where the point stands among the digits once the scale is applied.
    let kept = i32::try_from(whole.len()).ok()?.checked_add(exponent?)?.checked_add(i32::from(scale))?;
    let digits = digits.trim_start_matches('0');
    let leading = i32::try_from(whole.len() + behind.len() - digits.len()).ok()?;
    let kept = kept - leading;
    let value = match usize::try_from(kept) {
        _ if digits.is_empty() => 0,
        Err(_) => 0,
        Ok(kept) if kept > 39 => return None,
        Ok(kept) if kept >= digits.len() => {
            let power = 10i128.checked_pow(u32::try_from(kept - digits.len()).ok()?)?;
            digits.parse::<i128>().ok()?.checked_mul(power)?
        }
        Ok(kept) => {
            let up = i128::from(digits.as_bytes()[kept] >= b'5');
            let head = if kept == 0 { 0 } else { digits[..kept].parse::<i128>().ok()? };
            head.checked_add(up)?
        }
    };
    Some(if mantissa.starts_with('-') { -value } else { value })
}

/// Days since 1970: `2024-2-9`, also `2024-02` and `2024` for their first day; what follows a space is not read.
pub(super) fn date(text: &str) -> Option<i32> {
    let date = calendar_date(text.trim().split(' ').next()?, 1)?;
    i32::try_from(date.signed_duration_since(NaiveDate::default()).num_days()).ok()
}

/// Years from 1 to 9999; as many parts as are required, the others 1.
fn calendar_date(text: &str, required: usize) -> Option<NaiveDate> {
    let parts = text.split('-').map(number).collect::<Option<Vec<u32>>>()?;
    if parts.len() > 3 || parts.len() < required {
        return None;
    }
    let part = |index: usize| parts.get(index).copied().unwrap_or(1);
    let year = i32::try_from(part(0)).ok().filter(|year| (1..=9999).contains(year))?;
    NaiveDate::from_ymd_opt(year, part(1), part(2))
}

fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Milliseconds of the day: `10:11:12.5`, also `10:11` and `10`.
pub(super) fn time(text: &str) -> Option<i32> {
    let time = time_of_day(text.trim(), 1)?;
    i32::try_from(time.num_seconds_from_midnight() * 1_000 + time.nanosecond() / 1_000_000).ok()
}

fn time_of_day(text: &str, required: usize) -> Option<NaiveTime> {
    let (clock, fraction) = text.split_once('.').map_or((text, None), |(clock, fraction)| (clock, Some(fraction)));
    let parts = clock.split(':').map(number).collect::<Option<Vec<u32>>>()?;
    if parts.len() > 3 || parts.len() < required || fraction.is_some() && parts.len() < 3 {
        return None;
    }
    let part = |index: usize| parts.get(index).copied().unwrap_or(0);
    NaiveTime::from_hms_nano_opt(part(0), part(1), part(2), nanoseconds(fraction.unwrap_or_default())?)
}

/// Of the digits behind a second; those behind the ninth are cut off.
fn nanoseconds(digits: &str) -> Option<u32> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{digits:0<9}")[..9].parse().ok()
}

/// A local time: `2024-02-29 10:11:12.123456789`, or the date alone.
pub(super) fn timestamp(text: &str) -> Option<NaiveDateTime> {
    let (date, time) = text.split_once(' ').map_or((text, None), |(date, time)| (date, Some(time)));
    let time = time.map_or(Some(NaiveTime::MIN), |time| time_of_day(time, 3))?;
    Some(calendar_date(date, 3)?.and_time(time))
}
