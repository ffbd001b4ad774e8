//! An exact sum of floats: the same bits whatever the order, the batches and the tree of merges.
//!
//! Every finite `f64` is a multiple of 2^-1074 below 2^1024, so a fixed-point number of some 2,200 bits holds any
//! sum without rounding: the superaccumulator of R. Neal, "Fast exact summation using small and large
//! superaccumulators" (2015). It is rounded once, at the end, to the nearest float (ties to even).
//!
//! One such number a group would be 544 bytes, and the data of a group spans few exponents. So a sum starts as
//! a *window*: one `i128` that counts units of a power of two chosen by the first value, with room for values 2^32
//! times smaller. What does not fit the window goes to the [`Wide`] number, which is allocated then.
//!
//! NaN and infinities are counted beside the sum, which keeps them free of order and lets them be taken back.
//! A sum that is zero is `+0.0`, also where all terms are `-0.0`: the sign of zero means nothing in SQL.

mod codec;
mod round;
mod wide;

#[cfg(test)]
mod tests;

use std::num::NonZero;

pub use codec::Malformed;
pub use round::Float;

use round::Normalized;
use wide::{Special, Wide};

/// The exponent of the smallest positive `f64`, and so of position 0.
const LOWEST: i32 = -1074;
const FRACTION_BITS: u32 = 52;
/// Far enough from every position that no value falls into the window of an empty sum.
const NO_BASE: i32 = i32::MAX;
/// A 53-bit mantissa shifted so far leaves 2^11 additions before the window is full.
const MAX_SHIFT: u32 = 63;
/// The highest base; NaN and infinity, at position 2046, are then in no window, and the hot path need not ask.
const MAX_BASE: i32 = 2045 - MAX_SHIFT as i32;
/// The binades kept free below the first value of a window.
const ROOM_BELOW: i32 = 32;
/// One bit for the sign, one so that a single term never fills the window.
const WINDOW_BITS: i32 = 126;

/// A sum of floats, exact until it is read.
#[derive(Debug, Clone)]
pub struct ExactSum {
    /// A count of 2^(base + LOWEST).
    window: i128,
    wide: Option<Box<Wide>>,
    base: i32,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { window: 0, wide: None, base: NO_BASE }
    }
}

impl ExactSum {
    /// Adds a value. Answers the bytes that were allocated for it.
    #[inline]
    pub fn add(&mut self, value: f64) -> usize {
        let Parts { negative, mantissa, position } = Parts::of(value);
        // A position below the base wraps to a huge shift.
        let shift = position.wrapping_sub(self.base) as u32;
        if shift <= MAX_SHIFT {
            let term = i128::from(mantissa) << shift;
            let (sum, full) = self.window.overflowing_add(if negative { -term } else { term });
            if !full {
                self.window = sum;
                return 0;
            }
        }
        self.add_outside(value)
    }

    /// Takes back a value that was added, or will be. Answers the bytes that were allocated for it.
    #[inline]
    pub fn subtract(&mut self, value: f64) -> usize {
        if value.is_finite() { self.add(-value) } else { self.count_special(value, -1) }
    }

    /// The bytes that the sum holds outside itself.
    pub fn heap_bytes(&self) -> usize {
        if self.wide.is_some() { size_of::<Wide>() } else { 0 }
    }

    /// The sum, rounded once. A sum beyond the float's range is an infinity, as in IEEE 754.
    pub fn value<F: Float>(&self) -> F {
        self.divided_by(NonZero::<u64>::MIN)
    }

    /// The sum divided by `count`, rounded once; `None` if that is zero.
    pub fn mean<F: Float>(&self, count: u64) -> Option<F> {
        NonZero::new(count).map(|count| self.divided_by(count))
    }

    fn divided_by<F: Float>(&self, divisor: NonZero<u64>) -> F {
        match self.wide.as_ref().and_then(|wide| wide.special_sum()) {
            Some(special) => F::from_special(special),
            None => self.normalized().map_or_else(F::default, |sum| sum.divided_by(divisor)),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_outside(&mut self, value: f64) -> usize {
        let Parts { negative, mantissa, position } = Parts::of(value);
        if !value.is_finite() {
            return self.count_special(value, 1);
        }
        if mantissa == 0 || self.fit(negative, u128::from(mantissa), position) {
            return 0;
        }
        let (first, limbs) = wide::split(u128::from(mantissa), position);
        self.widen(|wide| wide.add(negative, first, &limbs))
    }

    /// Adds a term to the window, if it fits there: moves an empty window, and looks past the term's trailing zeros.
    fn fit(&mut self, negative: bool, magnitude: u128, position: i32) -> bool {
        let zeros = magnitude.trailing_zeros();
        let (magnitude, position) = (magnitude >> zeros, position + zeros as i32);
        let bits = (u128::BITS - magnitude.leading_zeros()) as i32;
        if self.window == 0 {
            // A float is placed by its full mantissa; a partial sum, which is longer, leaves less room below.
            let room = (WINDOW_BITS - ROOM_BELOW - bits).clamp(0, ROOM_BELOW);
            let lowest = if bits <= 53 { position + bits - 53 } else { position };
            self.base = (lowest - room).clamp(0, MAX_BASE);
        }
        let shift = position - self.base;
        if shift < 0 || shift + bits > WINDOW_BITS {
            return false;
        }
        let term = (magnitude << shift) as i128;
        match self.window.checked_add(if negative { -term } else { term }) {
            Some(sum) => self.window = sum,
            None => return false,
        }
        true
    }

    /// Works on the wide number, allocated if need be. The window is emptied into it, so that a window that is full,
    /// or was set up by an outlier, finds a better place at the next value.
    fn widen(&mut self, work: impl FnOnce(&mut Wide)) -> usize {
        let before = self.heap_bytes();
        let (window, base) = (self.window, self.base);
        let wide = self.wide.get_or_insert_default();
        if window != 0 {
            let (first, limbs) = wide::split(window.unsigned_abs(), base);
            wide.add(window < 0, first, &limbs);
        }
        self.window = 0;
        work(wide);
        self.heap_bytes() - before
    }

    fn count_special(&mut self, value: f64, by: i64) -> usize {
        let special = match value {
            v if v.is_nan() => Special::NaN,
            v if v > 0.0 => Special::PositiveInfinity,
            _ => Special::NegativeInfinity,
        };
        self.widen(|wide| wide.count(special, by))
    }

    /// The sum of the finite terms, unless it is zero.
    fn normalized(&self) -> Option<Normalized> {
        match &self.wide {
            None => Normalized::of_window(self.window, self.base),
            Some(wide) => Normalized::of_limbs(&wide.total(self.window, self.base)),
        }
    }
}

/// A float, taken apart: `mantissa * 2^(position + LOWEST)`; NaN and infinities are at position 2046.
struct Parts {
    negative: bool,
    mantissa: u64,
    position: i32,
}

impl Parts {
    #[inline]
    fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let exponent = ((bits >> FRACTION_BITS) & 0x7ff) as i32;
        let fraction = bits & ((1 << FRACTION_BITS) - 1);
        // A subnormal has no hidden bit and the exponent of the smallest normal.
        let normal = i32::from(exponent != 0);
        Self {
            negative: value.is_sign_negative(),
            mantissa: fraction | ((normal as u64) << FRACTION_BITS),
            position: exponent - normal,
        }
    }
}
