//! The windows of a plan, and the table that each reads.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Extension, LogicalPlan};

use super::{is_windowed, scanned};
use crate::catalog::Table;
use crate::window_tvf::WindowTvf;

/// Every window function of the plan whose rows are grouped by window, from the top down: there
/// rows can be late.
pub(crate) fn windows(plan: &LogicalPlan) -> Result<Vec<WindowTvf>> {
    let mut windows = vec![];
    plan.apply(|node| {
        if let LogicalPlan::Aggregate(aggregate) = node
            && is_windowed(aggregate)
        {
            windows.extend(function_below(&aggregate.input).cloned());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(windows)
}

/// The window function below, if only filters, aliases and projections stand between.
pub(crate) fn function_below(plan: &LogicalPlan) -> Option<&WindowTvf> {
    match plan {
        LogicalPlan::Extension(Extension { node }) => node.as_any().downcast_ref::<WindowTvf>(),
        LogicalPlan::Filter(filter) => function_below(&filter.input),
        LogicalPlan::SubqueryAlias(alias) => function_below(&alias.input),
        LogicalPlan::Projection(projection) => function_below(&projection.input),
        _ => None,
    }
}

/// The table below a plan that has one input all the way down.
pub(crate) fn scanned_table(plan: &LogicalPlan) -> Option<Arc<Table>> {
    match plan {
        LogicalPlan::TableScan(scan) => scanned(scan).map(|source| Arc::clone(source.table())),
        other => match other.inputs().as_slice() {
            [input] => scanned_table(input),
            _ => None,
        },
    }
}
