//! What one value in text is.

use arrow::datatypes::TimeUnit;

use super::{MAX_DIGITS, Seen};
use crate::format::text::Parse;
use crate::format::text::temporal::{Date, Timestamp, TimestampFormat};
use crate::format::text::values::boolean;

/// A number of JSON, as it stands there.
pub(in crate::format) fn of_json_number(text: &str) -> Seen {
    if text.contains(['.', 'e', 'E']) { Seen::Number } else { whole_number(text) }
}

/// The inside of a string of JSON: a moment, a date, or text.
pub(in crate::format) fn of_json_string(text: &str) -> Seen {
    moment(text, &[TimestampFormat::Iso8601, TimestampFormat::Sql])
}

/// A field of CSV. A number that begins with a zero is text: it is a code, and loses the zero as a number.
pub(crate) fn of_text(text: &str) -> Seen {
    if text.is_empty() {
        return Seen::Nothing;
    }
    // Blanks around a value belong to it only where it is text.
    let value = text.trim_ascii();
    let digits = value.strip_prefix('-').unwrap_or(value);
    let coded = digits.len() > 1 && digits.starts_with('0') && !digits[1..].starts_with(['.', 'e', 'E']);
    if boolean(value.as_bytes()).is_ok() {
        Seen::Boolean
    } else if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        if coded { Seen::Text } else { whole_number(value) }
    } else if !coded && is_number(value) {
        Seen::Number
    } else {
        moment(value, &[TimestampFormat::Sql])
    }
}

fn whole_number(text: &str) -> Seen {
    match text.parse::<i64>() {
        Ok(_) => Seen::Integer,
        Err(_) if text.trim_start_matches('-').len() <= MAX_DIGITS => Seen::LongInteger,
        Err(_) => Seen::Number,
    }
}

/// Rust reads `inf` and `nan` too, which are no numbers here.
fn is_number(text: &str) -> bool {
    let numeric = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    text.bytes().all(numeric) && text.parse::<f64>().is_ok_and(f64::is_finite)
}

fn moment(text: &str, formats: &[TimestampFormat]) -> Seen {
    if (Date { zeros_optional: false }).parse(text.as_bytes()).is_ok() {
        return Seen::Date;
    }
    let zoned = text.ends_with('Z');
    let read = |format: &&TimestampFormat| {
        let timestamp = Timestamp::new(**format, zoned, 1_000, "");
        timestamp.parse(text.as_bytes()).is_ok()
    };
    match formats.iter().find(read) {
        Some(format) => Seen::Timestamp { format: *format, zoned, unit: unit(text) },
        None => Seen::Text,
    }
}

/// The coarsest unit that keeps the digits behind the seconds; milliseconds at least, which event time has.
fn unit(moment: &str) -> TimeUnit {
    let digits = moment.split_once('.').map_or(0, |(_, fraction)| fraction.trim_end_matches('Z').len());
    match digits {
        0..=3 => TimeUnit::Millisecond,
        4..=6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    }
}
