//! The input of a grouped window: what stands in `FROM`, without the rows that `WHERE` leaves out.

use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    Expr, GroupByExpr, Ident, Query, Select, SelectFlavor, SelectItem, SetExpr, TableAlias, TableFactor,
    TableWithJoins, WildcardAdditionalOptions,
};

use super::GroupWindow;
use super::call::PROCESSING_TIME;
use crate::parse::{WindowCall, call, table_factor};

/// The name under which the query knows its table: an alias, or the table's own name; `None` for a
/// subquery without one.
///
/// # Errors
/// What is wrong with a `FROM` that has not one table, to be said after `GROUP BY TUMBLE`.
pub(super) fn only_table(select: &Select) -> Result<Option<Ident>, &'static str> {
    let TableWithJoins { relation, joins } = match select.from.as_slice() {
        [] => return Err("needs a table in FROM"),
        [only] => only,
        _ => return Err("over several tables is not supported"),
    };
    if !joins.is_empty() {
        return Err("over several tables is not supported");
    }
    Ok(match relation {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Some(alias.name.clone())
        }
        TableFactor::Table { name, args: None, .. } => name.0.last().and_then(|part| part.as_ident().cloned()),
        _ => None,
    })
}

/// Puts the table function over the one table in `FROM`. `WHERE` goes below it: which rows there are
/// decides where a session ends.
pub(super) fn attach(select: &mut Select, window: GroupWindow, partition_by: Vec<Ident>, table: Option<Ident>) {
    let call = WindowCall {
        function: window.function,
        data: data(std::mem::take(&mut select.from), select.selection.take(), &window.time_column),
        partition_by,
        time_column: window.time_column,
        intervals: window.intervals,
        alias: table.map(|name| TableAlias { explicit: true, name, columns: vec![], at: None }),
        span: window.span,
    };
    select.from = vec![TableWithJoins { relation: call.into_factor(), joins: vec![] }];
}

/// The table or subquery itself where nothing else is said of it, or else a query of all its columns.
fn data(from: Vec<TableWithJoins>, filter: Option<Expr>, time: &Ident) -> TableFactor {
    let time = (time.value == PROCESSING_TIME).then_some(time);
    let as_it_is = filter.is_none() && time.is_none();
    let bare = |alias: &Option<TableAlias>| alias.as_ref().is_none_or(|alias| alias.columns.is_empty());
    match from.as_slice() {
        [
            TableWithJoins {
                relation: TableFactor::Table { name, alias, args: None, version: None, sample: None, .. },
                ..
            },
        ] if as_it_is && bare(alias) => table_factor(name.clone(), None, None),
        [TableWithJoins { relation: TableFactor::Derived { lateral: false, subquery, alias, sample: None }, .. }]
            if as_it_is && bare(alias) =>
        {
            derived(subquery.clone())
        }
        _ => derived(Box::new(all_columns(from, filter, time))),
    }
}

fn derived(subquery: Box<Query>) -> TableFactor {
    TableFactor::Derived { lateral: false, subquery, alias: None, sample: None }
}

/// `SELECT * [, PROCTIME() AS time] FROM from [WHERE filter]`
fn all_columns(from: Vec<TableWithJoins>, filter: Option<Expr>, time: Option<&Ident>) -> Query {
    let all = SelectItem::Wildcard(WildcardAdditionalOptions::default());
    let time = time.map(|alias| SelectItem::ExprWithAlias {
        expr: call(Ident::with_span(alias.span, "proctime"), vec![]),
        alias: alias.clone(),
    });
    let select = Select {
        select_token: AttachedToken::empty(),
        optimizer_hints: vec![],
        distinct: None,
        select_modifiers: None,
        top: None,
        top_before_distinct: false,
        projection: std::iter::once(all).chain(time).collect(),
        exclude: None,
        into: None,
        from,
        lateral_views: vec![],
        prewhere: None,
        selection: filter,
        connect_by: vec![],
        group_by: GroupByExpr::Expressions(vec![], vec![]),
        cluster_by: vec![],
        distribute_by: vec![],
        sort_by: vec![],
        having: None,
        named_window: vec![],
        qualify: None,
        window_before_qualify: false,
        value_table_mode: None,
        flavor: SelectFlavor::Standard,
    };
    Query {
        with: None,
        body: Box::new(SetExpr::Select(Box::new(select))),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: vec![],
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: vec![],
    }
}
