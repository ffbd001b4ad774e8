//! Flink's older windows, `GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)`, are written as window table
//! functions before planning: planner and drivers know one form only.
//!
//! ```sql
//! SELECT k, TUMBLE_START(ts, INTERVAL '1' MINUTE) FROM t WHERE a > 1 GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE)
//! -- becomes
//! SELECT k, t.window_start FROM TABLE(TUMBLE((SELECT * FROM t WHERE a > 1), DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS t
//! GROUP BY k, t.window_start, t.window_end
//! ```

mod call;
mod input;

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, GroupByExpr, Ident, OrderBy, Query, Select, SelectItem, SetExpr, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::tokenizer::Span;
use tidemill_core::{Error, Excerpt, Result};

use super::Bound;
use crate::parse::{SqlText, WindowFunction, place};
use crate::window_tvf::{WINDOW_END, WINDOW_START, WINDOW_TIME};
use call::{GroupCall, GroupWindow, Role, column};

/// Rewrites the grouped windows of a checked query and of its subqueries; `excerpt` is its statement.
///
/// # Errors
/// A function that stands where it means nothing, or whose arguments are wrong, with its place.
pub(crate) fn rewrite_group_windows(query: &mut Query, excerpt: &Excerpt) -> Result<()> {
    let sql = SqlText::new(excerpt.origin.clone(), excerpt.text.clone());
    result(query.visit(&mut Rewriter { sql: &sql }))
}

fn result(flow: ControlFlow<Error>) -> Result<()> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Rewriter<'a> {
    sql: &'a SqlText,
}

impl VisitorMut for Rewriter<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        match self.rewrite_body(&mut query.body, query.order_by.as_mut()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    /// A query is rewritten before its expressions are visited: what is left means nothing where it stands.
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        match GroupCall::of(expr) {
            Some(call) => ControlFlow::Break(call.misplaced(self.sql)),
            None => ControlFlow::Continue(()),
        }
    }
}

