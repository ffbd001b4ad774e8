//! `UNNEST(...)` in `FROM`: a table of its own, or rows behind those of the table before it.
//!
//! `FROM t, UNNEST(t.a) AS u(x)` and `FROM t CROSS JOIN UNNEST(t.a) AS u(x)` become one relation, `(t CROSS JOIN
//! UNNEST(t.a) AS u(x))`: no join is planned for what reads only its own row.

use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Join, JoinConstraint, JoinOperator, ObjectName, Spanned, TableAlias,
    TableFactor, TableFunctionArgs, TableWithJoins, Value,
};
use datafusion::sql::sqlparser::tokenizer::Span;

use super::refusal::Refusal;

/// `UNNEST(array) [WITH ORDINALITY] [AS alias[(column, ...)]]`
#[derive(Debug, Clone)]
pub(crate) struct UnnestCall {
    pub(crate) array: Expr,
    pub(crate) ordinality: bool,
    pub(crate) alias: Option<TableAlias>,
    pub(crate) span: Span,
}

/// The call that a relation is; `None` for others.
pub(crate) fn unnest_call(relation: &TableFactor) -> Option<UnnestCall> {
    let TableFactor::Table { name, alias, args: Some(TableFunctionArgs { args, .. }), with_ordinality, .. } = relation
    else {
        return None;
    };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(array))] = &args[..] else { return None };
    let (array, alias) = (array.clone(), alias.clone());
    is_named_unnest(name).then(|| UnnestCall { array, ordinality: *with_ordinality, alias, span: name.span() })
}

/// Whether the relation is an `UNNEST`.
///
/// # Errors
/// One that has not one argument, or more said of it than Flink knows.
pub(super) fn is_unnest(relation: &TableFactor) -> Result<bool, Refusal> {
    let TableFactor::Table { name, args: Some(_), version, sample, .. } = relation else { return Ok(false) };
    if !is_named_unnest(name) {
        return Ok(false);
    }
    if unnest_call(relation).is_none() || version.is_some() || sample.is_some() {
        return Err(Refusal::new("UNNEST takes one ARRAY or MAP", name.span())
            .hint("write UNNEST(array) [WITH ORDINALITY] AS t(column)"));
    }
    Ok(true)
}

fn is_named_unnest(name: &ObjectName) -> bool {
    matches!(&name.0[..], [part] if part.as_ident().is_some_and(|ident| {
        ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("unnest")
    }))
}

/// The table of a relation in parentheses, and what is unnested behind it, in order, with whether rows without elements
/// stay; `None` for other relations.
pub(crate) fn unnests(relation: &TableFactor) -> Option<(TableFactor, Vec<(UnnestCall, bool)>)> {
    let TableFactor::NestedJoin { table_with_joins, alias: None } = relation else { return None };
    let call = |join: &Join| Some((unnest_call(&join.relation)?, keeps_empty(&join.join_operator)?));
    let calls: Option<Vec<_>> = table_with_joins.joins.iter().map(call).collect();
    calls.filter(|calls| !calls.is_empty()).map(|calls| (table_with_joins.relation.clone(), calls))
}

/// Whether rows without elements stay; `None` for joins of another kind.
fn keeps_empty(operator: &JoinOperator) -> Option<bool> {
    let on_true = |constraint: &JoinConstraint| match constraint {
        JoinConstraint::On(Expr::Value(value)) => value.value == Value::Boolean(true),
        _ => false,
    };
    match operator {
        JoinOperator::CrossJoin(JoinConstraint::None) => Some(false),
        JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) if on_true(constraint) => Some(false),
        JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) if on_true(constraint) => Some(true),
        _ => None,
    }
}

/// Puts every `UNNEST` of a `FROM` into the relation before it.
///
/// # Errors
/// Those of [`is_unnest`], and a join with one that is no `CROSS JOIN` and has another condition than `ON TRUE`.
pub(super) fn fold(from: &mut Vec<TableWithJoins>) -> Result<(), Refusal> {
    let mut folded: Vec<TableWithJoins> = vec![];
    for table in std::mem::take(from) {
        let unnest = is_unnest(&table.relation)?;
        table.joins.iter().try_for_each(|join| is_unnest(&join.relation).map(|_| ()))?;
        match folded.last_mut().filter(|_| unnest) {
            Some(before) => {
                let join_operator = JoinOperator::CrossJoin(JoinConstraint::None);
                before.joins.push(Join { relation: table.relation, global: false, join_operator });
                before.joins.extend(table.joins);
            }
            None => folded.push(table),
        }
    }
    for table in &mut folded {
        let unnest = |join: &Join| unnest_call(&join.relation);
        for join in &table.joins {
            if let Some(call) = unnest(join).filter(|_| keeps_empty(&join.join_operator).is_none()) {
                let message = "UNNEST is joined by CROSS JOIN, or by LEFT JOIN or JOIN with ON TRUE";
                return Err(Refusal::new(message, call.span).hint("put other conditions into WHERE"));
            }
        }
        if !table.joins.is_empty() && table.joins.iter().all(|join| unnest(join).is_some()) {
            let joined = std::mem::replace(table, TableWithJoins { relation: nothing(), joins: vec![] });
            table.relation = TableFactor::NestedJoin { table_with_joins: Box::new(joined), alias: None };
        }
    }
    *from = folded;
    Ok(())
}

/// Stands for a relation that is moved.
fn nothing() -> TableFactor {
    super::table_factor(ObjectName(vec![]), None, None)
}
