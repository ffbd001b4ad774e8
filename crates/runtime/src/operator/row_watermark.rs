//! Each row's own watermark as a column, for expressions that ask for it.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tidemill_core::{Error, EventBatch, Result};

use super::{Derivation, Operator, Output};

/// Puts each row's watermark behind its columns.
#[derive(Debug)]
pub struct WithRowWatermark {
    schema: SchemaRef,
}

impl WithRowWatermark {
    /// `schema` is what [`WithRowWatermark::schema`] gave. The source must give every row's watermark.
    #[must_use]
    pub fn new(schema: SchemaRef) -> Self {
        Self { schema }
    }

    /// The columns of the rows, then that of their watermark.
    #[must_use]
    pub fn schema(columns: &Schema, watermark: &Field) -> SchemaRef {
        let mut fields = columns.fields().to_vec();
        fields.push(Arc::new(watermark.clone()));
        Arc::new(Schema::new(fields))
    }
}

/// The watermarks of a batch in a type of event time; NULL where no row before has claimed one.
///
/// # Errors
/// The rows come without their watermarks.
pub fn watermark_column(batch: &EventBatch, data_type: &DataType) -> Result<ArrayRef> {
    let watermarks = batch.watermarks.as_ref();
    let watermarks =
        watermarks.ok_or_else(|| Error::internal("rows come without the watermarks that are asked for"))?;
    let known: Int64Array = watermarks.iter().map(|watermark| watermark.filter(|ms| *ms != i64::MIN)).collect();
    Ok(cast(&known, data_type)?)
}

impl Operator for WithRowWatermark {
    fn describe(&self) -> String {
        "add each row's watermark".to_owned()
    }

    fn derivation(&self) -> Derivation {
        Derivation::Same
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let mut columns = batch.rows.columns().to_vec();
        let field = self.schema.field(columns.len());
        columns.push(watermark_column(&batch, field.data_type())?);
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        out.emit(batch.with_rows(rows));
        Ok(())
    }
}
