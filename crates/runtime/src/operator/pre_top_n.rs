//! The first phase of a Top-N, before the exchange: of each batch, the rows that can be among the first of their partition.
//!
//! It looks at the first column of the order alone, and keeps what is no further behind than the last of the batch's
//! first `limit`: ties are for the Top-N to break. A window's results come together, so that of thousands of groups few
//! are left to be exchanged and put in order. It has no state.

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, make_comparator};
use arrow::compute::{partition, sort_to_indices};
use tidemill_core::{EventBatch, Result};

use super::top_n::TopNSpec;
use super::{Operator, Output};

/// Leaves out rows of a Top-N over rows that are only added.
pub struct PreTopN {
    spec: TopNSpec,
}

impl PreTopN {
    /// Before the Top-N of this spec, which is `append_only`.
    #[must_use]
    pub fn new(spec: TopNSpec) -> Self {
        Self { spec }
    }

    /// Which rows can be among the first; `None` if all can.
    fn candidates(&self, rows: &RecordBatch) -> Result<Option<BooleanArray>> {
        let Some(&(column, options)) = self.spec.order.first() else { return Ok(None) };
        let (column, limit) = (rows.column(column), self.spec.limit);
        if limit == 0 || rows.num_rows() <= limit || !column.data_type().is_primitive() {
            return Ok(None);
        }
        let key: Vec<ArrayRef> = self.spec.partition.iter().map(|&c| rows.column(c).clone()).collect();
        let all = std::iter::once(0..rows.num_rows());
        // Of a partition whose rows don't stand together every run is looked at by itself.
        let runs = if key.is_empty() { all.collect() } else { partition(&key)?.ranges() };
        if runs.iter().all(|run| run.len() <= limit) {
            return Ok(None);
        }
        let mut kept = vec![true; rows.num_rows()];
        let compare = make_comparator(column, column, options)?;
        for run in runs.into_iter().filter(|run| run.len() > limit) {
            let first = sort_to_indices(&column.slice(run.start, run.len()), Some(options), Some(limit))?;
            let last = run.start + first.value(limit - 1) as usize;
            for row in run {
                kept[row] = compare(row, last).is_le();
            }
        }
        Ok(Some(kept.into()))
    }
}

impl Operator for PreTopN {
    fn describe(&self) -> String {
        format!("the first {} of each batch", self.spec.limit)
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        out.emit(match self.candidates(&batch.rows)? {
            Some(kept) => batch.filter(&kept)?,
            None => batch,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
