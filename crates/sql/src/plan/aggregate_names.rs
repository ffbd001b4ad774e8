//! Names of aggregates that tell casts apart: `SUM(x)` and `SUM(CAST(x AS BIGINT))` in one query.
//!
//! DataFusion leaves casts out of the name of an expression, finds two columns of one name, and refuses the query.

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawAggregateExpr};

/// Gives arguments that have a cast a name that has it too.
#[derive(Debug)]
pub(crate) struct AggregateNames;

impl ExprPlanner for AggregateNames {
    fn plan_aggregate(&self, call: RawAggregateExpr) -> Result<PlannerResult<RawAggregateExpr>> {
        let args = call.args.into_iter().map(named).collect::<Result<_>>()?;
        Ok(PlannerResult::Original(RawAggregateExpr { args, ..call }))
    }
}

fn named(argument: Expr) -> Result<Expr> {
    let casts = argument.exists(|expr| Ok(matches!(expr, Expr::Cast(_) | Expr::TryCast(_))))?;
    let name = argument.to_string();
    Ok(if casts { argument.alias(name) } else { argument })
}
