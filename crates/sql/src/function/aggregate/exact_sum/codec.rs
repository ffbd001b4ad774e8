//! An exact sum as bytes: equal sums give equal bytes.
//!
//! ```text
//! version  u8   1
//! flags    u8   1: negative, 2: specials follow
//! specials 3 x i64 little-endian: NaN, +infinity, -infinity
//! first    u8   the place of the lowest limb that is not zero; absent if the finite sum is zero
//! limbs    u32  little-endian, up to the highest that is not zero
//! ```

use std::fmt;

use super::{
    ExactSum, NO_BASE,
    wide::{self, LIMBS, Special},
};

const VERSION: u8 = 1;
const NEGATIVE: u8 = 1;
const SPECIALS: u8 = 2;

/// Bytes that are no exact sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(&'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the state of a sum of floats is damaged: {}", self.0)
    }
}

impl std::error::Error for Malformed {}

impl ExactSum {
    /// Appends the sum's bytes to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        match &self.wide {
            None => {
                let base = if self.base == NO_BASE { 0 } else { self.base };
                let (first, limbs) = wide::split(self.window.unsigned_abs(), base);
                write(out, self.window < 0, [0; 3], first, &limbs);
            }
            Some(wide) => {
                let total = wide.total(self.window, self.base);
                write(out, total.negative, wide.specials(), 0, &total.limbs);
            }
        }
    }

    /// Adds the sum that [`ExactSum::write`] wrote. Answers the bytes that were allocated for it.
    pub fn merge(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let [version, flags, rest @ ..] = bytes else { return Err(Malformed("it is too short")) };
        if *version != VERSION || flags & !(NEGATIVE | SPECIALS) != 0 {
            return Err(Malformed("its version is unknown"));
        }
        let mut rest = rest;
        let mut allocated = 0;
        if flags & SPECIALS != 0 {
            let counts;
            (counts, rest) = rest.split_first_chunk::<24>().ok_or(Malformed("it is too short"))?;
            allocated += self.merge_specials(counts);
        }
        if let [first, limbs @ ..] = rest {
            allocated += self.merge_limbs(flags & NEGATIVE != 0, usize::from(*first), limbs)?;
        }
        Ok(allocated)
    }

    fn merge_specials(&mut self, counts: &[u8; 24]) -> usize {
        let (counts, _) = counts.as_chunks::<8>();
        self.widen(|wide| {
            for (special, count) in
                [Special::NaN, Special::PositiveInfinity, Special::NegativeInfinity].into_iter().zip(counts)
            {
                wide.count(special, i64::from_le_bytes(*count));
            }
        })
    }

    fn merge_limbs(&mut self, negative: bool, first: usize, bytes: &[u8]) -> Result<usize, Malformed> {
        let (chunks, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || chunks.is_empty() || first + chunks.len() > LIMBS {
            return Err(Malformed("its length is wrong"));
        }
        let mut buffer = [0; LIMBS];
        let limbs = &mut buffer[..chunks.len()];
        for (limb, chunk) in limbs.iter_mut().zip(chunks) {
            *limb = u32::from_le_bytes(*chunk);
        }
        if limbs.len() <= 4 {
            let magnitude = limbs.iter().rev().fold(0, |sum, &limb| sum << 32 | u128::from(limb));
            if magnitude == 0 || self.fit(negative, magnitude, 32 * first as i32) {
                return Ok(0);
            }
        }
        Ok(self.widen(|wide| wide.add(negative, first, limbs)))
    }
}

fn write(out: &mut Vec<u8>, negative: bool, specials: [i64; 3], first: usize, limbs: &[u32]) {
    let special = specials != [0; 3];
    out.extend([VERSION, u8::from(negative) * NEGATIVE + u8::from(special) * SPECIALS]);
    if special {
        out.extend(specials.iter().flat_map(|count| count.to_le_bytes()));
    }
    let Some(low) = limbs.iter().position(|&limb| limb != 0) else { return };
    let high = limbs.iter().rposition(|&limb| limb != 0).unwrap_or(low);
    out.push((first + low) as u8);
    out.extend(limbs[low..=high].iter().flat_map(|limb| limb.to_le_bytes()));
}
