//! One row a slot, replaced as a whole: rows in Arrow batches, and where each slot's present one is.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::interleave_record_batch;
use arrow::datatypes::SchemaRef;
use tidemill_core::Result;

/// Replaced rows are dropped when there are this many more than twice the present ones.
const SLACK_ROWS: usize = 64 * 1024;

/// Rows by slot number.
#[derive(Debug)]
pub(super) struct Slots {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// By slot: its batch and its row there.
    present: Vec<Option<(usize, usize)>>,
    rows: usize,
}

impl Slots {
    pub(super) fn new(schema: SchemaRef) -> Self {
        Self { schema, batches: vec![], present: vec![], rows: 0 }
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
        let slot_count = slots.iter().max().map_or(0, |&slot| slot + 1).max(self.present.len());
        self.present.resize(slot_count, None);
        self.rows += rows.num_rows();
        self.batches.push(rows);
        let batch = self.batches.len() - 1;
        for (row, &slot) in slots.iter().enumerate() {
            self.present[slot] = Some((batch, row));
        }
        if self.rows > 2 * self.present.len() + SLACK_ROWS { self.compact() } else { Ok(()) }
    }

    fn compact(&mut self) -> Result<()> {
        let set: Vec<usize> = (0..self.present.len()).filter(|&slot| self.is_set(slot)).collect();
        let rows = self.get(&set)?;
        self.batches.clear();
        self.rows = 0;
        self.set(&set, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::{DataType, Field, Int64Type, Schema};
    use std::sync::Arc;

    #[test]
    fn a_slot_has_the_row_that_was_set_last() {
        let schema = Arc::new(Schema::new(vec![Field::new("v", DataType::Int64, false)]));
        let rows =
            |values: Vec<i64>| RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(values))]).unwrap();
        let mut slots = Slots::new(schema.clone());
        slots.set(&[0, 3], rows(vec![10, 13])).unwrap();
        slots.set(&[3, 1], rows(vec![23, 21])).unwrap();
        assert!(!slots.is_set(2));
        for _ in 0..2 {
            let got = slots.get(&[3, 0, 1]).unwrap();
            assert_eq!(got.column(0).as_primitive::<Int64Type>().values().to_vec(), [23, 10, 21]);
            slots.compact().unwrap();
        }
    }
}
