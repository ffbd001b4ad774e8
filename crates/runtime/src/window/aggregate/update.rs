//! Windows that tell more than once: provisional results before they fire, and what late rows change after.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{AsArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::Int64Type;
use arrow::row::{RowConverter, Rows, SortField};
use tidemill_core::{EventBatch, Result, RowKind};

use super::{WindowAggregate, emit_in_pieces};
use crate::operator::Output;
use crate::window::Window;

impl WindowAggregate {
    /// A pane has got rows: those of its windows that have told something, or tell provisional results,
    /// and that a row is in time for, have something to tell. An earlier window may be forgotten already,
    /// and has nothing to compare with.
    pub(super) fn mark_dirty(&mut self, pane_ms: i64, part: &RecordBatch) {
        if self.spec.lateness_ms == 0 && self.early.is_none() {
            return;
        }
        let opens_at_ms = match self.spec.assigner.overlapping() {
            true => part.column(1).as_primitive::<Int64Type>().values().iter().copied().min().unwrap_or(i64::MAX),
            false => self.spec.assigner.pane_end(pane_ms),
        };
        let last_ms = if self.early.is_some() { i64::MAX } else { self.fired_ms };
        let windows = self.spec.assigner.windows(pane_ms).take_while(|window| window.end_ms <= last_ms);
        let now = Instant::now();
        for window in windows.filter(|window| window.end_ms >= opens_at_ms) {
            if window.end_ms > self.fired_ms {
                self.early.iter_mut().for_each(|pace| pace.arm_at_once(now));
            } else if self.spec.lateness_ms > 0 {
                self.late.iter_mut().for_each(|pace| pace.arm(now));
            } else {
                continue;
            }
            self.dirty.insert(window);
        }
    }

    /// Emits what has changed in the windows that have got rows, if they are `wanted`.
    pub(super) fn update(&mut self, wanted: impl Fn(&Window) -> bool, out: &mut Output) -> Result<()> {
        let windows: Vec<Window> = self.dirty.extract_if(.., |window| wanted(window)).collect();
        for window in windows {
            let new = self.results(window)?;
            let none = RecordBatch::new_empty(Arc::clone(&self.schema));
            let old = self.told.get(&window.end_ms).unwrap_or(&none);
            emit_in_pieces(&self.changes(old, &new)?, out);
            self.told.insert(window.end_ms, new);
        }
        Ok(())
    }

    /// What became of results: `+I` for a new group, `-U` and `+U` for one whose result has changed.
    pub(super) fn changes(&self, old: &RecordBatch, new: &RecordBatch) -> Result<EventBatch> {
        let groups = 3..3 + self.spec.aggregation.groups.len();
        let both = concat_batches(&self.schema, [old, new])?;
        let (keys, rows) = (rows_of(&both, groups)?, rows_of(&both, 3..both.num_columns())?);
        let no_key = [].as_slice();
        let key = |row: usize| keys.as_ref().map_or(no_key, |keys| keys.row(row).data());
        let known: HashMap<&[u8], usize> = (0..old.num_rows()).map(|row| (key(row), row)).collect();
        let (mut indices, mut kinds) = (vec![], vec![]);
        for row in old.num_rows()..both.num_rows() {
            let before = known.get(key(row)).copied();
            let same = |before: usize| rows.as_ref().is_some_and(|rows| rows.row(before) == rows.row(row));
            match before {
                Some(before) if same(before) => {}
                Some(before) => {
                    indices.extend([before as u32, row as u32]);
                    kinds.extend([RowKind::UpdateBefore, RowKind::UpdateAfter]);
                }
                None => {
                    indices.push(row as u32);
                    kinds.push(RowKind::Insert);
                }
            }
        }
        let changed = take_record_batch(&both, &UInt32Array::from(indices))?;
        Ok(EventBatch { kinds: Some(kinds.into()), ..EventBatch::append(changed) })
    }
}

/// The columns in a form that compares as bytes; `None` where there is no column.
fn rows_of(batch: &RecordBatch, columns: std::ops::Range<usize>) -> Result<Option<Rows>> {
    let columns = &batch.columns()[columns];
    if columns.is_empty() {
        return Ok(None);
    }
    let fields = columns.iter().map(|column| SortField::new(column.data_type().clone())).collect();
    Ok(Some(RowConverter::new(fields)?.convert_columns(columns)?))
}
