//! Random numbers that are a function of a seed and a number: the same on every machine, from any point on.

/// SplitMix64 (Steele, Lea, Flood 2014), begun at a point that the seed and the number choose.
pub(super) struct Random(u64);

impl Random {
    /// The numbers that belong to `number`.
    pub(super) fn of(seed: u64, number: u64) -> Self {
        Self(mixed(seed).wrapping_add(mixed(!number)))
    }

    /// A number from 0, below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        // The high half of the product: no bias that a chart could show, and no division.
        let wide = u128::from(mixed(self.0)) * u128::from(bound);
        (wide >> 64) as u64
    }
}

fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
