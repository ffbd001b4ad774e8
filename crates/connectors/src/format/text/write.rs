//! How scalar values look as text.

use std::io::Write;

use super::temporal::{TimestampFormat, civil_from_days};

/// Appends what a value prints.
pub(in crate::format) fn write_display(value: impl std::fmt::Display, out: &mut Vec<u8>) {
    write!(out, "{value}").expect("writing to memory does not fail");
}

/// Appends the shortest text that reads back as the number, which is `shortest` if it is finite; `mark` stands around
/// the names of those that are not.
pub(in crate::format) fn write_float(value: f64, shortest: &str, mark: &[u8], out: &mut Vec<u8>) {
    if value.is_finite() {
        out.extend_from_slice(shortest.as_bytes());
        return;
    }
    let name: &[u8] = match (value.is_nan(), value > 0.0) {
        (true, _) => b"NaN",
        (false, true) => b"Infinity",
        (false, false) => b"-Infinity",
    };
    for part in [mark, name, mark] {
        out.extend_from_slice(part);
    }
}

/// Appends all the digits of a decimal.
pub(in crate::format) fn write_decimal(unscaled: i128, scale: i8, out: &mut Vec<u8>) {
    if unscaled < 0 {
        out.push(b'-');
    }
    let scale = usize::from(scale.unsigned_abs());
    // At least one digit stands before the point.
    let digits = format!("{:0width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    out.extend_from_slice(whole.as_bytes());
    if !fraction.is_empty() {
        out.push(b'.');
        out.extend_from_slice(fraction.as_bytes());
    }
}

/// Appends a timestamp that counts units of `10^-digits` seconds.
pub(in crate::format) fn write_timestamp(
    value: i64,
    digits: usize,
    zoned: bool,
    format: TimestampFormat,
    out: &mut Vec<u8>,
) {
    let units_a_day = 86_400 * 10i64.pow(digits as u32);
    let (days, units) = (value.div_euclid(units_a_day), value.rem_euclid(units_a_day));
    write_date(days, out);
    out.push(if format == TimestampFormat::Sql { b' ' } else { b'T' });
    write_time(units * 10i64.pow(9 - digits as u32), digits, out);
    if zoned {
        out.push(b'Z');
    }
}

/// Appends `yyyy-MM-dd`; a year of more than four digits has a plus, as in ISO 8601.
pub(in crate::format) fn write_date(days: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil_from_days(days);
    match year {
        0..=9_999 => write_digits(year, 4, out),
        10_000.. => write_display(format_args!("+{year}"), out),
        _ => write_display(format_args!("-{:04}", year.unsigned_abs()), out),
    }
    out.push(b'-');
    write_digits(i64::from(month), 2, out);
    out.push(b'-');
    write_digits(i64::from(day), 2, out);
}

/// Appends `HH:mm:ss` and `digits` digits of the fraction.
pub(in crate::format) fn write_time(nanos_of_day: i64, digits: usize, out: &mut Vec<u8>) {
    let (seconds, nanos) = (nanos_of_day / 1_000_000_000, nanos_of_day % 1_000_000_000);
    write_digits(seconds / 3_600, 2, out);
    out.push(b':');
    write_digits(seconds / 60 % 60, 2, out);
    out.push(b':');
    write_digits(seconds % 60, 2, out);
    if digits > 0 {
        out.push(b'.');
        write_digits(nanos / 10i64.pow(9 - digits as u32), digits, out);
    }
}

/// Appends the last `width` digits of a number that is not negative.
fn write_digits(value: i64, width: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + width, b'0');
    let mut rest = value;
    for digit in out[start..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}
