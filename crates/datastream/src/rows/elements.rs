//! Rows of a table as elements.

use arrow::array::RecordBatch;
use serde::de::DeserializeOwned;
use tidemill_core::{Error, Result};

/// One element a row, made of its columns by their names.
///
/// # Errors
/// `Invalid` if the type needs what the columns do not give.
pub(crate) fn row_elements<T: DeserializeOwned>(rows: &RecordBatch) -> Result<Vec<T>> {
    serde_arrow::from_record_batch(rows).map_err(|e| {
        Error::invalid(format!("a row is no {}: {e}", std::any::type_name::<T>()))
            .because(e)
            .hint("its fields are columns of the table, by name; a column that can be NULL is an Option")
    })
}
