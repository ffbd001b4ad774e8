//! One row a slot, replaced as a whole: rows in Arrow batches, and where each slot's present one is.
//!
//! Rows come in batches of any size, and to take rows out of many costs a look at each: small ones are made one as they
//! come, two of about a size at a time, so that a row is copied a few times and there are few small ones.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::interleave_record_batch;
use arrow::datatypes::SchemaRef;
use tidemill_core::Result;

/// Replaced rows are dropped when there are this many more than twice the present ones.
const SLACK_ROWS: usize = 64 * 1024;

/// A batch of so many rows stays as it is.
const MANY_ROWS: usize = if cfg!(test) { 16 } else { 64 * 1024 };

/// Rows by slot number.
#[derive(Debug)]
pub(super) struct Slots {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// Of the last batches, those that are small: the slot of each row.
    small: Vec<Vec<usize>>,
    /// By slot: its batch and its row there.
    present: Vec<Option<(usize, usize)>>,
    rows: usize,
}

impl Slots {
    pub(super) fn new(schema: SchemaRef) -> Self {
        Self { schema, batches: vec![], small: vec![], present: vec![], rows: 0 }
    }

    /// How many slots there are, set or not.
    pub(super) fn len(&self) -> usize {
        self.present.len()
    }

    pub(super) fn is_set(&self, slot: usize) -> bool {
        self.present.get(slot).is_some_and(Option::is_some)
    }

    /// The slot has no row any more.
    pub(super) fn unset(&mut self, slot: usize) {
        if let Some(place) = self.present.get_mut(slot) {
            *place = None;
        }
    }

    /// The present rows of the slots, all of which are set, in that order.
    pub(super) fn get(&self, slots: &[usize]) -> Result<RecordBatch> {
        let places: Vec<(usize, usize)> = slots.iter().filter_map(|&slot| self.present[slot]).collect();
        if self.schema.fields().is_empty() || places.is_empty() {
            let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
            let empty = RecordBatch::new_empty(self.schema.clone());
            return Ok(RecordBatch::try_new_with_options(self.schema.clone(), empty.columns().to_vec(), &options)?);
        }
        Ok(interleave_record_batch(&self.batches.iter().collect::<Vec<_>>(), &places)?)
    }

    /// Row `i` becomes the present row of slot `slots[i]`.
    pub(super) fn set(&mut self, slots: &[usize], rows: RecordBatch) -> Result<()> {
        self.push(slots, rows);
        if self.rows > 2 * self.present.len() + SLACK_ROWS {
            return self.compact();
        }
        while let [.., before, last] = &self.small[..]
            && before.len() <= 2 * last.len()
        {
            self.join_last()?;
        }
        Ok(())
    }

    fn push(&mut self, slots: &[usize], rows: RecordBatch) {
        let slot_count = slots.iter().max().map_or(0, |&slot| slot + 1).max(self.present.len());
        self.present.resize(slot_count, None);
        let batch = self.batches.len();
        for (row, &slot) in slots.iter().enumerate() {
            self.present[slot] = Some((batch, row));
        }
        self.rows += rows.num_rows();
        match rows.num_rows() < MANY_ROWS {
            true => self.small.push(slots.to_vec()),
            false => self.small.clear(),
        }
        self.batches.push(rows);
    }

    /// Makes one batch of the last two, which are small, without the rows that were replaced.
    fn join_last(&mut self) -> Result<()> {
        let first = self.batches.len() - 2;
        let slots = self.small.split_off(self.small.len() - 2).concat();
        let is_there = |slot: &usize| self.present[*slot].is_some_and(|(batch, _)| batch >= first);
        let mut slots: Vec<usize> = slots.into_iter().filter(is_there).collect();
        slots.sort_unstable();
        slots.dedup();
        let rows = self.get(&slots)?;
        self.rows -= self.batches.drain(first..).map(|batch| batch.num_rows()).sum::<usize>();
        self.push(&slots, rows);
        Ok(())
    }

    fn compact(&mut self) -> Result<()> {
        let set: Vec<usize> = (0..self.present.len()).filter(|&slot| self.is_set(slot)).collect();
        let rows = self.get(&set)?;
        self.batches.clear();
        self.small.clear();
        self.rows = 0;
        self.push(&set, rows);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
