//! The place of each row in the log as columns, for what goes by it.

use std::sync::Arc;

use arrow::array::{RecordBatch, StringViewArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tidemill_core::{Error, EventBatch, Result};

use super::{Derivation, Operator, Output};

/// Puts each row's partition and offset behind its columns.
#[derive(Debug)]
pub struct WithIdentity {
    schema: SchemaRef,
}

impl WithIdentity {
    /// `schema` is what [`WithIdentity::schema`] gave. The rows must come with their lineage.
    #[must_use]
    pub fn new(schema: SchemaRef) -> Self {
        Self { schema }
    }

    /// The columns of the rows, then those of their identity under these names: `STRING`, `BIGINT`.
    #[must_use]
    pub fn schema(columns: &Schema, names: [&str; 2]) -> SchemaRef {
        let mut fields = columns.fields().to_vec();
        fields.push(Arc::new(Field::new(names[0], DataType::Utf8View, false)));
        fields.push(Arc::new(Field::new(names[1], DataType::Int64, false)));
        Arc::new(Schema::new(fields))
    }
}

impl Operator for WithIdentity {
    fn describe(&self) -> String {
        "add each row's partition and offset".to_owned()
    }

    fn derivation(&self) -> Derivation {
        Derivation::Same
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let lineage = batch.lineage.as_ref().ok_or_else(|| Error::internal("rows in order come without identity"))?;
        // One text, which all rows share.
        let partition = StringViewArray::from_iter_values([&*lineage.source.partition]);
        let mut columns = batch.rows.columns().to_vec();
        columns.push(take(&partition, &UInt32Array::from_value(0, batch.num_rows()), None)?);
        columns.push(Arc::new(lineage.offsets()?));
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        out.emit(batch.with_rows(rows));
        Ok(())
    }
}
