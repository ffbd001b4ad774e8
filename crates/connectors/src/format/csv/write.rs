//! Decimals as Flink writes them: without the zeros at their end, and with an exponent where they are large or small.

use crate::format::text::write::{write_decimal, write_display};

/// The largest number of zeros behind the point before the first digit, in a decimal without an exponent.
const MAX_LEADING_ZEROS: i64 = 6;

/// Appends a decimal. With `scientific` it may have an exponent, as Java's `BigDecimal` has it: 100000 is `1E+5`, and
/// 0.0000001 is `1E-7`.
pub(super) fn write_stripped(unscaled: i128, scale: i8, scientific: bool, out: &mut Vec<u8>) {
    let (mut digits, mut scale) = (unscaled, i64::from(scale));
    while digits != 0 && digits % 10 == 0 {
        digits /= 10;
        scale -= 1;
    }
    if digits == 0 {
        scale = 0;
    }
    let text = digits.unsigned_abs().to_string();
    let exponent = text.len() as i64 - 1 - scale;
    if scientific && (scale < 0 || exponent < -MAX_LEADING_ZEROS) {
        write_scientific(digits < 0, &text, exponent, out);
        return;
    }
    // The zeros before the point come back.
    let digits = (scale..0).fold(digits, |digits, _| digits * 10);
    write_decimal(digits, scale.max(0) as i8, out);
}

fn write_scientific(negative: bool, digits: &str, exponent: i64, out: &mut Vec<u8>) {
    let (first, rest) = digits.split_at(1);
    let sign = if negative { "-" } else { "" };
    let point = if rest.is_empty() { "" } else { "." };
    write_display(format_args!("{sign}{first}{point}{rest}E{exponent:+}"), out);
}
