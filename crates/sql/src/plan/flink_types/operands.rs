//! One expression at a time: its operands are made to agree, or it is refused.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Between, BinaryExpr, Case, InList, ScalarFunction};
use datafusion::logical_expr::{Expr, ExprSchemable, Operator};

use super::common::{common_type, is_text};
use super::{casts, collections, mismatch, patterns};
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
            comparable(&operands, schema)?;
            collections::refuse_order("BETWEEN compares values that have an order", &operands, schema)?;
            Ok(Transformed::no(Expr::Between(between)))
        }
        Expr::InList(list) => {
            if let Some(any) = collections::in_list(&list, schema)? {
                return Ok(Transformed::yes(any));
            }
            let InList { expr, list: values, .. } = &list;
            let all: Vec<&Expr> = std::iter::once(&**expr).chain(values).collect();
            comparable(&all, schema)?;
            Ok(Transformed::no(Expr::InList(list)))
        }
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
        comparable(&[&binary.left, &binary.right], schema)?;
    }
    Ok(Transformed::no(Expr::BinaryExpr(binary)))
}

fn compares(op: Operator) -> bool {
    use Operator as O;
    matches!(op, O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq | O::IsDistinctFrom | O::IsNotDistinctFrom)
}

/// A number is compared with numbers alone: a text could be meant as either.
fn comparable(operands: &[&Expr], schema: &DFSchema) -> Result<()> {
    let types = operands.iter().map(|operand| operand.get_type(schema)).collect::<Result<Vec<_>>>()?;
    let number = types.iter().any(DataType::is_numeric);
    let other = types.iter().any(|t| is_text(t) || matches!(t, DataType::Boolean));
    if number && other {
        return Err(mismatch(
            "a number is compared with what is none",
            operands,
            schema,
            "CAST one to the other's type",
        ));
    }
    Ok(())
}

/// All results of a CASE have one type.
fn branches(case: Case, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Case { expr, when_then_expr, else_expr } = case;
    for (when, _) in &when_then_expr {
        if let Some(expr) = &expr {
            comparable(&[expr, when], schema)?;
        }
    }
    let results: Vec<&Expr> = when_then_expr.iter().map(|(_, then)| &**then).chain(else_expr.as_deref()).collect();
    let common = common_of("the results of a CASE have no type in common", &results, schema)?;
    let cast = |expr: Box<Expr>| collections::as_type(*expr, &common, schema).map(Box::new);
    let when_then_expr =
        when_then_expr.into_iter().map(|(when, then)| Ok((when, cast(then)?))).collect::<Result<_>>()?;
    let else_expr = else_expr.map(cast).transpose()?;
    Ok(Transformed::yes(Expr::Case(Case { expr, when_then_expr, else_expr })))
}

/// The values in the type that they have in common; `what` says that there is none.
pub(in crate::plan) fn agree_all(what: &str, values: Vec<Expr>, schema: &DFSchema) -> Result<Vec<Expr>> {
    let common = common_of(what, &values.iter().collect::<Vec<_>>(), schema)?;
    values.into_iter().map(|value| collections::as_type(value, &common, schema)).collect()
}

fn common_of(what: &str, values: &[&Expr], schema: &DFSchema) -> Result<DataType> {
    let types = values.iter().map(|value| value.get_type(schema)).collect::<Result<Vec<_>>>()?;
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
