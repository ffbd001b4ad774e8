//! The plan node of a step over one input: what all such nodes tell DataFusion of themselves.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::internal_err;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Distribution, EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};

/// What is done with the rows of one input, partition by partition.
pub(super) trait Step: fmt::Debug + Clone + Send + Sync + 'static {
    /// The name of its node.
    const NAME: &'static str;

    /// The columns that it gives, of an input with these.
    fn schema(&self, input: &SchemaRef) -> SchemaRef;

    /// What `EXPLAIN` tells behind the name; nothing by default.
    fn details(&self) -> String {
        String::new()
    }

    /// Which rows a partition must have together; by default any may be anywhere.
    fn distribution(&self, _input: &SchemaRef) -> Distribution {
        Distribution::UnspecifiedDistribution
    }

    /// What it makes of the rows of a partition, which have the columns of `input`.
    ///
    /// # Errors
    /// What stands in the way of beginning; of rows, the stream says it.
    fn run(
        &self,
        rows: SendableRecordBatchStream,
        input: SchemaRef,
        context: &TaskContext,
    ) -> Result<SendableRecordBatchStream>;
}

/// The plan node of a step. DataFusion knows nothing of its rows but how many partitions they have.
#[derive(Debug)]
pub(super) struct OverInput<S> {
    input: Arc<dyn ExecutionPlan>,
    step: S,
    properties: Arc<PlanProperties>,
}

impl<S: Step> OverInput<S> {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, step: S) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(step.schema(&input.schema())),
            Partitioning::UnknownPartitioning(input.properties().partitioning.partition_count()),
            input.properties().emission_type,
            input.properties().boundedness,
        ));
        Self { input, step, properties }
    }
}

impl<S: Step> DisplayAs for OverInput<S> {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = self.step.details();
        if details.is_empty() { f.write_str(S::NAME) } else { write!(f, "{}: {details}", S::NAME) }
    }
}

impl<S: Step> ExecutionPlan for OverInput<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![self.step.distribution(&self.input.schema())]
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
            Ok([input]) => Ok(Arc::new(Self::new(input, self.step.clone()))),
            Err(_) => internal_err!("{} has one input", S::NAME),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.input.execute(partition, Arc::clone(&context))?;
        self.step.run(rows, self.input.schema(), &context)
    }
}
