//! Decimal division as Flink does it for `AVG`.

use arrow::datatypes::i256;

#[cfg(test)]
mod tests;

const MAX_DIGITS: u32 = 38;

/// A number of at most 38 digits.
pub(super) fn in_range(value: i256) -> Option<i128> {
    value.to_i128().filter(|value| value.unsigned_abs() < 10u128.pow(MAX_DIGITS))
}

/// `total / count` with `more` digits after those of `total`; `None` if it has more than 38 digits.
///
/// Flink rounds twice, half up each time: to 38 significant digits (`MathContext(38, HALF_UP)`), then to the scale.
pub(super) fn decimal(total: i256, count: i64, more: u32) -> Option<i128> {
    let (magnitude, divisor) = (total.wrapping_abs(), i256::from_i128(i128::from(count).abs()));
    let negative = total.is_negative() != (count < 0);
    let (quotient, exponent) = significant(magnitude, divisor)?;
    let rounded = if exponent > more {
        half_up(quotient, power_of_ten(exponent - more)?)?
    } else {
        quotient.checked_mul(power_of_ten(more - exponent)?)?
    };
    in_range(if negative { rounded.wrapping_neg() } else { rounded })
}

/// `magnitude / divisor * 10^exponent`, rounded half up to 38 digits, and the exponent.
fn significant(magnitude: i256, divisor: i256) -> Option<(i256, u32)> {
    if magnitude == i256::ZERO {
        return Some((i256::ZERO, 0));
    }
    // The quotient has `digits(magnitude) - digits(divisor)` digits, or one more.
    let exponent = (MAX_DIGITS - 1 + digits(divisor)).saturating_sub(digits(magnitude));
    let scaled = |exponent| magnitude.checked_mul(power_of_ten(exponent)?);
    let enough = power_of_ten(MAX_DIGITS - 1)?;
    let exponent = if scaled(exponent)?.checked_div(divisor)? < enough { exponent + 1 } else { exponent };
    Some((half_up(scaled(exponent)?, divisor)?, exponent))
}

fn half_up(dividend: i256, divisor: i256) -> Option<i256> {
    let quotient = dividend.checked_div(divisor)?;
    let rest = dividend.checked_rem(divisor)?;
    // Not `2 * rest`, which could overflow.
    Some(if rest >= divisor.wrapping_sub(rest) { quotient.wrapping_add(i256::ONE) } else { quotient })
}

fn power_of_ten(exponent: u32) -> Option<i256> {
    i256::from_i128(10).checked_pow(exponent)
}

fn digits(mut value: i256) -> u32 {
    let low = i256::from_i128(10i128.pow(MAX_DIGITS));
    let mut above = 0;
    while value >= low {
        value = value.wrapping_div(low);
        above += MAX_DIGITS;
    }
    above + value.as_i128().checked_ilog10().map_or(0, |digits| digits + 1)
}