impl Rewriter<'_> {
    /// Subqueries, those in parentheses too, are visited by themselves.
    fn rewrite_body(&self, body: &mut SetExpr, order_by: Option<&mut OrderBy>) -> Result<()> {
        match body {
            SetExpr::Select(select) => self.rewrite_select(select, order_by),
            SetExpr::SetOperation { left, right, .. } => {
                self.rewrite_body(left, None)?;
                self.rewrite_body(right, None)
            }
            _ => Ok(()),
        }
    }

    fn rewrite_select(&self, select: &mut Select, order_by: Option<&mut OrderBy>) -> Result<()> {
        let GroupByExpr::Expressions(keys, _) = &select.group_by else { return Ok(()) };
        let Some((position, call)) = self.grouping_call(keys)? else { return Ok(()) };
        let table = input::only_table(select).map_err(|message| {
            let message = format!("GROUP BY {} {message}", call.name());
            self.sql.error_at(call.span(), message).hint("write FROM t, or FROM (SELECT ...) AS t")
        })?;
        let window = call.read(self.sql, table.as_ref())?;
        let others = keys.iter().enumerate().filter(|(other, _)| *other != position).map(|(_, key)| key);
        let partition_by = match window.function {
            WindowFunction::Session => self.partition_by(others, table.as_ref(), call.span())?,
            _ => vec![],
        };
        self.refuse_wildcards(&select.projection, &call)?;
        let bounds = self.replace_bounds(select, order_by, &window, table.as_ref())?;
        if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
            keys.splice(position..=position, bounds);
        }
        input::attach(select, window, partition_by, table);
        Ok(())
    }

    /// The one window among the keys, and its position.
    fn grouping_call<'k>(&self, keys: &'k [Expr]) -> Result<Option<(usize, GroupCall<'k>)>> {
        let calls = keys.iter().enumerate().filter_map(|(position, key)| Some((position, GroupCall::of(key)?)));
        let mut windows = calls.filter(|(_, call)| call.role == Role::Window);
        let first = windows.next();
        match windows.next() {
            Some((_, second)) => Err(self
                .sql
                .error_at(second.span(), "GROUP BY has a second window")
                .hint("keep one; group its result by the other in an outer query")),
            None => Ok(first),
        }
    }

    /// A session is one of the rows that share the other keys.
    fn partition_by<'k>(
        &self,
        keys: impl Iterator<Item = &'k Expr>,
        table: Option<&Ident>,
        window: Span,
    ) -> Result<Vec<Ident>> {
        let own_column = |key: &'k Expr| {
            column(key, table).cloned().ok_or_else(|| {
                let span = if place(key) == Span::empty() { window } else { place(key) };
                self.sql
                    .error_at(span, format!("beside SESSION a key of GROUP BY is a column, found {key}"))
                    .hint("compute it in a subquery: FROM (SELECT ..., expression AS name FROM t)")
            })
        };
        keys.map(own_column).collect()
    }

    /// `*` would show the columns that the rewriting brings in.
    fn refuse_wildcards(&self, projection: &[SelectItem], call: &GroupCall<'_>) -> Result<()> {
        let span = projection.iter().find_map(|item| match item {
            SelectItem::Wildcard(options) => Some(options.wildcard_token.0.span),
            SelectItem::QualifiedWildcard(_, options) => Some(options.wildcard_token.0.span),
            _ => None,
        });
        match span {
            Some(span) => Err(self
                .sql
                .error_at(span, format!("* can't be selected with GROUP BY {}", call.name()))
                .hint("list the keys and the aggregates")),
            None => Ok(()),
        }
    }

    /// Makes the auxiliary functions columns; gives what the window becomes in `GROUP BY`.
    fn replace_bounds(
        &self,
        select: &mut Select,
        order_by: Option<&mut OrderBy>,
        window: &GroupWindow,
        table: Option<&Ident>,
    ) -> Result<Vec<Expr>> {
        let mut replacer = BoundReplacer { sql: self.sql, window, table, depth: 0, event_time_used: false };
        result(select.projection.visit(&mut replacer))?;
        result(select.having.visit(&mut replacer))?;
        if let Some(order_by) = order_by {
            result(order_by.visit(&mut replacer))?;
        }
        let mut bounds = vec![Bound::Start, Bound::End];
        if replacer.event_time_used {
            bounds.push(Bound::Time);
        }
        Ok(bounds.into_iter().map(|bound| bound_column(bound, table, window.span)).collect())
    }
}

/// Puts columns in place of `TUMBLE_START(...)` and its kin, but not in subqueries: those have their own.
struct BoundReplacer<'a> {
    sql: &'a SqlText,
    window: &'a GroupWindow,
    table: Option<&'a Ident>,
    /// How many subqueries deep.
    depth: usize,
    event_time_used: bool,
}

impl VisitorMut for BoundReplacer<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, _query: &mut Query) -> ControlFlow<Error> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<Error> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        let Some(call) = GroupCall::of(expr).filter(|_| self.depth == 0) else { return ControlFlow::Continue(()) };
        let Role::Bound(bound) = call.role else { return ControlFlow::Continue(()) };
        match call.read(self.sql, self.table) {
            Ok(window) if window.same_as(self.window) => {}
            Ok(_) => return ControlFlow::Break(call.mismatch(self.window, self.sql)),
            Err(error) => return ControlFlow::Break(error),
        }
        self.event_time_used |= bound == Bound::Time;
        *expr = bound_column(bound, self.table, call.span());
        ControlFlow::Continue(())
    }
}

/// The column that the table function attaches. The table's name stands before it where there is
/// one: without, an alias in `SELECT` could be meant.
fn bound_column(bound: Bound, table: Option<&Ident>, span: Span) -> Expr {
    let name = match bound {
        Bound::Start => WINDOW_START,
        Bound::End => WINDOW_END,
        Bound::Time => WINDOW_TIME,
    };
    let column = Ident::with_span(span, name);
    match table {
        Some(table) => Expr::CompoundIdentifier(vec![Ident { span, ..table.clone() }, column]),
        None => Expr::Identifier(column),
    }
}
