//! From an exact sum to a float: one division, one rounding.

use std::num::NonZero;

use super::{
    LOWEST,
    wide::{LIMBS, Magnitude},
};

/// A float type that a sum rounds to.
pub trait Float: Default {
    /// The bits of the mantissa, with the hidden one.
    const MANTISSA_BITS: i32;
    /// The exponent of the smallest positive value.
    const LOWEST: i32;

    /// The positive float of these bits, or infinity where they are beyond it; negated if asked for.
    fn from_magnitude(bits: u64, negative: bool) -> Self;

    /// A NaN or an infinity.
    fn from_special(special: f64) -> Self;
}

impl Float for f64 {
    const MANTISSA_BITS: i32 = 53;
    const LOWEST: i32 = LOWEST;

    fn from_magnitude(bits: u64, negative: bool) -> Self {
        let magnitude = f64::from_bits(bits.min(f64::INFINITY.to_bits()));
        if negative { -magnitude } else { magnitude }
    }

    fn from_special(special: f64) -> Self {
        special
    }
}

impl Float for f32 {
    const MANTISSA_BITS: i32 = 24;
    const LOWEST: i32 = -149;

    fn from_magnitude(bits: u64, negative: bool) -> Self {
        let infinity = f32::INFINITY.to_bits();
        let magnitude = f32::from_bits(u32::try_from(bits).unwrap_or(infinity).min(infinity));
        if negative { -magnitude } else { magnitude }
    }

    fn from_special(special: f64) -> Self {
        special as f32
    }
}

/// `top * 2^exponent`, and something less than one unit of `top` if `inexact`. The highest bit of `top` is set.
pub(super) struct Normalized {
    negative: bool,
    top: u128,
    exponent: i32,
    inexact: bool,
}

impl Normalized {
    pub(super) fn of_window(window: i128, base: i32) -> Option<Self> {
        let magnitude = window.unsigned_abs();
        let zeros = magnitude.leading_zeros();
        (magnitude != 0).then(|| Self {
            negative: window < 0,
            top: magnitude << zeros,
            exponent: base + LOWEST - zeros as i32,
            inexact: false,
        })
    }

    pub(super) fn of_limbs(sum: &Magnitude) -> Option<Self> {
        let highest = (0..LIMBS).rev().find(|&place| sum.limbs[place] != 0)?;
        let limb = |below: usize| highest.checked_sub(below).map_or(0, |place| sum.limbs[place]);
        let zeros = limb(0).leading_zeros();
        let four = (0..4).fold(0, |top, below| top << 32 | u128::from(limb(below)));
        let fifth = u64::from(limb(4)) << zeros;
        let rest = &sum.limbs[..highest.saturating_sub(4)];
        Some(Self {
            negative: sum.negative,
            top: four << zeros | u128::from(fifth >> 32),
            exponent: 32 * (highest as i32 - 3) + LOWEST - zeros as i32,
            inexact: fifth as u32 != 0 || rest.iter().any(|&limb| limb != 0),
        })
    }

    /// The quotient, to the nearest float, ties to even.
    pub(super) fn divided_by<F: Float>(&self, divisor: NonZero<u64>) -> F {
        let divisor = u128::from(divisor.get());
        // At least 64 bits: more than any mantissa and the bit that decides.
        let quotient = self.top / divisor;
        let inexact = self.inexact || !self.top.is_multiple_of(divisor);
        let bits = (u128::BITS - quotient.leading_zeros()) as i32;
        let unit = (self.exponent + bits - F::MANTISSA_BITS).max(F::LOWEST);
        let shift = (unit - self.exponent) as u32;
        if shift >= u128::BITS {
            return F::default(); // less than half of the smallest float
        }
        let (kept, dropped, half) = (quotient >> shift, quotient & ((1 << shift) - 1), 1 << (shift - 1));
        let up = dropped > half || dropped == half && (inexact || kept & 1 == 1);
        let mantissa = (kept + u128::from(up)) as u64;
        // The hidden bit of a normal mantissa, and the carry of one that was rounded up, add one to the exponent.
        let magnitude = ((unit - F::LOWEST) as u64) << (F::MANTISSA_BITS - 1);
        F::from_magnitude(magnitude + mantissa, self.negative)
    }
}
