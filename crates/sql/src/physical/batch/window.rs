//! Windows as columns: each row once for every window that it is in.

use std::fmt;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::take_record_batch;
use arrow::datatypes::{Int64Type, SchemaRef, TimestampMillisecondType};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use tidemill_core::EventTimes;
use tidemill_runtime::window::{Window, WindowAssigner, windows_of};

use super::LateRows;

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
#[derive(Debug)]
pub(super) struct WindowExec {
    input: Arc<dyn ExecutionPlan>,
    columns: WindowColumns,
    properties: Arc<PlanProperties>,
}

impl WindowExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, columns: WindowColumns) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&columns.schema)),
            datafusion::physical_plan::Partitioning::UnknownPartitioning(
                input.properties().partitioning.partition_count(),
            ),
            input.properties().emission_type,
            input.properties().boundedness,
        ));
        Self { input, columns, properties }
    }
}

impl DisplayAs for WindowExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WindowExec: {}", self.columns.assigner)
    }
}

impl ExecutionPlan for WindowExec {
    fn name(&self) -> &'static str {
        "WindowExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(children) {
            Ok([input]) => Ok(Arc::new(Self::new(input, self.columns.clone()))),
            Err(_) => datafusion::common::internal_err!("a window has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let columns = self.columns.clone();
        let output = input.map(move |rows| columns.apply(&rows?));
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.columns.schema), output)))
    }
}
