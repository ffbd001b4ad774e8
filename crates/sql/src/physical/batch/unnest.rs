//! `UNNEST` in the batch driver: the rows that the live operator makes, of one input.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};
use tidemill_core::EventBatch;
use tidemill_runtime::operator::{Operator, Unnest};

use super::over_input::{OverInput, Step};
use super::source::external;

/// The plan node.
pub(super) type UnnestExec = OverInput<Unnest>;

impl Step for Unnest {
    const NAME: &'static str = "UnnestExec";

    fn schema(&self, _input: &SchemaRef) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn details(&self) -> String {
        self.describe()
    }

    fn run(
        &self,
        rows: SendableRecordBatchStream,
        _input: SchemaRef,
        _context: &TaskContext,
    ) -> Result<SendableRecordBatchStream> {
        let unnest = self.clone();
        let output = rows.flat_map(move |rows| {
            let unnested = rows.and_then(|rows| {
                let batch = EventBatch::append(rows);
                let pieces = unnest.apply(&batch).map_err(external)?;
                Ok(pieces.map(|rows| rows.map(|batch| batch.rows).map_err(external)).collect::<Vec<_>>())
            });
            stream::iter(unnested.unwrap_or_else(|error| vec![Err(error)]))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), output)))
    }
}
