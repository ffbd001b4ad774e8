//! Names for what a query selects without one: `EXPR$0`, `EXPR$1`, by position, as Flink names them.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Ident, Query, SelectItem, SetExpr, VisitMut, VisitorMut};

/// Gives a name to every expression without one, in the query and in its subqueries.
pub(crate) fn position_columns(query: &mut Query) {
    let done: ControlFlow<()> = query.visit(&mut Namer);
    debug_assert!(done.is_continue());
}

struct Namer;

impl VisitorMut for Namer {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        name_items(&mut query.body);
        ControlFlow::Continue(())
    }
}

fn name_items(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            for (position, item) in select.projection.iter_mut().enumerate() {
                if let SelectItem::UnnamedExpr(expr) = item
                    && !matches!(
                        expr,
                        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::CompoundFieldAccess { .. }
                    )
                {
                    let alias = Ident::with_quote('`', format!("EXPR${position}"));
                    *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
                }
            }
        }
        SetExpr::SetOperation { left, right, .. } => {
            name_items(left);
            name_items(right);
        }
        _ => {}
    }
}
