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

/// Whether the plan reads a table.
pub(crate) fn reads(plan: &LogicalPlan, table: &Table) -> Result<bool> {
    plan.exists(|node| {
        let LogicalPlan::TableScan(scan) = node else { return Ok(false) };
        Ok(scanned(scan).is_some_and(|source| source.table().name == table.name))
    })
}

/// Every table that the plan reads.
pub(crate) fn all_scanned_tables(plan: &LogicalPlan) -> Vec<Arc<Table>> {
    match plan {
        LogicalPlan::TableScan(_) => scanned_tables(plan),
        other => other.inputs().into_iter().flat_map(all_scanned_tables).collect(),
    }
}

/// The tables below a plan that makes each of its rows of one row.
pub(crate) fn scanned_tables(plan: &LogicalPlan) -> Vec<Arc<Table>> {
    match plan {
        LogicalPlan::TableScan(scan) => scanned(scan).map(|source| Arc::clone(source.table())).into_iter().collect(),
        LogicalPlan::Aggregate(_) => vec![],
        other => other.inputs().into_iter().flat_map(scanned_tables).collect(),
    }
}
