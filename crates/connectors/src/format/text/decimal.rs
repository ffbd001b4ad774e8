//! `DECIMAL`: from the text, never through a floating-point number.

use super::number::Parts;
use super::{Misfit, Parse};

/// Reads `DECIMAL(precision, scale)`, rounding half up. As in Flink, a number with more digits before the point than
/// the type has room for is NULL.
pub(in crate::format) struct Decimal {
    precision: i64,
    scale: i64,
    /// The first unscaled value that has too many digits.
    limit: i128,
    nullable: bool,
}

impl Decimal {
    /// `precision` is 1 to 38, as Arrow has it.
    pub(in crate::format) fn new(precision: u8, scale: i8, nullable: bool) -> Self {
        let limit = 10i128.checked_pow(u32::from(precision)).unwrap_or(i128::MAX);
        Self { precision: i64::from(precision), scale: i64::from(scale), limit, nullable }
    }

    /// The unscaled value; `None` if it does not fit.
    fn unscaled(&self, parts: &Parts<'_>) -> Option<i128> {
        let zeros = leading_zeros(parts);
        let digits = || parts.whole.iter().chain(parts.fraction).skip(zeros).map(|digit| i128::from(digit - b'0'));
        let count = (parts.whole.len() + parts.fraction.len() - zeros) as i64;
        // How many of the digits are left, once the point has moved behind the last digit of the scale.
        let kept = count - parts.fraction.len() as i64 + parts.exponent + self.scale;
        if count == 0 || kept < 0 {
            return Some(0);
        }
        if kept > self.precision {
            return None;
        }
        let taken = kept.min(count) as usize;
        let mut value = digits().take(taken).fold(0, |value, digit| value * 10 + digit);
        for _ in count..kept {
            value *= 10;
        }
        if digits().nth(taken).is_some_and(|digit| digit >= 5) {
            value += 1;
        }
        (value < self.limit).then_some(if parts.negative { -value } else { value })
    }
}

fn leading_zeros(parts: &Parts<'_>) -> usize {
    let digits = parts.whole.iter().chain(parts.fraction);
    digits.take_while(|digit| **digit == b'0').count()
}

impl Parse<i128> for Decimal {
    fn parse(&self, text: &[u8]) -> Result<Option<i128>, Misfit> {
        let parts = Parts::split(text.trim_ascii()).ok_or_else(|| Misfit::new("is not a number"))?;
        match self.unscaled(&parts) {
            None if !self.nullable => Err(Misfit::new("has too many digits for it, and the column is NOT NULL")
                .hint("declare more digits, or drop NOT NULL to read such values as NULL")),
            value => Ok(value),
        }
    }
}
