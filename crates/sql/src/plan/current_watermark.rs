//! `CURRENT_WATERMARK(event_time)` becomes a column of the scan: the row's own watermark, the highest that the rows
//! before it in its partition have claimed, and NULL where none has.
//!
//! Flink gives the operator's watermark at the moment in which the row passes, and NULL for a history. A row's own is a
//! function of the log: the same live and in a batch, and what decides whether the row is late.

use std::any::Any;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, TableScan};
use tidemill_core::Error;

use super::carry::{Cargo, Carried, all_columns};
use super::is_event_time;
use super::ties::under_old_names;
use crate::function::CurrentWatermark;
use crate::physical::ROW_WATERMARK;
use crate::physical::batch::{SourceTable, identity_column, scan_with_watermark};

const WATERMARK: Cargo<1> = Cargo { names: [ROW_WATERMARK], element: None, at_scan, made_of_several };

/// Puts the column in the place of every call.
pub(crate) fn row_watermarks(plan: LogicalPlan) -> Result<LogicalPlan> {
    let done = plan.transform_up_with_subqueries(|node| {
        let mut calls = false;
        node.apply_expressions(|expr| {
            calls |= expr.exists(|expr| Ok(argument(expr).is_some()))?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        if calls { with_column(node).map(Transformed::yes) } else { Ok(Transformed::no(node)) }
    })?;
    if done.transformed { done.data.recompute_schema() } else { Ok(done.data) }
}

/// An expression over a table's columns, which has no watermark: the watermark is made of such.
///
/// # Errors
/// There is a call in it.
pub(crate) fn refuse_watermark(expr: Expr) -> Result<Expr> {
    match expr.exists(|expr| Ok(argument(expr).is_some()))? {
        true => Err(refused("CURRENT_WATERMARK stands in a query, not in a table's columns")),
        false => Ok(expr),
    }
}

/// What a call asks for the watermark of.
fn argument(expr: &Expr) -> Option<&Expr> {
    let Expr::ScalarFunction(call) = expr else { return None };
    let _: &CurrentWatermark = (call.func.inner().as_ref() as &dyn Any).downcast_ref()?;
    call.args.first()
}

/// The node with the column among those of its input, and with its own columns as they were.
fn with_column(node: LogicalPlan) -> Result<LogicalPlan> {
    let old = Arc::clone(node.schema());
    let [input] = node.inputs()[..] else {
        return Err(refused("CURRENT_WATERMARK stands in SELECT, WHERE and GROUP BY"));
    };
    let carried = WATERMARK.carry(input)?.plan;
    let watermark = Expr::Column(identity_column(&carried, ROW_WATERMARK));
    let names = NamePreserver::new(&node);
    let exprs = node.expressions().into_iter().map(|expr| {
        let name = names.save(&expr);
        let replaced = expr.transform_up(|expr| match argument(&expr) {
            Some(Expr::Column(column)) if is_event_time(input, column) => Ok(Transformed::yes(watermark.clone())),
            Some(_) => Err(refused("CURRENT_WATERMARK takes the column that a table's WATERMARK FOR names")),
            None => Ok(Transformed::no(expr)),
        })?;
        Ok(name.restore(replaced.data))
    });
    let exprs = exprs.collect::<Result<Vec<_>>>()?;
    let node = node.with_new_exprs(exprs, vec![carried])?.recompute_schema()?;
    let own = old.fields().len();
    if node.schema().fields().len() == own {
        let present = Arc::clone(node.schema());
        return under_old_names(node, &present, &old);
    }
    // A filter gives what it is given.
    let columns = all_columns(&node).into_iter().filter(|column| *column != watermark).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(node))?))
}

fn at_scan(scan: &TableScan, source: &SourceTable) -> Result<LogicalPlan> {
    let plan = scan_with_watermark(scan, source)?;
    let mut columns: Vec<Expr> = all_columns(&LogicalPlan::TableScan(scan.clone()));
    let watermark = Expr::Column(identity_column(&plan, ROW_WATERMARK));
    if !columns.contains(&watermark) {
        columns.push(watermark);
    }
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?))
}

fn made_of_several(plan: &LogicalPlan) -> Result<Carried> {
    Err(refused(match plan {
        LogicalPlan::TableScan(_) => {
            "CURRENT_WATERMARK needs the rows of a table that is declared, and these are a stream's"
        }
        _ => "CURRENT_WATERMARK needs the rows of a table, and these are made of several",
    }))
}

fn refused(message: &str) -> DataFusionError {
    let hint = "late rows go to the table of SET 'tidemill.late-output.<target>', with their watermark";
    DataFusionError::External(Box::new(Error::invalid(message).hint(hint)))
}
