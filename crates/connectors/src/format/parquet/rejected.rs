//! Rows that can't be taken, apart from the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter;
use arrow::datatypes::{Field, Schema, SchemaRef};
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Decoded, Rejected};

use crate::format::json::{JsonEncoder, JsonOptions};

/// What is wrong with rows, by their number; of each row the first fault.
pub(super) type Faults = BTreeMap<usize, Error>;

/// The rows of a chunk, whatever is wrong with them.
pub(super) struct DecodedRows {
    /// The wanted columns.
    pub(super) schema: SchemaRef,
    pub(super) columns: Vec<ArrayRef>,
    pub(super) rows: usize,
    /// Some of them as they were read in a unit that reaches over more years.
    pub(super) coarse: Option<RecordBatch>,
}

impl DecodedRows {
    /// The rows without those that have a fault, which are given as JSON: columns have no record that could be shown.
    pub(super) fn without(self, faults: Faults) -> Result<Decoded> {
        let offset_count = self.rows as u64;
        if faults.is_empty() {
            let rows = batch(self.schema, self.columns, self.rows)?;
            return Ok(Decoded { rows, offsets: None, offset_count, rejected: vec![], elements: None });
        }
        let rejected = self.rejected(&faults)?;
        let taken: BooleanArray = (0..self.rows).map(|row| Some(!faults.contains_key(&row))).collect();
        let columns = self.columns.iter().map(|column| Ok(filter(column, &taken)?)).collect::<Result<Vec<_>>>()?;
        let rows = batch(self.schema, columns, taken.true_count())?;
        let offsets = (0u32..).zip(taken.values()).filter_map(|(row, taken)| taken.then_some(row)).collect();
        Ok(Decoded { rows, offsets: Some(offsets), offset_count, rejected, elements: None })
    }

    fn rejected(&self, faults: &Faults) -> Result<Vec<Rejected>> {
        let rows = self.shown()?;
        let encoder = JsonEncoder::new(rows.schema(), JsonOptions::default())?;
        let objects = encoder.objects(&rows)?;
        let rejected = faults.iter().map(|(&row, error)| {
            let mut record = vec![];
            objects.write(row, &mut record);
            Rejected { offset: row as u64, record, error: error.clone() }
        });
        Ok(rejected.collect())
    }

    /// What is shown of a row: the columns that JSON can hold, each of which may be NULL.
    fn shown(&self) -> Result<RecordBatch> {
        let column = |(field, column): (&Arc<Field>, &ArrayRef)| {
            let coarse = self.coarse.as_ref().and_then(|coarse| coarse.column_by_name(field.name()));
            let column = Arc::clone(coarse.unwrap_or(column));
            let field = Field::new(field.name(), column.data_type().clone(), true);
            in_json(&field).then_some((field, column))
        };
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) =
            self.schema.fields().iter().zip(&self.columns).filter_map(column).unzip();
        batch(Arc::new(Schema::new(fields)), columns, self.rows)
    }
}

fn in_json(field: &Field) -> bool {
    JsonEncoder::new(Arc::new(Schema::new(vec![field.clone()])), JsonOptions::default()).is_ok()
}

fn batch(schema: SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}
