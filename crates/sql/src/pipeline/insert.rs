//! `INSERT INTO`: the query's columns, by position, in the types of the target's.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use tidemill_core::{Error, Result};

use crate::catalog::Table;
use crate::function::cast_call;
use crate::parse::Insert;
use crate::plan::plan_error;
use crate::types::flink_type_name;

/// A plan whose columns are those of `target`.
pub(super) fn cast_to_target(query: LogicalPlan, target: &Table, insert: &Insert) -> Result<LogicalPlan> {
    let fields = target.stored().fields();
    let written = written_columns(target, insert)?;
    let given: Vec<(Column, FieldRef)> = query
        .schema()
        .iter()
        .map(|(qualifier, field)| (Column::new(qualifier.cloned(), field.name().clone()), Arc::clone(field)))
        .collect();
    if given.len() != written.len() {
        return Err(Error::invalid(format!(
            "the query has {} columns, and {} are inserted into '{}'",
            given.len(),
            written.len(),
            target.name
        ))
        .hint(format!("select, in this order: {}", names(&written)))
        .at(insert.excerpt.clone()));
    }
    let mut exprs = Vec::with_capacity(fields.len());
    for field in fields {
        let position = written.iter().position(|w| w.name() == field.name());
        let expr = match position {
            Some(position) => cast(&given[position], field, target, insert)?,
            None => null(field, target, insert)?,
        };
        exprs.push(expr.alias(field.name()));
    }
    let plan = LogicalPlanBuilder::from(query).project(exprs).and_then(LogicalPlanBuilder::build);
    plan.map_err(|e| plan_error(e, &insert.excerpt))
}

fn written_columns(target: &Table, insert: &Insert) -> Result<Vec<FieldRef>> {
    let fields = target.stored().fields();
    if insert.columns.is_empty() {
        return Ok(fields.to_vec());
    }
    let find = |name: &str| {
        fields.iter().find(|field| field.name() == name).cloned().ok_or_else(|| {
            Error::invalid(format!("the table '{}' has no column '{name}'", target.name))
                .hint(format!("its columns are: {}", names(fields)))
                .at(insert.excerpt.clone())
        })
    };
    insert.columns.iter().map(|column| find(&column.value)).collect()
}

fn names(fields: &[FieldRef]) -> String {
    fields.iter().map(|f| f.name().as_str()).collect::<Vec<_>>().join(", ")
}

fn cast((column, given): &(Column, FieldRef), wanted: &FieldRef, target: &Table, insert: &Insert) -> Result<Expr> {
    let expr = Expr::Column(column.clone());
    let (from, to) = (given.data_type(), wanted.data_type());
    if from == to {
        return Ok(expr);
    }
    if !implicit_cast(from, to) {
        let (from, to) = (flink_type_name(from), flink_type_name(to));
        return Err(Error::invalid(format!(
            "the column '{}' of '{}' has the type {to}, and the query gives {from}",
            wanted.name(),
            target.name
        ))
        // A column that the query gives no name is known by its position alone: EXPR$1.
        .hint(match column.name.strip_prefix("EXPR$") {
            Some(_) => format!("write CAST(... AS {to}) in the query"),
            None => format!("write CAST({} AS {to}) in the query", column.name),
        })
        .at(insert.excerpt.clone()));
    }
    // Of collections, Arrow would go by the names of fields; they go by position.
    if from.is_nested() {
        return Ok(cast_call(expr, to.clone(), false));
    }
    Ok(Expr::Cast(Cast::new(Box::new(expr), to.clone())))
}

fn null(wanted: &FieldRef, target: &Table, insert: &Insert) -> Result<Expr> {
    if !wanted.is_nullable() {
        return Err(Error::invalid(format!(
            "the column '{}' of '{}' is NOT NULL, and the statement does not give it",
            wanted.name(),
            target.name
        ))
        .at(insert.excerpt.clone()));
    }
    let null = ScalarValue::try_from(wanted.data_type()).map_err(|e| plan_error(e, &insert.excerpt))?;
    Ok(lit(null))
}

/// Whether Flink's sinks take the one type for the other without a CAST: where no value is lost, or
/// only digits of a decimal or of a second; collections by their parts, and the fields of a row by their position.
pub(crate) fn implicit_cast(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    let rank = |t: &DataType| match t {
        T::Int8 => Some(1),
        T::Int16 => Some(2),
        T::Int32 => Some(3),
        // ROW_NUMBER, which is a BIGINT in Flink.
        T::UInt64 => Some(3),
        T::Int64 => Some(4),
        _ => None,
    };
    let part = |from: &DataType, to: &DataType| from == to || implicit_cast(from, to);
    match (from, to) {
        (T::Null, _) => true,
        (T::List(from), T::List(to)) => part(from.data_type(), to.data_type()),
        (T::Map(from, _), T::Map(to, _)) => part(from.data_type(), to.data_type()),
        (T::Struct(from), T::Struct(to)) => {
            from.len() == to.len() && from.iter().zip(to).all(|(from, to)| part(from.data_type(), to.data_type()))
        }
        (T::Decimal128(..), T::Decimal128(..) | T::Float32 | T::Float64) | (T::Float32, T::Float64) => true,
        (T::Timestamp(_, a), T::Timestamp(_, b)) => a.is_some() == b.is_some(),
        (T::Utf8 | T::Utf8View | T::LargeUtf8, T::Utf8View) => true,
        (_, T::Decimal128(..) | T::Float32 | T::Float64) => rank(from).is_some(),
        _ => rank(from).zip(rank(to)).is_some_and(|(from, to)| from < to),
    }
}
