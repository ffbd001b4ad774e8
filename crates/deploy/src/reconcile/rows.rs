//! Rows as a multiset, changes folded: what one run has more often than another.

use std::collections::HashMap;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use arrow::row::{OwnedRow, RowConverter, SortField};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use tidemill_core::{Error, EventBatch, Result};

use super::{Difference, DifferenceKind};

/// How often each row is there.
pub(super) struct Counted {
    converter: RowConverter,
    rows: HashMap<OwnedRow, usize>,
}

impl Counted {
    pub(super) fn total(&self) -> usize {
        self.rows.values().sum()
    }

    /// How many of these rows the other has not.
    pub(super) fn not_in(&self, other: &Self) -> usize {
        self.rows.iter().map(|(row, count)| count.saturating_sub(other.count(row))).sum()
    }

    fn count(&self, row: &OwnedRow) -> usize {
        self.rows.get(row).copied().unwrap_or(0)
    }

    fn more_often_than(&self, other: &Self, kind: DifferenceKind, schema: &SchemaRef) -> Result<Vec<Difference>> {
        let mut differences = vec![];
        for (row, count) in &self.rows {
            let count = count.saturating_sub(other.count(row));
            if count > 0 {
                let columns = self.converter.convert_rows([row.row()])?;
                differences.push(Difference { kind, count, row: describe(schema, &columns, 0)? });
            }
        }
        Ok(differences)
    }
}

pub(super) fn counted(schema: &SchemaRef, batches: &[EventBatch]) -> Result<Counted> {
    let fields = schema.fields().iter().map(|f| SortField::new(f.data_type().clone())).collect();
    let converter = RowConverter::new(fields)?;
    let mut changes: HashMap<OwnedRow, i64> = HashMap::new();
    for batch in batches {
        let converted = converter.convert_columns(batch.rows.columns())?;
        for (index, row) in converted.iter().enumerate() {
            let adds = batch.kinds.as_ref().is_none_or(|kinds| kinds[index].adds());
            *changes.entry(row.owned()).or_insert(0) += if adds { 1 } else { -1 };
        }
    }
    let mut rows = HashMap::new();
    for (row, count) in changes.into_iter().filter(|(_, count)| *count != 0) {
        let Ok(count) = usize::try_from(count) else {
            let row = describe(schema, &converter.convert_rows([row.row()])?, 0)?;
            return Err(Error::internal(format!("the run takes away a row that it never gave: {row}")));
        };
        rows.insert(row, count);
    }
    Ok(Counted { converter, rows })
}

/// What the live run and the batch over what was not late do not share.
pub(super) fn differences(schema: &SchemaRef, live: &Counted, batch: &Counted) -> Result<Vec<Difference>> {
    let mut differences = live.more_often_than(batch, DifferenceKind::OnlyLive, schema)?;
    differences.extend(batch.more_often_than(live, DifferenceKind::OnlyBatch, schema)?);
    Ok(differences)
}

/// `{column=value, ...}`
pub(super) fn describe(schema: &SchemaRef, columns: &[ArrayRef], row: usize) -> Result<String> {
    let options = FormatOptions::default().with_null("null");
    let mut values = vec![];
    for (field, column) in schema.fields().iter().zip(columns) {
        let value = ArrayFormatter::try_new(column, &options)?.value(row).to_string();
        values.push(format!("{}={value}", field.name()));
    }
    Ok(format!("{{{}}}", values.join(", ")))
}
