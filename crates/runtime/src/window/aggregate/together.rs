//! Tumbling windows that tell their results once, many in one table.
//!
//! A watermark often completes hundreds of small ones, where a source is read in large chunks: a table for each, and a
//! batch that goes its own way to the sink, would cost more than their rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, TimestampMillisecondArray};
use arrow::compute::concat_batches;
use arrow::datatypes::{Int64Type, TimestampMillisecondType};
use tidemill_core::{EventBatch, Result, Watermark};

use super::{OUTPUT_ROWS, WindowAggregate, emit_in_pieces};
use crate::aggregate::Table;
use crate::operator::Output;

impl WindowAggregate {
    /// Whether complete windows fire together: they share no pane, and tell nothing before or after.
    pub(super) fn fires_together(&self) -> bool {
        !self.spec.assigner.overlapping() && self.spec.lateness_ms == 0 && self.early.is_none()
    }

    /// Fires complete windows, the first first, up to about [`OUTPUT_ROWS`] rows. Whether more are complete.
    pub(super) fn fire_together(&mut self, watermark: Watermark, out: &mut Output) -> Result<bool> {
        let assigner = self.spec.assigner;
        let complete = |pane_ms: i64| watermark.closes(assigner.closes_at(assigner.pane_end(pane_ms)));
        let (mut parts, mut rows) = (vec![], 0);
        while rows < OUTPUT_ROWS
            && let Some(first) = self.panes.first_entry().filter(|pane| complete(*pane.key()))
        {
            let (pane_ms, pane) = first.remove_entry();
            self.unsaved.panes.note(pane_ms);
            let end_ms = assigner.pane_end(pane_ms);
            if end_ms > self.fired_ms {
                self.fired_ms = end_ms;
                rows += pane.rows;
                parts.extend(pane.parts);
            }
        }
        if !parts.is_empty() {
            emit_in_pieces(&EventBatch::append(self.merged_together(&parts)?), out);
        }
        Ok(self.panes.first_key_value().is_some_and(|(&pane_ms, _)| complete(pane_ms)))
    }

    /// The results of all windows of these partials, window after window.
    fn merged_together(&self, parts: &[RecordBatch]) -> Result<RecordBatch> {
        let key = self.partials.fields()[..self.prefix + self.spec.aggregation.groups.len()].to_vec();
        let states = key.len();
        let mut table = Table::new(key, &self.spec.aggregation.calls)?;
        for some in in_batches(parts) {
            // Of one part, this copies nothing.
            let some = concat_batches(&self.partials, some)?;
            table.merge(&some.columns()[..states], &some.columns()[states..], some.num_rows())?;
        }
        let results = table.results()?;
        let assigner = self.spec.assigner;
        let panes = results[0].as_primitive::<Int64Type>();
        let bound = |of: &dyn Fn(i64) -> i64| -> TimestampMillisecondArray {
            panes.unary::<_, TimestampMillisecondType>(|pane_ms| of(assigner.pane_end(pane_ms)))
        };
        let time = bound(&|end_ms| assigner.closes_at(end_ms) - 1).with_timezone_opt(self.time_zone.clone());
        let start = panes.reinterpret_cast::<TimestampMillisecondType>();
        let mut columns: Vec<ArrayRef> = vec![Arc::new(start), Arc::new(bound(&|end_ms| end_ms)), Arc::new(time)];
        columns.extend_from_slice(&results[1..]);
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

/// Parts that make about [`OUTPUT_ROWS`] rows together.
fn in_batches(parts: &[RecordBatch]) -> impl Iterator<Item = &[RecordBatch]> {
    let mut rows = 0;
    parts.chunk_by(move |part, next| {
        rows += part.num_rows();
        let fits = rows + next.num_rows() <= OUTPUT_ROWS;
        rows = if fits { rows } else { 0 };
        fits
    })
}

#[cfg(test)]
mod tests;
