//! Names for what a query selects without one, as Flink gives them: a field of a ROW gives its own, and other expressions
//! are named by their position, `EXPR$0`, `EXPR$1`.

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, OrderBy, OrderByKind, Query, Select, SelectItem, SetExpr, TableFactor, VisitMut, VisitorMut,
};

/// Gives a name to every expression without one, in the query and in its subqueries.
pub(crate) fn name_columns(query: &mut Query) {
    let done: ControlFlow<()> = query.visit(&mut Namer);
    debug_assert!(done.is_continue());
}

/// The query with columns of its result that have the name of one before them numbered, as Calcite does: `a`, `a0`. Those
/// of a subquery or a view stay: there such a name is ambiguous.
pub(crate) fn tell_columns_apart(query: &Query) -> Query {
    let mut query = query.clone();
    tell_apart(&mut query.body);
    query
}

fn tell_apart(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            let mut taken: HashSet<String> =
                select.projection.iter().filter_map(named).map(|name| name.value).collect();
            let mut seen = HashSet::new();
            for item in &mut select.projection {
                let Some(name) = named(item) else { continue };
                if seen.insert(name.value.clone()) {
                    continue;
                }
                let free = (0..).map(|n| format!("{}{n}", name.value)).find(|name| taken.insert(name.clone()));
                if let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }, Some(free)) =
                    (&*item, free)
                {
                    *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::with_quote('`', free) };
                }
            }
        }
        SetExpr::SetOperation { left, right, .. } => {
            tell_apart(left);
            tell_apart(right);
        }
        _ => {}
    }
}

/// The name of a column of a result, where it is plain.
fn named(item: &SelectItem) -> Option<Ident> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.clone()),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(name.clone()),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => parts.last().cloned(),
        _ => None,
    }
}

struct Namer;

impl VisitorMut for Namer {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        name_items(&mut query.body);
        if let (SetExpr::Select(select), Some(order_by)) = (query.body.as_ref(), query.order_by.as_mut()) {
            order_by_names(select, order_by);
        }
        ControlFlow::Continue(())
    }
}

fn name_items(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            let table = table_name(select);
            for (position, item) in select.projection.iter_mut().enumerate() {
                if let SelectItem::UnnamedExpr(expr) = item
                    && let Some(alias) = name(expr, table.as_deref(), position)
                {
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

/// Orders by the columns where it is by their expressions: a `SELECT DISTINCT` has nothing else to order by.
fn order_by_names(select: &Select, order_by: &mut OrderBy) {
    let OrderByKind::Expressions(exprs) = &mut order_by.kind else { return };
    // A name alone is that of a column already, and first of one that is selected.
    for order in exprs.iter_mut().filter(|order| !matches!(order.expr, Expr::Identifier(_))) {
        let column = select.projection.iter().find_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if *expr == order.expr => Some(alias.clone()),
            _ => None,
        });
        if let Some(column) = column {
            order.expr = Expr::Identifier(column);
        }
    }
}

/// The name of the column that an expression becomes; `None` where it has one.
fn name(expr: &Expr, table: Option<&str>, position: usize) -> Option<Ident> {
    match expr {
        Expr::Identifier(_) | Expr::CompoundFieldAccess { .. } => None,
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [first, _] if Some(first.value.as_str()) == table => None,
            [.., field] => Some(Ident::with_quote('`', field.value.clone())),
            [] => None,
        },
        _ => Some(Ident::with_quote('`', format!("EXPR${position}"))),
    }
}

/// What stands before the names of columns of the one table that is read.
fn table_name(select: &Select) -> Option<String> {
    match &select.from.first()?.relation {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Some(alias.name.value.clone())
        }
        TableFactor::Table { name, .. } => name.0.last()?.as_ident().map(|ident| ident.value.clone()),
        _ => None,
    }
}
