//! `ROW_NUMBER()` and `ORDER BY ... LIMIT` without chance: rows that are equal in its order are told apart by event time, then
//! by their other columns, the same in both drivers. Rows that are equal in all columns can't be told
//! apart by anybody.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::{Sort, WindowFunction};
use datafusion::logical_expr::{Expr, Limit, LogicalPlan, Projection, Window};
use std::sync::Arc;

use super::is_event_time;

/// Completes the order of every `ROW_NUMBER()` and of every `ORDER BY` that is cut.
pub(crate) fn break_ties(plan: LogicalPlan) -> Result<LogicalPlan> {
    let done = plan.transform_up(|node| match &node {
        LogicalPlan::Window(window) => complete(window).map(|plan| match plan {
            Some(plan) => Transformed::yes(plan),
            None => Transformed::no(node.clone()),
        }),
        LogicalPlan::Limit(limit) => match completed(&limit.input) {
            Some(input) => {
                let input = Arc::new(input);
                Ok(Transformed::yes(LogicalPlan::Limit(Limit { input, ..limit.clone() })))
            }
            None => Ok(Transformed::no(node)),
        },
        _ => Ok(Transformed::no(node)),
    })?;
    Ok(done.data)
}

/// The sort with a complete order, also below the projection that drops what is only sorted by.
fn completed(plan: &LogicalPlan) -> Option<LogicalPlan> {
    match plan {
        LogicalPlan::Sort(sort) => {
            let mut sort = sort.clone();
            complete_order(&mut sort.expr, &tie_breakers(&sort.input));
            Some(LogicalPlan::Sort(sort))
        }
        LogicalPlan::Projection(projection) => {
            let mut projection = projection.clone();
            projection.input = Arc::new(completed(&projection.input)?);
            Some(LogicalPlan::Projection(projection))
        }
        _ => None,
    }
}

/// The node with a complete order, its columns under the names that they had.
fn complete(window: &Window) -> Result<Option<LogicalPlan>> {
    let ties = tie_breakers(&window.input);
    let completed: Vec<Expr> = window.window_expr.iter().map(|expr| with_ties(expr, &ties)).collect();
    if completed == window.window_expr {
        return Ok(None);
    }
    let renamed = Window::try_new(completed, Arc::clone(&window.input))?;
    let schema = Arc::clone(&renamed.schema);
    under_old_names(LogicalPlan::Window(renamed), &schema, &window.schema).map(Some)
}

/// The plan, whose columns are those of `present`, with its columns under the names of `old`.
pub(super) fn under_old_names(plan: LogicalPlan, present: &DFSchema, old: &DFSchema) -> Result<LogicalPlan> {
    let columns = (0..old.fields().len()).map(|index| {
        let (now, field) = present.qualified_field(index);
        let (before, name) = old.qualified_field(index);
        let column = Expr::Column(Column::new(now.cloned(), field.name().clone()));
        if field.name() == name.name() && now == before {
            column
        } else {
            column.alias_qualified(before.cloned(), name.name().clone())
        }
    });
    Ok(LogicalPlan::Projection(Projection::try_new(columns.collect(), Arc::new(plan))?))
}

fn with_ties(expr: &Expr, ties: &[Column]) -> Expr {
    match expr {
        Expr::Alias(alias) => with_ties(&alias.expr, ties).alias(alias.name.clone()),
        Expr::WindowFunction(function) if function.fun.name() == "row_number" => {
            let mut function: Box<WindowFunction> = function.clone();
            complete_order(&mut function.params.order_by, ties);
            Expr::WindowFunction(function)
        }
        other => other.clone(),
    }
}

fn complete_order(order: &mut Vec<Sort>, ties: &[Column]) {
    for column in ties {
        let expr = Expr::Column(column.clone());
        if !order.iter().any(|sort| sort.expr == expr) {
            order.push(Sort::new(expr, true, true));
        }
    }
}

/// Event time first, then the other columns in their order; a map has no order.
fn tie_breakers(input: &LogicalPlan) -> Vec<Column> {
    let sortable = |data_type: &DataType| !matches!(data_type, DataType::Map(..));
    let mut columns: Vec<Column> = input
        .schema()
        .iter()
        .filter(|(_, field)| sortable(field.data_type()))
        .map(|(qualifier, field)| Column::new(qualifier.cloned(), field.name().clone()))
        .collect();
    columns.sort_by_key(|column| !is_event_time(input, column));
    columns
}
