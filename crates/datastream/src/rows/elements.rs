//! Rows of a table as elements.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, TimeUnit};
use serde::de::DeserializeOwned;
use tidemill_core::{Error, Result};

/// One element a row, made of its columns by their names. Times are milliseconds, whatever digits their columns have.
///
/// # Errors
/// `Invalid` if the type needs what the columns do not give.
pub(crate) fn row_elements<T: DeserializeOwned>(rows: &RecordBatch) -> Result<Vec<T>> {
    let rows = in_milliseconds(rows)?;
    serde_arrow::from_record_batch(&rows).map_err(|e| {
        Error::invalid(format!("a row is no {}: {e}", std::any::type_name::<T>()))
            .because(e)
            .hint("its fields are columns of the table, by name; a column that can be NULL is an Option")
    })
}

/// The same rows, with their times cut to milliseconds.
fn in_milliseconds(rows: &RecordBatch) -> Result<Cow<'_, RecordBatch>> {
    let fields: Vec<FieldRef> = rows.schema_ref().fields().iter().map(field_in_milliseconds).collect();
    if fields.iter().eq(rows.schema_ref().fields()) {
        return Ok(Cow::Borrowed(rows));
    }
    let columns = rows.columns().iter().zip(&fields).map(|(column, field)| cast(column, field.data_type()));
    let columns = columns.collect::<std::result::Result<_, _>>()?;
    Ok(Cow::Owned(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?))
}

fn field_in_milliseconds(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, zone) => {
            DataType::Timestamp(TimeUnit::Millisecond, zone.clone())
        }
        DataType::List(element) => DataType::List(field_in_milliseconds(element)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field_in_milliseconds).collect()),
        other => other.clone(),
    };
    if data_type == *field.data_type() {
        return Arc::clone(field);
    }
    Arc::new(Field::new(field.name(), data_type, field.is_nullable()).with_metadata(field.metadata().clone()))
}
