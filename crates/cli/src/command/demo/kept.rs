//! The rows that a statement's changes leave, kept to be compared with the batch.
//!
//! A funnel tells a change for nearly every event: what is kept is the sum of the changes, so that a demo can run for
//! hours.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::row::{OwnedRow, RowConverter, SortField};
use tidemill_core::{EventBatch, Result, RowKind};
use tidemill_deploy::StatementCapture;

/// Rows with how often they are there.
pub(super) struct Kept {
    schema: SchemaRef,
    converter: RowConverter,
    /// Below zero: taken back more often than given.
    rows: HashMap<OwnedRow, i64>,
    late: Vec<RecordBatch>,
}

impl Kept {
    pub(super) fn new(schema: SchemaRef) -> Result<Self> {
        let fields = schema.fields().iter().map(|field| SortField::new(field.data_type().clone())).collect();
        Ok(Self { schema, converter: RowConverter::new(fields)?, rows: HashMap::new(), late: vec![] })
    }

    pub(super) fn change(&mut self, batch: &EventBatch) -> Result<()> {
        let rows = self.converter.convert_columns(batch.rows.columns())?;
        for (index, row) in rows.iter().enumerate() {
            let adds = batch.kinds.as_ref().is_none_or(|kinds| kinds[index].adds());
            let row = row.owned();
            let count = self.rows.get(&row).copied().unwrap_or(0) + if adds { 1 } else { -1 };
            match count {
                0 => self.rows.remove(&row),
                _ => self.rows.insert(row, count),
            };
        }
        Ok(())
    }

    pub(super) fn late(&mut self, rows: &RecordBatch) {
        self.late.push(rows.clone());
    }

    /// Late rows, as they came.
    pub(super) fn late_rows(&self) -> &[RecordBatch] {
        &self.late
    }

    /// All of it, as one batch of changes.
    pub(super) fn captured(self) -> Result<StatementCapture> {
        let (mut rows, mut kinds) = (vec![], vec![]);
        for (row, count) in &self.rows {
            let kind = if *count > 0 { RowKind::Insert } else { RowKind::Delete };
            for _ in 0..count.unsigned_abs() {
                rows.push(row.row());
                kinds.push(kind);
            }
        }
        let batch = RecordBatch::try_new(self.schema, self.converter.convert_rows(rows)?)?;
        let rows = vec![EventBatch { kinds: Some(kinds.into()), ..EventBatch::append(batch) }];
        Ok(StatementCapture { rows, late: self.late })
    }
}

#[cfg(test)]
mod tests;
