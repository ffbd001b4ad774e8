//! One expression at a time: its operands are made to agree, or it is refused.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Between, BinaryExpr, Case, InList, ScalarFunction};
use datafusion::logical_expr::{Expr, ExprSchemable, Operator, binary_expr, lit};

use super::common::{common_type, compared_as, is_text, number_with_other};
use super::{casts, collections, mismatch, patterns, subqueries};
use crate::function::{AS_WRITTEN, Arithmetic, BETWEEN_SYMMETRIC, with_types_of_operands};
use crate::registered::check_arguments;

/// The expression with operands that agree; those below it do already.
pub(super) fn agree(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    check_arguments(&expr, schema)?;
    match expr {
        Expr::BinaryExpr(binary) => operator(binary, schema),
        Expr::Case(case) => branches(case, schema),
        Expr::ScalarFunction(call) => function(call, schema),
        Expr::Cast(cast) => casts::cast(*cast.expr, cast.field.data_type().clone(), false, schema),
        Expr::TryCast(cast) => casts::cast(*cast.expr, cast.field.data_type().clone(), true, schema),
        Expr::Like(like) => patterns::like(like, schema),
        Expr::SimilarTo(like) => patterns::similar_to(like, schema),
        Expr::Between(between) => {
            let Between { expr, low, high, .. } = &between;
            let operands = [&**expr, low, high];
            let common = comparable(&operands, schema)?;
            collections::refuse_order("BETWEEN compares values that have an order", &operands, schema)?;
            let Some(common) = common else { return Ok(Transformed::no(Expr::Between(between))) };
            let Between { expr, negated, low, high } = between;
            let cast = |expr: Box<Expr>| as_compared(*expr, &common, schema).map(Box::new);
            Ok(Transformed::yes(Expr::Between(Between::new(cast(expr)?, negated, cast(low)?, cast(high)?))))
        }
        Expr::InList(list) => {
            if let Some(any) = collections::in_list(&list, schema)? {
                return Ok(Transformed::yes(any));
            }
            let InList { expr, list: values, .. } = &list;
            let all: Vec<&Expr> = std::iter::once(&**expr).chain(values).collect();
            let Some(common) = comparable(&all, schema)? else { return Ok(Transformed::no(Expr::InList(list))) };
            let InList { expr, list: values, negated } = list;
            let expr = Box::new(as_compared(*expr, &common, schema)?);
            let values = values.into_iter().map(|value| as_compared(value, &common, schema)).collect::<Result<_>>()?;
            Ok(Transformed::yes(Expr::InList(InList::new(expr, values, negated))))
        }
        Expr::InSubquery(looked_for) => subqueries::agree(looked_for, schema),
        other => Ok(Transformed::no(other)),
    }
}

fn operator(binary: BinaryExpr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if matches!(binary.op, Operator::And | Operator::Or) {
        return Ok(Transformed::no(Expr::BinaryExpr(binary)));
    }
    let (left, right) = (binary.left.get_type(schema)?, binary.right.get_type(schema)?);
    if let Some(operator) = Arithmetic::of(binary.op) {
        let numeric = |t: &DataType| t.is_numeric() || t.is_null();
        if numeric(&left) && numeric(&right) {
            let call = operator.call(*binary.left, &left, *binary.right, &right);
            return Ok(Transformed::yes(call));
        }
        let other = |t: &DataType| t.is_numeric() || is_text(t) || matches!(t, DataType::Boolean);
        let interval = |t: &DataType| matches!(t, DataType::Interval(_));
        if (other(&left) || other(&right)) && !interval(&left) && !interval(&right) {
            let what = format!("'{}' takes two numbers", binary.op);
            return Err(mismatch(&what, &[&binary.left, &binary.right], schema, "CAST them to a number"));
        }
    }
    if binary.op == Operator::StringConcat && ![&left, &right].iter().all(|t| is_text(t) || t.is_null()) {
        return Err(mismatch("'||' takes two strings", &[&binary.left, &binary.right], schema, "CAST them AS STRING"));
    }
    if compares(binary.op) {
        if let Some(compared) = collections::compared(&binary, schema)? {
            return Ok(Transformed::yes(compared));
        }
        if let Some(common) = comparable(&[&binary.left, &binary.right], schema)? {
            let (left, right) = (*binary.left, *binary.right);
            let (left, right) = (as_compared(left, &common, schema)?, as_compared(right, &common, schema)?);
            return Ok(Transformed::yes(binary_expr(left, binary.op, right)));
        }
    }
    Ok(Transformed::no(Expr::BinaryExpr(binary)))
}

fn compares(op: Operator) -> bool {
    use Operator as O;
    matches!(op, O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq | O::IsDistinctFrom | O::IsNotDistinctFrom)
}

/// A number is compared with numbers alone: a text could be meant as either. Gives the type to compare the operands in,
/// where DataFusion would compare them in one that does not hold their values.
fn comparable(operands: &[&Expr], schema: &DFSchema) -> Result<Option<DataType>> {
    let types = types_of(operands, schema)?;
    if number_with_other(&types) {
        return Err(mismatch(
            "a number is compared with what is none",
            operands,
            schema,
            "CAST one to the other's type",
        ));
    }
    Ok(compared_as(&types))
}

fn types_of(operands: &[&Expr], schema: &DFSchema) -> Result<Vec<DataType>> {
    operands.iter().map(|operand| operand.get_type(schema)).collect()
}

