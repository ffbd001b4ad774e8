//! Rows that wait until the watermark has passed their own, and the order in which they are judged.

mod snapshot;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use tidemill_core::{Error, EventBatch, Lineage, Result, Watermark};

use crate::operator::noted::Noted;

/// Rows that wait.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// By number, in the order in which they came.
    batches: BTreeMap<i64, EventBatch>,
    /// The number of the next batch.
    next: i64,
    /// Batches that came, have lost rows, or are gone.
    unsaved: Noted<i64>,
}

/// Rows in the order in which they are judged.
pub(super) struct Ready {
    pub(super) rows: RecordBatch,
    pub(super) watermarks: Vec<i64>,
    /// The batches that the rows come from, for their lineage: row `i` is row `origins[i].1` of
    /// `batches[origins[i].0]`.
    pub(super) batches: Vec<EventBatch>,
    pub(super) origins: Vec<(u32, u32)>,
}

impl Ready {
    /// Rows that are never late, and so wait for nothing.
    pub(super) fn at_once(batch: EventBatch) -> Self {
        let rows = batch.rows.clone();
        let count = rows.num_rows();
        let origins = (0u32..).take(count).map(|row| (0, row)).collect();
        Self { rows, watermarks: vec![Watermark::MIN.0; count], batches: vec![batch], origins }
    }
}

/// What a row is ordered by.
struct Position {
    watermark: i64,
    /// The place of the partition among those of the rows, by name.
    partition: usize,
    offset: i64,
    origin: (u32, u32),
}

impl Position {
    fn key(&self) -> (i64, usize, i64) {
        (self.watermark, self.partition, self.offset)
    }
}

impl Pending {
    pub(super) fn push(&mut self, batch: EventBatch) {
        self.unsaved.note(self.next);
        self.batches.insert(self.next, batch);
        self.next += 1;
    }

    /// Takes out the rows whose watermark the operator's has passed: none that comes before them is
    /// still to come.
    pub(super) fn ready(&mut self, watermark: Watermark) -> Result<Option<Ready>> {
        let mut batches = vec![];
        let mut waiting = BTreeMap::new();
        for (number, batch) in std::mem::take(&mut self.batches) {
            let passed = passed(&batch, watermark)?;
            if passed.true_count() == 0 {
                waiting.insert(number, batch);
                continue;
            }
            self.unsaved.note(number);
            if passed.true_count() == batch.num_rows() {
                batches.push(batch);
            } else {
                batches.push(batch.filter(&passed)?);
                waiting.insert(number, batch.filter(&arrow::compute::not(&passed)?)?);
            }
        }
        self.batches = waiting;
        if batches.is_empty() {
            return Ok(None);
        }
        in_order(batches).map(Some)
    }
}

fn passed(batch: &EventBatch, watermark: Watermark) -> Result<BooleanArray> {
    let own = watermarks(batch)?;
    Ok(own.iter().map(|&w| Some(w < watermark.0)).collect())
}

fn watermarks(batch: &EventBatch) -> Result<&[i64]> {
    let watermarks =
        batch.watermarks.as_ref().ok_or_else(|| Error::internal("a session reads rows without watermarks"))?;
    Ok(watermarks.values())
}

fn in_order(batches: Vec<EventBatch>) -> Result<Ready> {
    let schema = batches[0].rows.schema();
    let partitions = partitions(&batches)?;
    let mut positions = vec![];
    for (batch, number) in batches.iter().zip(0u32..) {
        let lineage = lineage(batch)?;
        let partition = partitions.partition_point(|name| **name < *lineage.source.partition);
        let offsets = lineage.offsets()?;
        for ((&watermark, &offset), row) in watermarks(batch)?.iter().zip(offsets.values()).zip(0u32..) {
            positions.push(Position { watermark, partition, offset, origin: (number, row) });
        }
    }
    let rows = concat_batches(&schema, batches.iter().map(|batch| &batch.rows))?;
    if positions.is_sorted_by_key(Position::key) {
        return Ok(ready(rows, batches, &positions));
    }
    let mut starts = vec![0u32];
    for batch in &batches {
        starts.push(starts[starts.len() - 1] + u32::try_from(batch.num_rows()).unwrap_or(u32::MAX));
    }
    // Each batch is in order already: this sort finds such runs, and merges them.
    positions.sort_by_key(Position::key);
    let indices: UInt32Array = positions.iter().map(|p| starts[p.origin.0 as usize] + p.origin.1).collect();
    Ok(ready(take_record_batch(&rows, &indices)?, batches, &positions))
}

fn lineage(batch: &EventBatch) -> Result<&Lineage> {
    batch.lineage.as_ref().ok_or_else(|| Error::internal("a session reads rows without identity"))
}

/// The partitions that the rows come from, by name.
fn partitions(batches: &[EventBatch]) -> Result<Vec<Arc<str>>> {
    let names = batches.iter().map(|batch| Ok(Arc::clone(&lineage(batch)?.source.partition)));
    let mut names = names.collect::<Result<Vec<_>>>()?;
    names.sort();
    names.dedup();
    Ok(names)
}

fn ready(rows: RecordBatch, batches: Vec<EventBatch>, positions: &[Position]) -> Ready {
    Ready {
        rows,
        watermarks: positions.iter().map(|p| p.watermark).collect(),
        origins: positions.iter().map(|p| p.origin).collect(),
        batches,
    }
}
