//! The registers of a HyperLogLog sketch, and the count that they tell.
//!
//! Of a hash, the first bits choose a register, which keeps the longest run of zeros that the others began with. The
//! estimate is that of O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), which needs no
//! tables of corrections and looks only at how many registers have which value.

use std::collections::BTreeMap;

/// The bits that choose a register.
const INDEX_BITS: u32 = 14;
const REGISTERS: usize = 1 << INDEX_BITS;
/// The bits that are left, and so the longest run of zeros.
const VALUE_BITS: u32 = u64::BITS - INDEX_BITS;
/// A sketch with more registers in use has them all.
const MAX_SPARSE: usize = 1_024;
/// The memory of an entry of the sparse form, roughly.
const SPARSE_ENTRY_BYTES: usize = 8;
/// The first byte of each form.
const SPARSE: u8 = 0;
const DENSE: u8 = 1;

/// Few registers by number, or all of them.
pub(super) enum Registers {
    Sparse(BTreeMap<u16, u8>),
    Dense(Box<[u8; REGISTERS]>),
}

impl Default for Registers {
    fn default() -> Self {
        Self::Sparse(BTreeMap::new())
    }
}

impl Registers {
    /// Takes a hash in. Answers the bytes allocated.
    pub(super) fn add(&mut self, hash: u64) -> usize {
        let rest = hash << INDEX_BITS;
        let rank = rest.leading_zeros().min(VALUE_BITS) + 1;
        self.raise((hash >> VALUE_BITS) as u16, rank as u8)
    }

    /// Takes in what [`Registers::to_bytes`] gave. Answers the bytes allocated, `None` where it is damaged.
    pub(super) fn merge(&mut self, bytes: &[u8]) -> Option<usize> {
        let (form, rest) = bytes.split_first()?;
        let valid = |index: u16, value: u8| usize::from(index) < REGISTERS && u32::from(value) <= VALUE_BITS + 1;
        let mut allocated = 0;
        match *form {
            SPARSE if rest.len().is_multiple_of(3) => {
                for entry in rest.chunks_exact(3) {
                    let index = u16::from_le_bytes([entry[0], entry[1]]);
                    allocated += valid(index, entry[2]).then(|| self.raise(index, entry[2]))?;
                }
            }
            DENSE if rest.len() == REGISTERS => {
                for (index, &value) in (0u16..).zip(rest).filter(|(_, value)| **value > 0) {
                    allocated += valid(index, value).then(|| self.raise(index, value))?;
                }
            }
            _ => return None,
        }
        Some(allocated)
    }

    fn raise(&mut self, index: u16, value: u8) -> usize {
        let before = self.heap_bytes();
        match self {
            Self::Dense(all) => {
                let register = &mut all[usize::from(index)];
                *register = (*register).max(value);
            }
            Self::Sparse(few) => {
                let register = few.entry(index).or_default();
                *register = (*register).max(value);
                if few.len() > MAX_SPARSE {
                    let mut all = Box::new([0; REGISTERS]);
                    few.iter().for_each(|(&index, &value)| all[usize::from(index)] = value);
                    *self = Self::Dense(all);
                }
            }
        }
        self.heap_bytes() - before
    }

    /// The same bytes for the same registers.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Dense(all) => std::iter::once(DENSE).chain(all.iter().copied()).collect(),
            Self::Sparse(few) => {
                let entries = few.iter().flat_map(|(index, &value)| {
                    let [low, high] = index.to_le_bytes();
                    [low, high, value]
                });
                std::iter::once(SPARSE).chain(entries).collect()
            }
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Self::Sparse(few) => few.len() * SPARSE_ENTRY_BYTES,
            Self::Dense(_) => REGISTERS,
        }
    }

    /// How many different hashes were taken in, as far as the registers tell.
    pub(super) fn estimate(&self) -> i64 {
        let mut with_value = [0u32; VALUE_BITS as usize + 2];
        match self {
            Self::Dense(all) => all.iter().for_each(|&value| with_value[usize::from(value)] += 1),
            Self::Sparse(few) => {
                few.values().for_each(|&value| with_value[usize::from(value)] += 1);
                with_value[0] = (REGISTERS - few.len()) as u32;
            }
        }
        let registers = REGISTERS as f64;
        let highest = f64::from(with_value[VALUE_BITS as usize + 1]);
        let mut sum = registers * tau(1.0 - highest / registers);
        for count in with_value[1..=VALUE_BITS as usize].iter().rev() {
            sum = 0.5 * (sum + f64::from(*count));
        }
        sum += registers * sigma(f64::from(with_value[0]) / registers);
        (registers * registers / (2.0 * std::f64::consts::LN_2 * sum)).round() as i64
    }
}

/// What the registers at zero add.
fn sigma(share: f64) -> f64 {
    if share == 1.0 {
        return f64::INFINITY;
    }
    let (mut x, mut y, mut sum) = (share, 1.0, share);
    loop {
        x *= x;
        let before = sum;
        sum += x * y;
        y += y;
        if sum == before {
            return sum;
        }
    }
}

/// What the registers below the highest value add.
fn tau(share: f64) -> f64 {
    if share == 0.0 || share == 1.0 {
        return 0.0;
    }
    let (mut x, mut y, mut sum) = (share, 1.0, 1.0 - share);
    loop {
        x = x.sqrt();
        let before = sum;
        y *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * y;
        if sum == before {
            return sum / 3.0;
        }
    }
}
