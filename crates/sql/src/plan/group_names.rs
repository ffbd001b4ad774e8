//! Keys of `GROUP BY` that are told apart by their casts alone: they are marked, so that the planner names them as they
//! are written. `plan/flink_types` takes the marks away again.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, GroupByExpr, Ident, Query, SetExpr, VisitMut, VisitorMut, visit_expressions,
};

use crate::function::AS_WRITTEN;
use crate::parse::call;

/// Marks the keys that have casts, wherever they stand in their query.
pub(crate) fn mark_casts(query: &mut Query) {
    let done: ControlFlow<()> = query.visit(&mut Queries);
    debug_assert!(done.is_continue());
}

struct Queries;

impl VisitorMut for Queries {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let SetExpr::Select(select) = query.body.as_mut() else { return ControlFlow::Continue(()) };
        let GroupByExpr::Expressions(keys, _) = &select.group_by else { return ControlFlow::Continue(()) };
        let casts: Vec<Expr> = keys.iter().filter(|key| has_cast(key)).cloned().collect();
        // A single key has no other to be taken for.
        if casts.is_empty() || keys.len() == 1 {
            return ControlFlow::Continue(());
        }
        let mut marks = Marks(casts);
        select.projection.visit(&mut marks)?;
        select.group_by.visit(&mut marks)?;
        select.having.visit(&mut marks)?;
        query.order_by.visit(&mut marks)
    }
}

fn has_cast(expr: &Expr) -> bool {
    let found = visit_expressions(expr, |expr| match expr {
        Expr::Cast { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

struct Marks(Vec<Expr>);

impl VisitorMut for Marks {
    type Break = ();

    /// Not before its parts: what is marked is not looked at again.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.0.contains(expr) {
            *expr = call(Ident::new(AS_WRITTEN), vec![expr.clone()]);
        }
        ControlFlow::Continue(())
    }
}
