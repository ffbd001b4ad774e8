//! Which part of a whole a key belongs to: rows go to subtasks by it, and so does state that is dealt out anew.

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use tidemill_core::Result;
use tidemill_state::key_group::{KEY_GROUPS, key_groups, owner};

/// Deals by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dealer {
    parts: Parts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parts {
    Subtasks(usize),
    KeyGroups,
}

impl Dealer {
    /// The parts are subtasks, of which there are so many, one at least: each owns a range of key groups.
    #[must_use]
    pub fn to_subtasks(count: usize) -> Self {
        Self { parts: Parts::Subtasks(count) }
    }

    /// The parts are the key groups.
    #[must_use]
    pub fn to_key_groups() -> Self {
        Self { parts: Parts::KeyGroups }
    }

    /// How many parts there are.
    #[must_use]
    pub fn parts(&self) -> usize {
        match self.parts {
            Parts::Subtasks(count) => count,
            Parts::KeyGroups => KEY_GROUPS,
        }
    }

    /// The part that has a key group.
    #[must_use]
    pub fn part_of_group(&self, key_group: u8) -> usize {
        match self.parts {
            Parts::Subtasks(count) => owner(key_group, count),
            Parts::KeyGroups => usize::from(key_group),
        }
    }

    /// The part of each of so many rows, by the columns of its key.
    ///
    /// # Errors
    /// `Invalid` if a column has a type that no key has.
    pub fn part_of(&self, key: &[ArrayRef], rows: usize) -> Result<Vec<usize>> {
        Ok(key_groups(key, rows)?.into_iter().map(|group| self.part_of_group(group)).collect())
    }

    /// The rows of each part, in their order; `key` has the columns of their key.
    ///
    /// # Errors
    /// As [`Dealer::part_of`].
    pub fn deal(&self, batch: &RecordBatch, key: &[ArrayRef]) -> Result<Vec<RecordBatch>> {
        self.split(batch, &self.part_of(key, batch.num_rows())?)
    }

    /// The rows of each part, in their order; `parts` has the part of each.
    pub(crate) fn split(&self, batch: &RecordBatch, parts: &[usize]) -> Result<Vec<RecordBatch>> {
        self.indices(parts).iter().map(|rows| Ok(take_record_batch(batch, rows)?)).collect()
    }

    /// Which rows each part has, if `parts` has the part of each row.
    pub(crate) fn indices(&self, parts: &[usize]) -> Vec<UInt32Array> {
        let mut indices = vec![Vec::new(); self.parts()];
        for (row, &part) in (0u32..).zip(parts) {
            indices[part].push(row);
        }
        indices.into_iter().map(UInt32Array::from).collect()
    }
}

#[cfg(test)]
mod tests;
