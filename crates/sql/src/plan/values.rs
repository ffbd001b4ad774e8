//! `VALUES`: the rows of one column have the type that Flink finds for them.
//!
//! DataFusion makes the rows agree while it plans, when literals have its own types: a NULL beside an INT would be a
//! BIGINT. Its casts can't be told from those of the text, so each value is marked, and the casts around marks go.

use std::ops::ControlFlow;

use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Values};
use datafusion::sql::sqlparser::ast::{Ident, Query, SetExpr, VisitMut, VisitorMut};

use super::flink_types::{agree_all, typed};
use crate::function::AS_WRITTEN;
use crate::parse::call;

/// Marks every value of every `VALUES`.
pub(crate) fn mark_values(query: &mut Query) {
    let done: ControlFlow<()> = query.visit(&mut Marks);
    debug_assert!(done.is_continue());
}

struct Marks;

impl VisitorMut for Marks {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        mark(&mut query.body);
        ControlFlow::Continue(())
    }
}

fn mark(body: &mut SetExpr) {
    match body {
        SetExpr::SetOperation { left, right, .. } => {
            mark(left);
            mark(right);
        }
        SetExpr::Values(values) => {
            for row in &mut values.rows {
                let marked = |value| call(Ident::new(AS_WRITTEN), vec![value]);
                row.content = std::mem::take(&mut row.content).into_iter().map(marked).collect();
            }
        }
        // A query in brackets is visited by itself.
        _ => {}
    }
}

/// The rows with Flink's types.
pub(super) fn values_in_flink_types(values: Values) -> Result<LogicalPlan> {
    let schema = DFSchema::empty();
    let typed = |row: Vec<Expr>| row.into_iter().map(|value| typed(unmarked(value), &schema)).collect();
    let mut rows = values.values.into_iter().map(typed).collect::<Result<Vec<Vec<Expr>>>>()?;
    for column in 0..rows.first().map_or(0, Vec::len) {
        let given: Vec<Expr> = rows.iter_mut().map(|row| std::mem::take(&mut row[column])).collect();
        let agreed = agree_all("the rows of VALUES have no type in common", given, &schema)?;
        rows.iter_mut().zip(agreed).for_each(|(row, value)| row[column] = value);
    }
    LogicalPlanBuilder::values(rows)?.build()
}

/// The value as it was written.
fn unmarked(value: Expr) -> Expr {
    let marked = |expr: &Expr| matches!(expr, Expr::ScalarFunction(call) if call.func.name() == AS_WRITTEN);
    let value = match value {
        Expr::Cast(cast) if marked(&cast.expr) => *cast.expr,
        other => other,
    };
    match value {
        Expr::ScalarFunction(mut call) if call.func.name() == AS_WRITTEN && call.args.len() == 1 => call.args.remove(0),
        other => other,
    }
}
