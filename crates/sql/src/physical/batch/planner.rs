//! DataFusion's physical planner, taught our windows and `UNNEST`, and what it may not know below grouping sets.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::error::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};
use tidemill_core::Error;

use super::LateRows;
use super::grouping_sets::{AsTheyCome, UnknownRows, UnknownRowsExec, with_unknown_keys};
use super::session::{SessionColumns, SessionExec};
use super::source::external;
use super::unnest::UnnestExec;
use super::window::{WindowColumns, WindowExec};
use crate::unnest::Unnest;
use crate::window_tvf::{WindowKind, WindowTvf};

/// Plans queries in which nothing is left out.
#[derive(Debug)]
pub(crate) struct BatchQueryPlanner;

#[async_trait]
impl QueryPlanner for BatchQueryPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, state: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        physical_plan(plan, state, &Arc::default()).await
    }
}

/// The physical plan of an optimized plan; `late` is left out where the plan carries identities.
pub(crate) async fn physical_plan(
    plan: &LogicalPlan,
    state: &dyn Session,
    late: &Arc<LateRows>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let windows = Arc::new(WindowExtensionPlanner { late: Arc::clone(late) });
    let plan = with_unknown_keys(plan.clone())?;
    DefaultPhysicalPlanner::with_extension_planners(vec![windows]).create_physical_plan(&plan, state).await
}

/// As in Flink.
fn no_history() -> Error {
    Error::invalid("a window over processing time has no batch: a history does not say when its rows were processed")
        .hint("run the file live, or make the window over event time")
}

struct WindowExtensionPlanner {
    late: Arc<LateRows>,
}

#[async_trait]
impl ExtensionPlanner for WindowExtensionPlanner {
    async fn plan_extension(
        &self,
        _planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        _session: &dyn Session,
        _context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let [input] = physical_inputs else {
            return datafusion::common::internal_err!("{} has one input", node.name());
        };
        if let Some(unnest) = node.as_any().downcast_ref::<Unnest>() {
            return Ok(Some(Arc::new(UnnestExec::new(Arc::clone(input), unnest.operator()?))));
        }
        if node.as_any().is::<UnknownRows>() {
            return Ok(Some(Arc::new(UnknownRowsExec::new(Arc::clone(input), AsTheyCome))));
        }
        let Some(window) = node.as_any().downcast_ref::<WindowTvf>() else { return Ok(None) };
        if window.by_clock() {
            return Err(external(no_history()));
        }
        let schema = window.input.schema();
        let except = match &window.identity {
            Some([partition, offset]) => {
                Some((schema.index_of_column(partition)?, schema.index_of_column(offset)?, Arc::clone(&self.late)))
            }
            None => None,
        };
        let dropped = except.as_ref().map(|(partition, offset, _)| [*partition, *offset]);
        let kept = (0..schema.fields().len()).filter(|i| !dropped.iter().flatten().any(|d| d == i)).collect();
        let (time, range, input) = (window.time_index()?, window.range(), Arc::clone(input));
        let output = Arc::new(UserDefinedLogicalNodeCore::schema(window).as_arrow().clone());
        Ok(Some(match &window.kind {
            WindowKind::Aligned(assigner) => {
                let columns = WindowColumns { time, range, assigner: *assigner, except, kept, schema: output };
                Arc::new(WindowExec::new(input, columns))
            }
            WindowKind::Session { gap_ms, zone, key } => {
                let key = key.iter().map(|column| schema.index_of_column(column)).collect::<Result<_>>()?;
                let (gap_ms, zone) = (*gap_ms, *zone);
                let columns = SessionColumns { time, range, key, gap_ms, zone, except, kept, schema: output };
                Arc::new(SessionExec::new(input, columns))
            }
        }))
    }
}
