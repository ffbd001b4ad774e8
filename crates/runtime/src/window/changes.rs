//! What became of results that were told: of a window that tells more than once.

use std::collections::HashMap;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::row::{RowConverter, Rows, SortField};
use tidemill_core::{EventBatch, Result, RowKind};

/// The way from old results to new ones, which are told apart by the first `key_columns`: `-D` for one
/// that is gone, `-U` and `+U` for one that has changed, `+I` for a new one.
pub(super) fn changes(old: &RecordBatch, new: &RecordBatch, key_columns: usize) -> Result<EventBatch> {
    let both = concat_batches(new.schema_ref(), [old, new])?;
    let (keys, rows) = (rows_of(&both, 0..key_columns)?, rows_of(&both, key_columns..both.num_columns())?);
    let no_key = [].as_slice();
    let key = |row: usize| keys.as_ref().map_or(no_key, |keys| keys.row(row).data());
    let mut known: HashMap<&[u8], usize> = (0..old.num_rows()).map(|row| (key(row), row)).collect();
    let mut changed: Vec<(usize, RowKind)> = vec![];
    for row in old.num_rows()..both.num_rows() {
        let same = |before: usize| rows.as_ref().is_none_or(|rows| rows.row(before) == rows.row(row));
        match known.remove(key(row)) {
            Some(before) if same(before) => {}
            Some(before) => changed.extend([(before, RowKind::UpdateBefore), (row, RowKind::UpdateAfter)]),
            None => changed.push((row, RowKind::Insert)),
        }
    }
    // What is gone goes first, in the order in which it was told.
    let mut gone: Vec<usize> = known.into_values().collect();
    gone.sort_unstable();
    let gone = gone.into_iter().map(|row| (row, RowKind::Delete));
    let (indices, kinds): (Vec<usize>, Vec<RowKind>) = gone.chain(changed).unzip();
    let indices = UInt32Array::from_iter_values(indices.into_iter().map(|row| row as u32));
    Ok(EventBatch { kinds: Some(kinds.into()), ..EventBatch::append(take_record_batch(&both, &indices)?) })
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
