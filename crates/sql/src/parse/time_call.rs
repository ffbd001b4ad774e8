//! Calls that name a unit of time, as functions whose names have it: `EXTRACT(unit FROM x)`, `FLOOR(x TO unit)`,
//! `CEIL(x TO unit)`, `TIMESTAMPADD(unit, n, x)`, `TIMESTAMPDIFF(unit, a, b)`. And `UNIX_TIMESTAMP()`, the
//! present time, which has a name of its own.

use datafusion::sql::sqlparser::ast::{
    CastKind, CeilFloorKind, DataType, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Ident, Spanned, UnaryOperator, Value,
};
use datafusion::sql::sqlparser::tokenizer::Span;

use super::{
    dialect::call,
    interval::{self, Amount, place},
    refusal::Refusal,
};
use crate::function::UNIX_TIMESTAMP_NOW;
use crate::function::time::{ADD, CEIL, DIFF, EXTRACT, FLOOR, Unit};

/// What a unit is used for.
type Use = fn(Unit) -> bool;

/// Rewrites such a call; others stay.
///
/// # Errors
/// A unit that the call does not take.
pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Refusal> {
    let rewritten = match expr {
        Expr::Extract { field, expr, .. } if matches!(**expr, Expr::Interval(_)) => of_interval(field, expr)?,
        Expr::Extract { field, expr, .. } => {
            let name = unit(EXTRACT, "EXTRACT", &field.to_string(), place(expr), |_| true)?;
            call(Ident::new(name), vec![std::mem::replace(&mut **expr, nothing())])
        }
        Expr::Floor { field: CeilFloorKind::DateTimeField(field), expr } if *field != DateTimeField::NoDateTime => {
            cut(FLOOR, "FLOOR", field, expr)?
        }
        Expr::Ceil { field: CeilFloorKind::DateTimeField(field), expr } if *field != DateTimeField::NoDateTime => {
            cut(CEIL, "CEIL", field, expr)?
        }
        Expr::Function(function) => return unit_argument(function),
        _ => return Ok(()),
    };
    *expr = rewritten;
    Ok(())
}

/// A part of an interval, which is a literal: so it is known here.
fn of_interval(field: &DateTimeField, expr: &Expr) -> Result<Expr, Refusal> {
    let Expr::Interval(interval) = expr else { return Ok(nothing()) };
    let name = field.to_string().to_uppercase();
    let part = match (interval::amount(interval)?, name.as_str()) {
        (Amount::Months(months), "YEAR") => months / 12,
        (Amount::Months(months), "QUARTER") => months % 12 / 3 + 1,
        (Amount::Months(months), "MONTH") => months % 12,
        (Amount::Milliseconds(ms), "DAY") => ms / 86_400_000,
        (Amount::Milliseconds(ms), "HOUR") => ms / 3_600_000 % 24,
        (Amount::Milliseconds(ms), "MINUTE") => ms / 60_000 % 60,
        (Amount::Milliseconds(ms), "SECOND") => ms / 1_000 % 60,
        (Amount::Milliseconds(ms), "MILLISECOND") => ms % 1_000,
        (amount, _) => {
            let units = match amount {
                Amount::Months(_) => "YEAR, QUARTER, MONTH",
                Amount::Milliseconds(_) => "DAY, HOUR, MINUTE, SECOND, MILLISECOND",
            };
            return Err(Refusal::new(format!("there is no {name} in this interval"), place(expr))
                .hint(format!("its units are {units}")));
        }
    };
    let number = |part: i64| Expr::Value(Value::Number(part.unsigned_abs().to_string(), false).into());
    let value = match part {
        ..0 => Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(number(part)) },
        _ => number(part),
    };
    Ok(Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(value),
        data_type: DataType::BigInt(None),
        array: false,
        format: None,
    })
}

fn nothing() -> Expr {
    Expr::Tuple(vec![])
}

fn cut(prefix: &str, shown: &str, field: &DateTimeField, expr: &mut Expr) -> Result<Expr, Refusal> {
    let name = unit(prefix, shown, &field.to_string(), place(expr), Unit::cuts)?;
    Ok(call(Ident::new(name), vec![std::mem::replace(expr, nothing())]))
}

/// Moves the unit of `TIMESTAMPADD` and `TIMESTAMPDIFF` into the name.
fn unit_argument(function: &mut Function) -> Result<(), Refusal> {
    let name = function.name.to_string().to_lowercase();
    let prefix = match name.as_str() {
        "unix_timestamp" if without_arguments(function) => {
            let span = function.name.span();
            function.name = vec![Ident::with_span(span, UNIX_TIMESTAMP_NOW)].into();
            return Ok(());
        }
        "timestampadd" => ADD,
        "timestampdiff" => DIFF,
        _ => return Ok(()),
    };
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(named)))) = list.args.first() {
        let name = unit(prefix, &name.to_uppercase(), &named.value, named.span, Unit::adds)?;
        list.args.remove(0);
        function.name = vec![Ident::new(name)].into();
    }
    Ok(())
}

fn unit(prefix: &str, shown: &str, unit: &str, span: Span, taken: Use) -> Result<String, Refusal> {
    let wanted = unit.to_lowercase();
    let names = || Unit::ALL.iter().filter(|(unit, _)| taken(*unit)).map(|(_, name)| *name);
    if names().any(|name| name == wanted) {
        return Ok(format!("{prefix}{wanted}"));
    }
    let known = names().collect::<Vec<_>>().join(", ").to_uppercase();
    Err(Refusal::new(format!("{shown} does not take the unit {}", unit.to_uppercase()), span)
        .hint(format!("units are {known}")))
}

fn without_arguments(function: &Function) -> bool {
    matches!(&function.args, FunctionArguments::List(list) if list.args.is_empty())
}
