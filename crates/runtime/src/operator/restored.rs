//! Takes up what snapshots have left, and refuses what does not fit.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use tidemill_core::{Error, Result};

/// The rows of a section, in the columns that its owner has.
///
/// # Errors
/// `Data` if they have others.
pub(crate) fn fitting(section: &str, batches: Vec<RecordBatch>, schema: &SchemaRef) -> Result<Vec<RecordBatch>> {
    let fit = |batch: RecordBatch| {
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &options)
            .map_err(|e| Error::data(format!("the section '{section}' of the state does not fit: {e}")).because(e))
    };
    batches.into_iter().map(fit).collect()
}
