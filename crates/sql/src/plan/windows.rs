//! The windows of a plan, and the table that each reads.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Extension, LogicalPlan};

use super::scanned;
use crate::catalog::Table;
use crate::window_tvf::WindowTvf;

/// Every window function of the plan, from the top down.
pub(crate) fn windows(plan: &LogicalPlan) -> Result<Vec<WindowTvf>> {
    let mut windows = vec![];
    plan.apply(|node| {
        if let LogicalPlan::Extension(Extension { node }) = node
            && let Some(window) = node.as_any().downcast_ref::<WindowTvf>()
        {
            windows.push(window.clone());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(windows)
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
