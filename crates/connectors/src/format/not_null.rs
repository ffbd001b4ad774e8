//! What the columns of a table promise that is written.

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use tidemill_core::{Error, Result};

/// Checks that no row has NULL in a column of `schema` that is NOT NULL: what was written could not be read again. Flink
/// does so where `table.exec.sink.not-null-enforcer` is `ERROR`, its default.
///
/// # Errors
/// `Data` if a row has.
pub(crate) fn check_not_null(schema: &Schema, rows: &RecordBatch) -> Result<()> {
    let mut columns = schema.fields().iter().zip(rows.columns());
    match columns.find(|(field, column)| !field.is_nullable() && column.null_count() > 0) {
        None => Ok(()),
        Some((field, _)) => {
            Err(Error::data(format!("the column '{}' is NOT NULL, and a row has NULL there", field.name()))
                .hint("leave such rows out in the query, or give them a value with COALESCE"))
        }
    }
}
