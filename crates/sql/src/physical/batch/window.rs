//! Windows as columns: each row once for every window that it is in.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::take_record_batch;
use arrow::datatypes::{Int64Type, SchemaRef, TimestampMillisecondType};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use tidemill_core::EventTimes;
use tidemill_runtime::window::{Window, WindowAssigner, windows_of};

use super::LateRows;
use super::over_input::{OverInput, Step};

/// What a window function does to a batch.
#[derive(Debug, Clone)]
pub(super) struct WindowColumns {
    pub(super) time: usize,
    pub(super) range: EventTimes,
    pub(super) assigner: WindowAssigner,
    /// The indices of partition and offset, and the rows to leave out.
    pub(super) except: Option<(usize, usize, Arc<LateRows>)>,
    /// The indices of the input's columns that stay.
    pub(super) kept: Vec<usize>,
    pub(super) schema: SchemaRef,
}

impl WindowColumns {
    fn apply(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let times = rows.column(self.time).as_primitive::<TimestampMillisecondType>();
        let (indices, bounds) =
            windows_of(times, self.range, self.assigner, |row, window| !self.excepted(rows, row, window));
        let taken = take_record_batch(&rows.project(&self.kept)?, &indices)?;
        let columns = taken.columns().iter().cloned().chain(bounds).collect();
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    fn excepted(&self, rows: &RecordBatch, row: usize, window: Window) -> bool {
        let Some((partition, offset, late)) = &self.except else { return false };
        let partition = rows.column(*partition).as_string_view().value(row);
        let offset = rows.column(*offset).as_primitive::<Int64Type>().value(row);
        late.contains(partition, offset, window)
    }
}

/// The plan node of [`WindowColumns`].
pub(super) type WindowExec = OverInput<WindowColumns>;

impl Step for WindowColumns {
    const NAME: &'static str = "WindowExec";

    fn schema(&self, _input: &SchemaRef) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn details(&self) -> String {
        self.assigner.to_string()
    }

    fn run(
        &self,
        rows: SendableRecordBatchStream,
        _input: SchemaRef,
        _context: &TaskContext,
    ) -> Result<SendableRecordBatchStream> {
        let columns = self.clone();
        let output = rows.map(move |rows| columns.apply(&rows?));
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), output)))
    }
}
