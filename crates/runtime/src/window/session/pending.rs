//! Rows that wait until the watermark has passed their own, and the order in which they are judged.

use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use tidemill_core::{Error, EventBatch, Result, Watermark};

/// Rows that wait.
#[derive(Debug, Default)]
pub(super) struct Pending {
    batches: Vec<EventBatch>,
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
    partition: Arc<str>,
    offset: i64,
    origin: (u32, u32),
}

impl Pending {
    pub(super) fn push(&mut self, batch: EventBatch) {
        self.batches.push(batch);
    }

    /// Takes out the rows whose watermark the operator's has passed: none that comes before them is
    /// still to come.
    pub(super) fn ready(&mut self, watermark: Watermark) -> Result<Option<Ready>> {
        let mut batches = vec![];
        let mut waiting = vec![];
        for batch in self.batches.drain(..) {
            let passed = passed(&batch, watermark)?;
            match passed.true_count() {
                0 => waiting.push(batch),
                all if all == batch.num_rows() => batches.push(batch),
                _ => {
                    batches.push(batch.filter(&passed)?);
                    waiting.push(batch.filter(&arrow::compute::not(&passed)?)?);
                }
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
    let mut positions = vec![];
    for (batch, number) in batches.iter().zip(0u32..) {
        let lineage = batch.lineage.as_ref().ok_or_else(|| Error::internal("a session reads rows without identity"))?;
        let offsets = lineage.offsets()?;
        for ((&watermark, &offset), row) in watermarks(batch)?.iter().zip(offsets.values()).zip(0u32..) {
            let partition = Arc::clone(&lineage.source.partition);
            positions.push(Position { watermark, partition, offset, origin: (number, row) });
        }
    }
    let rows = concat_batches(&schema, batches.iter().map(|batch| &batch.rows))?;
    let key = |p: &Position| (p.watermark, Arc::clone(&p.partition), p.offset);
    if positions.is_sorted_by(|a, b| (a.watermark, &a.partition, a.offset) <= (b.watermark, &b.partition, b.offset)) {
        return Ok(ready(rows, batches, &positions));
    }
    let mut starts = vec![0u32];
    for batch in &batches {
        starts.push(starts[starts.len() - 1] + u32::try_from(batch.num_rows()).unwrap_or(u32::MAX));
    }
    positions.sort_unstable_by_key(key);
    let indices: UInt32Array = positions.iter().map(|p| starts[p.origin.0 as usize] + p.origin.1).collect();
    Ok(ready(take_record_batch(&rows, &indices)?, batches, &positions))
}

fn ready(rows: RecordBatch, batches: Vec<EventBatch>, positions: &[Position]) -> Ready {
    Ready {
        rows,
        watermarks: positions.iter().map(|p| p.watermark).collect(),
        origins: positions.iter().map(|p| p.origin).collect(),
        batches,
    }
}
