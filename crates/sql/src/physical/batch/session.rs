//! Sessions as columns: each row with the bounds of its session.
//!
//! A session needs the rows of a key together, in the order of their times, and no order of the keys: [`keyed`] puts them
//! so, which a sort by key and time would do in several times the time. Where there is no memory for all, [`apart`] has
//! some keys at a time.

mod apart;
mod keyed;

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{Distribution, EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, TryStreamExt};
use tidemill_core::EventTimes;
use tidemill_runtime::key_groups::Spill;
use tidemill_runtime::time_zone::TimeZone;

use self::apart::Rows;
use super::LateRows;

/// What a session function does to rows.
#[derive(Debug, Clone)]
pub(super) struct SessionColumns {
    pub(super) time: usize,
    pub(super) range: EventTimes,
    pub(super) key: Vec<usize>,
    pub(super) gap_ms: i64,
    /// On whose clocks the bounds are told.
    pub(super) zone: TimeZone,
    /// The indices of partition and offset, and the rows to leave out.
    pub(super) except: Option<(usize, usize, Arc<LateRows>)>,
    /// The indices of the input's columns that stay.
    pub(super) kept: Vec<usize>,
    pub(super) schema: SchemaRef,
}

/// The plan node of [`SessionColumns`].
#[derive(Debug)]
pub(super) struct SessionExec {
    input: Arc<dyn ExecutionPlan>,
    columns: SessionColumns,
    properties: Arc<PlanProperties>,
}

impl SessionExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, columns: SessionColumns) -> Self {
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

    fn expr(&self, index: usize) -> Arc<dyn PhysicalExpr> {
        Arc::new(Column::new(self.input.schema().field(index).name(), index))
    }
}

impl DisplayAs for SessionExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionExec: gap={} ms", self.columns.gap_ms)
    }
}

impl ExecutionPlan for SessionExec {
    fn name(&self) -> &'static str {
        "SessionExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        if self.columns.key.is_empty() {
            return vec![Distribution::SinglePartition];
        }
        vec![Distribution::KeyPartitioned(self.columns.key.iter().map(|&k| self.expr(k)).collect())]
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
            Err(_) => datafusion::common::internal_err!("a session has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let spill = context.session_config().get_extension::<Spill>();
        let mut rows = Rows::new(self.columns.clone(), self.input.schema(), context.memory_pool(), spill)?;
        let mut input = self.input.execute(partition, Arc::clone(&context))?;
        let batch_rows = context.session_config().batch_size();
        let sessions = async move {
            while let Some(batch) = input.next().await {
                rows.push(&batch?)?;
            }
            Ok::<_, DataFusionError>(futures::stream::iter(rows.into_sessions(batch_rows)?))
        };
        let batches = futures::stream::once(sessions).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.columns.schema), batches)))
    }
}
