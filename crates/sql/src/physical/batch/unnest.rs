//! `UNNEST` in the batch driver: the rows that the live operator makes, of one input.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use futures::{StreamExt, stream};
use tidemill_core::EventBatch;
use tidemill_runtime::operator::{Operator, Unnest};

use super::source::external;

/// The plan node.
#[derive(Debug)]
pub(super) struct UnnestExec {
    input: Arc<dyn ExecutionPlan>,
    unnest: Unnest,
    properties: Arc<PlanProperties>,
}

impl UnnestExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, unnest: Unnest) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&unnest.schema)),
            Partitioning::UnknownPartitioning(input.properties().partitioning.partition_count()),
            input.properties().emission_type,
            input.properties().boundedness,
        ));
        Self { input, unnest, properties }
    }
}

impl DisplayAs for UnnestExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UnnestExec: {}", self.unnest.describe())
    }
}

impl ExecutionPlan for UnnestExec {
    fn name(&self) -> &'static str {
        "UnnestExec"
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
            Ok([input]) => Ok(Arc::new(Self::new(input, self.unnest.clone()))),
            Err(_) => datafusion::common::internal_err!("UNNEST has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let unnest = self.unnest.clone();
        let output = input.flat_map(move |rows| {
            let unnested = rows.and_then(|rows| {
                let batch = EventBatch::append(rows);
                let pieces = unnest.apply(&batch).map_err(external)?;
                Ok(pieces.map(|rows| rows.map(|batch| batch.rows).map_err(external)).collect::<Vec<_>>())
            });
            stream::iter(unnested.unwrap_or_else(|error| vec![Err(error)]))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.unnest.schema), output)))
    }
}
