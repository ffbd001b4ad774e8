//! Random numbers that are found by their position, so that nothing has to be drawn in order.
//!
//! SplitMix64 (Steele, Lea and Flood 2014), whose state is a counter. It stands here, and is no library's, because its
//! values are a promise: a seed gives the same rows in every release and on every machine.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The step of the counter: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// One random value a position.
#[derive(Debug, Clone, Copy)]
pub struct Sequence {
    key: u64,
}

impl Sequence {
    /// The sequence of `name` under `seed`; those of different names have nothing to do with each other.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        Self { key: xxh3_64_with_seed(name.as_bytes(), seed) }
    }

    /// The value at a position: as many numbers as are wanted.
    #[inline]
    #[must_use]
    pub fn at(self, position: u64) -> Draws {
        Draws { state: mix(self.key ^ position.wrapping_mul(STEP)) }
    }
}

/// Random numbers, one after the other.
#[derive(Debug, Clone)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number from 0 that is less than `bound`; 0 if that is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `min` to `max`, both included.
    #[inline]
    pub fn between(&mut self, min: i64, max: i64) -> i64 {
        let count = max.wrapping_sub(min).cast_unsigned().wrapping_add(1);
        let offset = if count == 0 { self.bits() } else { self.below(count) };
        min.wrapping_add_unsigned(offset)
    }

    /// A number from 0 that is less than 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Whether something of this probability happens.
    #[inline]
    pub fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

/// Spreads the bits of a counter.
#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
