//! Which group has seen which value: a set of pairs of numbers.
//!
//! One hash table serves all groups, so that a million small groups cost no more than one large one. A group's values
//! are kept 64 to a word: values are numbered in the order of their first sight, and what was first seen together tends
//! to be seen together again, so one entry often holds many.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use datafusion::common::{Result, resources_datafusion_err};

const WORD: usize = u64::BITS as usize;
/// A key holds 32 bits of each number; that of a value has 6 more in the word.
const MOST_GROUPS: usize = 1 << 32;
const MOST_VALUES: usize = WORD << 32;

/// The pairs of groups 0, 1, 2, ... with values 0, 1, 2, ...
#[derive(Default)]
pub(super) struct Pairs {
    words: HashMap<u64, u64, BuildHasherDefault<Fold>>,
    /// How many values each group has.
    counts: Vec<i64>,
    /// How many groups were dropped; their pairs stay in `words` until there are as many as live ones.
    dropped_groups: usize,
    dropped_pairs: i64,
    live_pairs: i64,
}

impl Pairs {
    /// Makes room for so many groups.
    pub(super) fn resize(&mut self, groups: usize) {
        if groups > self.counts.len() {
            self.counts.resize(groups, 0);
        }
    }

    /// Fails if a value below `values` would have no number here. Asked once a batch, before [`Pairs::insert`].
    pub(super) fn check_room(&self, values: usize) -> Result<()> {
        if self.dropped_groups + self.counts.len() > MOST_GROUPS || values > MOST_VALUES {
            return Err(resources_datafusion_err!(
                "one DISTINCT aggregate takes at most {MOST_GROUPS} groups and {MOST_VALUES} values"
            ));
        }
        Ok(())
    }

    /// Adds a pair. Answers whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, group: usize, value: usize) -> bool {
        let word = self.words.entry(key(self.dropped_groups + group, value)).or_insert(0);
        let bit = 1 << (value % WORD);
        let new = *word & bit == 0;
        *word |= bit;
        self.counts[group] += i64::from(new);
        self.live_pairs += i64::from(new);
        new
    }

    /// How many values each group has.
    pub(super) fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// The values of the first `n` groups, one group behind the other, and where each group's begin and end.
    pub(super) fn lists(&self, n: usize) -> (Vec<i64>, Vec<u64>) {
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        offsets.extend(self.counts[..n].iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        }));
        let mut next: Vec<usize> = offsets[..n].iter().map(|&offset| offset as usize).collect();
        let mut values = vec![0; offsets[n] as usize];
        self.for_each(|group, value| {
            if group < n {
                values[next[group]] = value as u64;
                next[group] += 1;
            }
        });
        (offsets, values)
    }

    /// Forgets the first `n` groups, and numbers the others from 0.
    pub(super) fn drop_first(&mut self, n: usize) {
        let gone: i64 = self.counts.drain(..n).sum();
        self.dropped_groups += n;
        self.dropped_pairs += gone;
        self.live_pairs -= gone;
    }

    /// Whether it pays to [`Pairs::compact`].
    pub(super) fn wasteful(&self) -> bool {
        self.dropped_groups > 0 && self.dropped_pairs >= self.live_pairs
    }

    /// Gives the pairs of dropped groups back, and numbers the values that remain from 0 in their order. Answers their
    /// old numbers; `values` is above all of these.
    pub(super) fn compact(&mut self, values: usize) -> Vec<u64> {
        let mut used = vec![false; values];
        self.for_each(|_, value| used[value] = true);
        let remaining: Vec<u64> = (0..values).filter(|&value| used[value]).map(|value| value as u64).collect();
        let mut renumbered = vec![0; values];
        remaining.iter().enumerate().for_each(|(new, &old)| renumbered[old as usize] = new);
        let mut compacted = Self::default();
        compacted.resize(self.counts.len());
        self.for_each(|group, value| {
            compacted.insert(group, renumbered[value]);
        });
        *self = compacted;
        remaining
    }

    /// Calls `each` with every pair of a group that was not dropped.
    fn for_each(&self, mut each: impl FnMut(usize, usize)) {
        for (&key, &word) in &self.words {
            let Some(group) = ((key >> 32) as usize).checked_sub(self.dropped_groups) else { continue };
            let first = (key as u32 as usize) * WORD;
            let mut rest = word;
            while rest != 0 {
                each(group, first + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }

    /// The memory in use.
    pub(super) fn bytes(&self) -> usize {
        // An entry has a byte of the hash beside it.
        self.words.capacity() * (size_of::<(u64, u64)>() + 1) + self.counts.capacity() * size_of::<i64>()
    }
}

/// The group in the upper half, the number of the value's word in the lower.
#[inline]
fn key(group: usize, value: usize) -> u64 {
    (group as u64) << 32 | (value / WORD) as u64
}

/// A hash of two small numbers: both halves of a product that mixes all bits. The same in every run, and so is the
/// order in which a state lists its values.
#[derive(Default)]
struct Fold(u64);

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    #[inline]
    fn write_u64(&mut self, key: u64) {
        // 2^64 over the golden ratio.
        let product = u128::from(self.0 ^ key ^ 0x243F_6A88_85A3_08D3) * 0x9E37_79B9_7F4A_7C15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
