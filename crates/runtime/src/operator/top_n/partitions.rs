//! The rows of each partition, in their order.

use std::collections::{BTreeMap, HashMap};

use super::TopNSpec;
use arrow::row::OwnedRow;
use tidemill_core::{Error, Result};
use xxhash_rust::xxh3::xxh3_64;

/// How many shards there are: each is saved by itself.
pub(super) const SHARDS: usize = 32;

/// What the rows of a partition have in common; `None` where there is but one partition.
pub(super) type Key = Option<OwnedRow>;

/// A row in the order, and as it is.
pub(super) type Ranked = (OwnedRow, OwnedRow);

/// One partition.
#[derive(Debug, Default)]
pub(super) struct Partition {
    /// How often each row is there.
    pub(super) rows: BTreeMap<Ranked, usize>,
    /// What was emitted, by rank.
    pub(super) emitted: Vec<OwnedRow>,
}

impl Partition {
    /// The first `limit` rows, equal ones as often as they are there.
    pub(super) fn first(&self, limit: usize) -> Vec<OwnedRow> {
        let rows = self.rows.iter().flat_map(|((_, row), &count)| std::iter::repeat_n(row, count));
        rows.take(limit).cloned().collect()
    }

    /// The row that can't be among the first any more, and is forgotten.
    pub(super) fn push_out(&mut self, spec: &TopNSpec) -> Option<Ranked> {
        let full = spec.append_only && self.rows.len() > spec.limit;
        full.then(|| self.rows.pop_last())?.map(|(last, _)| last)
    }

    pub(super) fn take_away(&mut self, ranked: &Ranked) -> Result<()> {
        match self.rows.get_mut(ranked) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) => drop(self.rows.remove(ranked)),
            None => return Err(Error::internal("a row is taken away from a Top-N that never came")),
        }
        Ok(())
    }
}

/// Partitions by their key, in shards by the key's hash.
#[derive(Debug)]
pub(super) struct Partitions {
    shards: Vec<HashMap<Key, Partition>>,
}

impl Default for Partitions {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| HashMap::new()).collect() }
    }
}

impl Partitions {
    /// The shard that a partition is in. Snapshots rely on it.
    pub(super) fn shard_of(key: &Key) -> usize {
        key.as_ref().map_or(0, |key| (xxh3_64(key.as_ref()) % SHARDS as u64) as usize)
    }

    pub(super) fn entry(&mut self, key: Key) -> &mut Partition {
        self.shards[Self::shard_of(&key)].entry(key).or_default()
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Partition> {
        self.shards[Self::shard_of(key)].get(key)
    }

    pub(super) fn get_mut(&mut self, key: &Key) -> Option<&mut Partition> {
        self.shards[Self::shard_of(key)].get_mut(key)
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<Partition> {
        self.shards[Self::shard_of(key)].remove(key)
    }

    pub(super) fn shard(&self, shard: usize) -> impl Iterator<Item = &Partition> {
        self.shards.get(shard).into_iter().flat_map(HashMap::values)
    }

    /// Drops the partitions that have no row.
    pub(super) fn forget_empty(&mut self) {
        self.shards.iter_mut().for_each(|shard| shard.retain(|_, partition| !partition.rows.is_empty()));
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Partition> {
        self.shards.iter_mut().flat_map(HashMap::values_mut)
    }
}
