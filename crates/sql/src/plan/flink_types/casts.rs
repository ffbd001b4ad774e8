//! Which casts Flink has, and which of them are ours.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, lit};
use tidemill_core::Error;

use super::common::{is_bytes, is_text};
use super::refused;
use crate::function::cast_call;
use crate::plan::names_its_zone;
use crate::types::flink_type_name;

/// The cast of an expression to a type.
pub(super) fn cast(expr: Expr, to: DataType, tries: bool, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let from = expr.get_type(schema)?;
    let theirs = |expr: Expr, to: DataType| match tries {
        true => Expr::TryCast(TryCast::new(Box::new(expr), to)),
        false => Expr::Cast(Cast::new(Box::new(expr), to)),
    };
    if from == to || from.is_null() || is_text(&from) && is_text(&to) || is_bytes(&from) && is_bytes(&to) {
        return Ok(Transformed::no(theirs(expr, to)));
    }
    if !exists(&from, &to) {
        let (name, from, to) = (if tries { "TRY_CAST" } else { "CAST" }, flink_type_name(&from), flink_type_name(&to));
        return Err(refused(
            Error::invalid(format!("there is no {name} from {from} to {to}"))
                .hint("cast by way of another type, or compute the value"),
        ));
    }
    Ok(Transformed::yes(match (&from, &to) {
        // An instant is read and written by the session's clock, which the next pass puts in.
        (from, DataType::Timestamp(unit, Some(_))) if is_text(from) => match &expr {
            Expr::Literal(text, _) if text.try_as_str().flatten().is_some_and(names_its_zone) => {
                return Ok(Transformed::no(theirs(expr, to)));
            }
            _ => theirs(cast_call(expr, DataType::Timestamp(*unit, None), tries), to),
        },
        (DataType::Timestamp(unit, Some(_)), to) if is_text(to) => {
            cast_call(theirs(expr, DataType::Timestamp(*unit, None)), to.clone(), tries)
        }
        (from, DataType::Boolean) if from.is_numeric() => {
            let zero = lit(ScalarValue::Int32(Some(0)));
            Expr::BinaryExpr(BinaryExpr::new(Box::new(expr), Operator::NotEq, Box::new(zero)))
        }
        (DataType::Boolean, DataType::Decimal128(..)) => theirs(theirs(expr, DataType::Int32), to),
        (from, to) if is_ours(from, to) => cast_call(expr, to.clone(), tries),
        _ => return Ok(Transformed::no(theirs(expr, to))),
    }))
}

/// Where Arrow would read or write another form.
fn is_ours(from: &DataType, to: &DataType) -> bool {
    let nested = |t: &DataType| matches!(t, DataType::List(_) | DataType::Map(..) | DataType::Struct(_));
    let finer = match (from, to) {
        (DataType::Timestamp(from, zone), DataType::Timestamp(to, other)) => from > to && zone == other,
        _ => false,
    };
    finer
        || is_text(from)
        || is_text(to) && !from.is_integer()
        || from.is_floating() && matches!(to, DataType::Decimal128(..))
        || nested(from)
}

/// Flink's table of casts.
fn exists(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    let number = |t: &DataType| t.is_numeric() || matches!(t, T::Boolean);
    match (from, to) {
        (from, to) if is_text(to) => !matches!(from, T::Interval(_)),
        (from, to) if is_text(from) => {
            number(to) || is_bytes(to) || matches!(to, T::Date32 | T::Time32(_) | T::Timestamp(..))
        }
        (from, to) if number(from) => number(to),
        (T::Date32, to) => matches!(to, T::Date32 | T::Timestamp(..)),
        (T::Time32(_), to) => matches!(to, T::Time32(_)),
        (T::Timestamp(..), to) => matches!(to, T::Date32 | T::Time32(_) | T::Timestamp(..)),
        (T::List(from), T::List(to)) => castable(from.data_type(), to.data_type()),
        (T::Map(from, _), T::Map(to, _)) => castable(from.data_type(), to.data_type()),
        (T::Struct(from), T::Struct(to)) => {
            from.len() == to.len() && from.iter().zip(to).all(|(a, b)| castable(a.data_type(), b.data_type()))
        }
        _ => false,
    }
}

fn castable(from: &DataType, to: &DataType) -> bool {
    from == to || from.is_null() || exists(from, to)
}