/// An operand in the type that it is compared in.
pub(super) fn as_compared(operand: Expr, to: &DataType, schema: &DFSchema) -> Result<Expr> {
    let nearest = match &operand {
        Expr::Literal(value, _) => nearest(value, to),
        _ => None,
    };
    nearest.map_or_else(|| collections::as_type(operand, to, schema), Ok)
}

/// The FLOAT or DOUBLE that is nearest to a decimal literal: read from its digits it is rounded once, a cast would divide.
fn nearest(literal: &ScalarValue, to: &DataType) -> Option<Expr> {
    let ScalarValue::Decimal128(Some(digits), _, scale) = literal else { return None };
    let digits = format!("{digits}e{}", -i16::from(*scale));
    match to {
        DataType::Float64 => digits.parse::<f64>().ok().map(lit),
        DataType::Float32 => digits.parse::<f32>().ok().map(lit),
        _ => None,
    }
}

/// All results of a CASE have one type.
fn branches(case: Case, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Case { expr, when_then_expr, else_expr } = compared_operand(case, schema)?;
    let results: Vec<&Expr> = when_then_expr.iter().map(|(_, then)| &**then).chain(else_expr.as_deref()).collect();
    let common = common_of("the results of a CASE have no type in common", &results, schema)?;
    let cast = |expr: Box<Expr>| collections::as_type(*expr, &common, schema).map(Box::new);
    let when_then_expr =
        when_then_expr.into_iter().map(|(when, then)| Ok((when, cast(then)?))).collect::<Result<_>>()?;
    let else_expr = else_expr.map(cast).transpose()?;
    Ok(Transformed::yes(Expr::Case(Case { expr, when_then_expr, else_expr })))
}

/// A CASE whose operand, where it has one, is compared with the values after WHEN.
fn compared_operand(case: Case, schema: &DFSchema) -> Result<Case> {
    let Some(operand) = case.expr.as_deref() else { return Ok(case) };
    for (when, _) in &case.when_then_expr {
        comparable(&[operand, when], schema)?;
    }
    let compared: Vec<&Expr> =
        std::iter::once(operand).chain(case.when_then_expr.iter().map(|(when, _)| &**when)).collect();
    let Some(common) = compared_as(&types_of(&compared, schema)?) else { return Ok(case) };
    let cast = |expr: Box<Expr>| as_compared(*expr, &common, schema).map(Box::new);
    let Case { expr, when_then_expr, else_expr } = case;
    let expr = expr.map(cast).transpose()?;
    let when_then_expr =
        when_then_expr.into_iter().map(|(when, then)| Ok((cast(when)?, then))).collect::<Result<_>>()?;
    Ok(Case { expr, when_then_expr, else_expr })
}

/// NULLIF compares as `=` does, and its value has the type of the first argument.
fn null_if(call: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let [value, other] = call.args.as_slice() else { return Ok(Transformed::no(Expr::ScalarFunction(call))) };
    let Some(common) = compared_as(&types_of(&[value, other], schema)?) else {
        return Ok(Transformed::no(Expr::ScalarFunction(call)));
    };
    let own = value.get_type(schema)?;
    let other = as_compared(other.clone(), &common, schema)?;
    if own == common {
        let args = vec![value.clone(), other];
        return Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction { func: call.func, args })));
    }
    let equal = binary_expr(as_compared(value.clone(), &common, schema)?, Operator::Eq, other);
    let null = lit(ScalarValue::try_from(&own)?);
    let case = Case::new(None, vec![(Box::new(equal), Box::new(null))], Some(Box::new(value.clone())));
    Ok(Transformed::yes(Expr::Case(case)))
}

/// The values in the type that they have in common; `what` says that there is none.
pub(in crate::plan) fn agree_all(what: &str, values: Vec<Expr>, schema: &DFSchema) -> Result<Vec<Expr>> {
    let common = common_of(what, &values.iter().collect::<Vec<_>>(), schema)?;
    values.into_iter().map(|value| collections::as_type(value, &common, schema)).collect()
}

fn common_of(what: &str, values: &[&Expr], schema: &DFSchema) -> Result<DataType> {
    let types = types_of(values, schema)?;
    common_type(&types).ok_or_else(|| mismatch(what, values, schema, "CAST them to one type"))
}

/// Arithmetic, by the types that its operands have now, and functions whose arguments have one type.
fn function(mut call: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if let Some(chain) = with_types_of_operands(&call, schema)? {
        return Ok(Transformed::yes(chain));
    }
    if let Some(args) = collections::agree(&call, schema)? {
        return Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction { func: call.func, args })));
    }
    let name = call.func.name();
    if name == AS_WRITTEN
        && let Some(marked) = call.args.pop()
    {
        return Ok(Transformed::yes(marked));
    }
    if name == "nullif" {
        return null_if(call, schema);
    }
    if !matches!(name, "coalesce" | "greatest" | "least" | BETWEEN_SYMMETRIC) {
        return Ok(Transformed::no(Expr::ScalarFunction(call)));
    }
    let what = format!("the arguments of {} have no type in common", name.to_uppercase());
    if name != "coalesce" {
        let ordered = format!("{} compares values that have an order", name.to_uppercase());
        collections::refuse_order(&ordered, &call.args.iter().collect::<Vec<_>>(), schema)?;
    }
    let args = agree_all(&what, call.args, schema)?;
    Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction { func: call.func, args })))
}
