//! Numbers and times as a person reads them: `12,345`, `1,234.50`, `09:41`.

use arrow::temporal_conversions::timestamp_ms_to_datetime;

/// Hours and minutes of a moment, in milliseconds since 1970.
pub(super) fn clock(ms: i64) -> String {
    formatted(ms, "%H:%M")
}

/// Hours, minutes and seconds of a moment, in milliseconds since 1970.
pub(super) fn clock_with_seconds(ms: i64) -> String {
    formatted(ms, "%H:%M:%S")
}

fn formatted(ms: i64, form: &str) -> String {
    timestamp_ms_to_datetime(ms).map_or_else(|| format!("{ms} ms"), |time| time.format(form).to_string())
}

/// An amount with its cents.
pub(super) fn money(cents: i128) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    let cents = cents.unsigned_abs();
    format!("{sign}{}.{:02}", grouped(cents / 100), cents % 100)
}

/// A number with its thousands apart.
pub(super) fn grouped(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count that SQL gave as BIGINT; none is below zero.
pub(super) fn counted(number: i64) -> String {
    grouped(number.max(0).unsigned_abs())
}

/// Whole percent of a share.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", (share * 100.0).clamp(0.0, 100.0))
}

#[cfg(test)]
mod tests;
