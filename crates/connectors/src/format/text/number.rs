//! Integers and floating-point numbers.

use std::marker::PhantomData;
use std::str::FromStr;

use super::{Misfit, Parse};

/// The digits of a number: `digits / 10^fraction * 10^exponent`, with its sign.
pub(in crate::format) struct Parts<'a> {
    pub(in crate::format) negative: bool,
    /// The digits before the point.
    pub(in crate::format) whole: &'a [u8],
    /// The digits after the point.
    pub(in crate::format) fraction: &'a [u8],
    pub(in crate::format) exponent: i64,
}

impl<'a> Parts<'a> {
    /// Splits a number as JSON or Java writes it (a plus and leading zeros included); `None` if it is not one.
    pub(in crate::format) fn split(text: &'a [u8]) -> Option<Self> {
        let (negative, rest) = match text.first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, rest) = leading_digits(rest);
        let (fraction, rest) = match rest.first() {
            Some(b'.') => leading_digits(&rest[1..]),
            _ => (&rest[..0], rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let exponent = match rest.first() {
            None => 0,
            Some(b'e' | b'E') => exponent(&rest[1..])?,
            Some(_) => return None,
        };
        Some(Self { negative, whole, fraction, exponent })
    }
}

fn leading_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len()))
}

/// The value of an exponent, held within bounds that no type reaches.
fn exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (digits, rest) = leading_digits(digits);
    if digits.is_empty() || !rest.is_empty() {
        return None;
    }
    let add = |value: i64, digit: &u8| (value * 10 + i64::from(digit - b'0')).min(1_000_000_000);
    let value = digits.iter().fold(0, add);
    Some(if negative { -value } else { value })
}

/// Reads `TINYINT`, `SMALLINT`, `INT` and `BIGINT`.
#[derive(Default)]
pub(in crate::format) struct Integer<T>(PhantomData<T>);

impl<T: TryFrom<i64>> Integer<T> {
    /// The number as the type has it.
    #[inline]
    pub(in crate::format) fn fit(&self, value: i64) -> Result<T, Misfit> {
        T::try_from(value).map_err(|_| out_of_range())
    }
}

impl<T: TryFrom<i64>> Parse<T> for Integer<T> {
    #[inline]
    fn parse(&self, text: &[u8]) -> Result<Option<T>, Misfit> {
        let value = match plain(text, 0) {
            Some((value, end)) if end == text.len() => value,
            _ => whole(text.trim_ascii())?,
        };
        self.fit(value).map(Some)
    }
}

/// The plain integer that stands at `start`, of at most 18 digits, which can't overflow, and where it ends; `None` for
/// anything else.
#[inline]
pub(in crate::format) fn plain(bytes: &[u8], start: usize) -> Option<(i64, usize)> {
    let negative = bytes.get(start) == Some(&b'-');
    let first = start + usize::from(negative);
    let mut at = first;
    let mut value: i64 = 0;
    while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
        at += 1;
    }
    let digits = at - first;
    let leading_zero = digits > 1 && bytes[first] == b'0';
    let goes_on = matches!(bytes.get(at), Some(b'.' | b'e' | b'E'));
    if digits == 0 || digits > 18 || leading_zero || goes_on {
        return None;
    }
    Some((if negative { -value } else { value }, at))
}

/// Any text of a whole number: `12`, `12.0`, `1e3`.
pub(in crate::format) fn whole(text: &[u8]) -> Result<i64, Misfit> {
    let parts = Parts::split(text).ok_or_else(|| Misfit::new("is not a whole number"))?;
    let digits = || parts.whole.iter().chain(parts.fraction);
    let count = (parts.whole.len() + parts.fraction.len()) as i64;
    // How many of the digits stand before the point, once the exponent has moved it.
    let kept = parts.whole.len() as i64 + parts.exponent;
    if digits().skip(kept.clamp(0, count) as usize).any(|digit| *digit != b'0') {
        return Err(Misfit::new("has a fraction").hint("declare the column DECIMAL or DOUBLE, or round the value"));
    }
    let mut value: i128 = 0;
    for digit in digits().take(kept.clamp(0, count) as usize) {
        value = value * 10 + i128::from(digit - b'0');
        if value > i128::from(u64::MAX) {
            return Err(out_of_range());
        }
    }
    for _ in count..kept {
        if value == 0 {
            break;
        }
        value *= 10;
        if value > i128::from(u64::MAX) {
            return Err(out_of_range());
        }
    }
    i64::try_from(if parts.negative { -value } else { value }).map_err(|_| out_of_range())
}

#[cold]
fn out_of_range() -> Misfit {
    Misfit::new("is out of its range")
}

/// Reads `FLOAT` and `DOUBLE`.
pub(in crate::format) struct Float;

/// What the two floating-point types differ in.
pub(in crate::format) trait Floating: FromStr + Copy {
    const NAN: Self;
    const INFINITY: Self;
    fn finite(self) -> bool;
    fn negated(self) -> Self;
}

macro_rules! floating {
    ($type:ty) => {
        impl Floating for $type {
            const NAN: Self = <$type>::NAN;
            const INFINITY: Self = <$type>::INFINITY;
            fn finite(self) -> bool {
                self.is_finite()
            }
            fn negated(self) -> Self {
                -self
            }
        }
    };
}
floating!(f32);
floating!(f64);

impl<T: Floating> Parse<T> for Float {
    fn parse(&self, text: &[u8]) -> Result<Option<T>, Misfit> {
        match text.trim_ascii() {
            b"NaN" => Ok(Some(T::NAN)),
            b"Infinity" | b"+Infinity" => Ok(Some(T::INFINITY)),
            b"-Infinity" => Ok(Some(T::INFINITY.negated())),
            // Rust also takes words such as "inf".
            text if Parts::split(text).is_some() => number(text).map(Some),
            _ => Err(Misfit::new("is not a number")),
        }
    }
}

/// The value of a text that is known to be a number.
pub(in crate::format) fn number<T: Floating>(text: &[u8]) -> Result<T, Misfit> {
    let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<T>().ok());
    match value {
        Some(value) if value.finite() => Ok(value),
        Some(_) => Err(out_of_range()),
        None => Err(Misfit::new("is not a number")),
    }
}
