//! The number that holds any sum of floats: base 2^32, with a lazy carry.

/// Up to 2^63 floats of 2^1024 need 2,161 bits.
pub(super) const LIMBS: usize = 68;
/// So many terms, each below 2^32 in a limb, keep a limb's `i64` from overflowing.
const TERMS_PER_CARRY: u32 = 1 << 30;

/// A term that is no finite number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Special {
    NaN = 0,
    PositiveInfinity = 1,
    NegativeInfinity = 2,
}

/// `sum(limbs[i] * 2^(32 i + LOWEST))`, and how often each [`Special`] came.
#[derive(Debug, Clone)]
pub(super) struct Wide {
    limbs: [i64; LIMBS],
    specials: [i64; 3],
    terms: u32,
}

/// A number by its sign and its size, each limb below 2^32: one form for one value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Magnitude {
    pub negative: bool,
    pub limbs: [u32; LIMBS],
}

impl Default for Wide {
    fn default() -> Self {
        Self { limbs: [0; LIMBS], specials: [0; 3], terms: 0 }
    }
}

impl Wide {
    /// Adds `limbs`, the first of them at place `first`. Places beyond the last hold zeros only.
    pub(super) fn add(&mut self, negative: bool, first: usize, limbs: &[u32]) {
        if self.terms == TERMS_PER_CARRY {
            carry(&mut self.limbs);
            self.terms = 0;
        }
        self.terms += 1;
        for (sum, &limb) in self.limbs[first..].iter_mut().zip(limbs) {
            *sum += if negative { -i64::from(limb) } else { i64::from(limb) };
        }
    }

    pub(super) fn count(&mut self, special: Special, by: i64) {
        // Wrapping: only a forged state can hold counts near 2^63.
        self.specials[special as usize] = self.specials[special as usize].wrapping_add(by);
    }

    pub(super) fn specials(&self) -> [i64; 3] {
        self.specials
    }

    /// What the sum is if not every term is finite.
    pub(super) fn special_sum(&self) -> Option<f64> {
        let [nan, positive, negative] = self.specials.map(|count| count > 0);
        match (nan, positive, negative) {
            (false, false, false) => None,
            (false, true, false) => Some(f64::INFINITY),
            (false, false, true) => Some(f64::NEG_INFINITY),
            _ => Some(f64::NAN),
        }
    }

    /// The finite terms, with the window's.
    pub(super) fn total(&self, window: i128, base: i32) -> Magnitude {
        let mut sum = self.clone();
        if window != 0 {
            let (first, limbs) = split(window.unsigned_abs(), base);
            sum.add(window < 0, first, &limbs);
        }
        let mut limbs = sum.limbs;
        carry(&mut limbs);
        let negative = limbs[LIMBS - 1] < 0;
        if negative {
            limbs = limbs.map(|limb| -limb);
            carry(&mut limbs);
        }
        Magnitude { negative, limbs: limbs.map(|limb| limb as u32) }
    }
}

/// `magnitude * 2^position` as limbs, and the place of the first.
pub(super) fn split(magnitude: u128, position: i32) -> (usize, [u32; 5]) {
    let (first, offset) = ((position / 32) as usize, position % 32);
    let low = magnitude << offset;
    // In two steps, for a shift by 128 is none.
    let high = (magnitude >> 1) >> (127 - offset);
    (first, [low as u32, (low >> 32) as u32, (low >> 64) as u32, (low >> 96) as u32, high as u32])
}

/// Leaves each limb between 0 and 2^32 but the last, which keeps the sign.
fn carry(limbs: &mut [i64; LIMBS]) {
    let mut carried = 0;
    for limb in &mut limbs[..LIMBS - 1] {
        let sum = *limb + carried;
        *limb = sum & 0xffff_ffff;
        carried = sum >> 32;
    }
    limbs[LIMBS - 1] += carried;
}
