//! Allowed lateness: a window that has fired emits what later rows change.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::Int64Type;
use arrow::row::{RowConverter, Rows, SortField};
use tidemill_core::{EventBatch, Result, RowKind};

use super::WindowAggregate;
use crate::operator::Output;

impl WindowAggregate {
    /// A pane has got rows: its windows that have fired, and that a row is in time for, will fire
    /// again. An earlier one may be forgotten already, and has nothing to compare with.
    pub(super) fn mark_dirty(&mut self, pane_ms: i64, part: &RecordBatch) {
        if self.lateness_ms == 0 {
            return;
        }
        let opens_at_ms = match self.assigner.overlapping() {
            true => part.column(1).as_primitive::<Int64Type>().values().iter().copied().min().unwrap_or(i64::MAX),
            false => self.assigner.pane_end(pane_ms),
        };
        let fired_ms = self.fired_ms;
        let windows = self.assigner.windows(pane_ms).take_while(|window| window.end_ms <= fired_ms);
        self.dirty.extend(windows.filter(|window| window.end_ms >= opens_at_ms));
    }

    /// Emits what has changed in windows that had fired: `+I` for a new group, `-U` and `+U` for one
    /// whose result has changed.
    pub(super) fn refire(&mut self, out: &mut Output) -> Result<()> {
        for window in std::mem::take(&mut self.dirty) {
            let new = self.results(window)?;
            let none = RecordBatch::new_empty(Arc::clone(&self.schema));
            let old = self.fired.get(&window.end_ms).unwrap_or(&none);
            out.emit(self.changes(old, &new)?);
            self.fired.insert(window.end_ms, new);
        }
        Ok(())
    }

    fn changes(&self, old: &RecordBatch, new: &RecordBatch) -> Result<EventBatch> {
        let groups = 3..3 + self.aggregation.groups.len();
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
