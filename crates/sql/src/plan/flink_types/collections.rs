//! The parts of collections: their types are made to agree, and two collections are compared by a call of ours.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{BinaryExpr, InList, ScalarFunction};
use datafusion::logical_expr::{Expr, ExprSchemable, Operator, ScalarUDF, lit};
use tidemill_core::Error;

use super::common::common_type;
use super::{mismatch, operands, refused};
use crate::function::{self, cast_call};
use crate::types::map_type;

const ONE_TYPE: &str = "CAST them to one type";

/// Whether values of the type have parts.
pub(super) fn is_collection(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(_) | DataType::Map(..) | DataType::Struct(_))
}

/// The expression as a value of the type, which is a common one.
pub(super) fn as_type(expr: Expr, to: &DataType, schema: &DFSchema) -> Result<Expr> {
    let from = expr.get_type(schema)?;
    if from != *to && is_collection(&from) {
        return Ok(cast_call(expr, to.clone(), false));
    }
    expr.cast_to(to, schema)
}

/// The arguments of a call over collections with types that agree; `None` for other calls.
pub(super) fn agree(call: &ScalarFunction, schema: &DFSchema) -> Result<Option<Vec<Expr>>> {
    let args = &call.args;
    Ok(Some(match call.func.name() {
        function::ARRAY => all_of_one_type("the elements of an ARRAY", args, schema)?,
        function::MAP => entries(args, schema)?,
        function::ITEM => item(args, schema)?,
        "array_concat" | "array_union" | "array_except" | "array_intersect" | "map_union" => {
            let what = format!("the arguments of {}", call.func.name().to_uppercase());
            all_of_one_type(&what, args, schema)?
        }
        "array_append" | "array_prepend" | "array_contains" | "array_position" | "array_remove" => {
            let what = format!("{} takes an element of the array", call.func.name().to_uppercase());
            with_element(&what, args, schema)?
        }
        _ => return Ok(None),
    }))
}

fn all_of_one_type(what: &str, args: &[Expr], schema: &DFSchema) -> Result<Vec<Expr>> {
    let types = args.iter().map(|arg| arg.get_type(schema)).collect::<Result<Vec<_>>>()?;
    let Some(common) = common_type(&types) else {
        let args: Vec<&Expr> = args.iter().collect();
        return Err(mismatch(&format!("{what} have no type in common"), &args, schema, ONE_TYPE));
    };
    // A NULL alone has no type; as a column it is a STRING.
    let common = if common.is_null() { DataType::Utf8View } else { common };
    args.iter().map(|arg| as_type(arg.clone(), &common, schema)).collect()
}

/// Keys and values by turns.
fn entries(args: &[Expr], schema: &DFSchema) -> Result<Vec<Expr>> {
    if args.len() % 2 == 1 {
        return Err(refused(Error::invalid("a MAP has a key without a value").hint("write MAP[key, value, ...]")));
    }
    let side = |side: usize| args.iter().skip(side).step_by(2).cloned().collect::<Vec<_>>();
    let keys = all_of_one_type("the keys of a MAP", &side(0), schema)?;
    let values = all_of_one_type("the values of a MAP", &side(1), schema)?;
    Ok(keys.into_iter().zip(values).flat_map(|(key, value)| [key, value]).collect())
}

/// An index from 1, or a key of the map's type.
fn item(args: &[Expr], schema: &DFSchema) -> Result<Vec<Expr>> {
    let [collection, key] = args else { return Ok(args.to_vec()) };
    let given = key.get_type(schema)?;
    let data_type = collection.get_type(schema)?;
    let wrong = |what: &str, hint: &str| Err(mismatch(what, &[collection, key], schema, hint));
    if let Some((wanted, _)) = function::entry_types(&data_type) {
        return match common_type([wanted, &given]) {
            Some(common) if common == *wanted => Ok(vec![collection.clone(), as_type(key.clone(), wanted, schema)?]),
            _ => wrong("the map has keys of another type", "CAST the key to the type of the map's keys"),
        };
    }
    if !matches!(data_type, DataType::List(_)) {
        return wrong("only an ARRAY or a MAP is read with [...]", "a field of a ROW is read with a point: row.field");
    }
    if !given.is_integer() && !given.is_null() {
        return wrong("the index of an ARRAY is a whole number", "CAST it AS INT");
    }
    if let Expr::Literal(ScalarValue::Int32(Some(index @ ..1)), _) = key {
        return Err(refused(
            Error::invalid(format!("an ARRAY has no element {index}")).hint("its elements are counted from 1"),
        ));
    }
    Ok(args.to_vec())
}

/// An array and an element of its type: as in Flink, the element is cast to it, and never the array.
fn with_element(what: &str, args: &[Expr], schema: &DFSchema) -> Result<Vec<Expr>> {
    let [array, element] = args else { return Ok(args.to_vec()) };
    let DataType::List(field) = array.get_type(schema)? else { return Ok(args.to_vec()) };
    let wanted = field.data_type();
    match common_type([wanted, &element.get_type(schema)?]) {
        Some(common) if common == *wanted => Ok(vec![array.clone(), as_type(element.clone(), wanted, schema)?]),
        _ => Err(mismatch(what, &[array, element], schema, "CAST the element to the type of the array's elements")),
    }
}

/// `=` and `<>` over collections; `None` where the operands are none.
pub(super) fn compared(binary: &BinaryExpr, schema: &DFSchema) -> Result<Option<Expr>> {
    let (left, right) = (&*binary.left, &*binary.right);
    if !is_collection(&left.get_type(schema)?) && !is_collection(&right.get_type(schema)?) {
        return Ok(None);
    }
    match binary.op {
        Operator::Eq => equal(left, right, schema).map(Some),
        Operator::NotEq => Ok(Some(Expr::Not(Box::new(equal(left, right, schema)?)))),
        Operator::IsDistinctFrom | Operator::IsNotDistinctFrom => Ok(None),
        _ => Err(mismatch(
            &format!("'{}' takes values that have an order", binary.op),
            &[left, right],
            schema,
            "compare their parts",
        )),
    }
}

/// Refuses operands that have parts, where `what` says that an order is asked for.
pub(super) fn refuse_order(what: &str, operands: &[&Expr], schema: &DFSchema) -> Result<()> {
    for operand in operands {
        if is_collection(&operand.get_type(schema)?) {
            return Err(mismatch(what, operands, schema, "compare their parts"));
        }
    }
    Ok(())
}

/// `IN` over collections is `=` with one after the other.
pub(super) fn in_list(list: &InList, schema: &DFSchema) -> Result<Option<Expr>> {
    if !is_collection(&list.expr.get_type(schema)?) {
        return Ok(None);
    }
    let equals = list.list.iter().map(|value| equal(&list.expr, value, schema)).collect::<Result<Vec<_>>>()?;
    let any = equals.into_iter().reduce(Expr::or);
    Ok(any.map(|any| if list.negated { Expr::Not(Box::new(any)) } else { any }))
}

fn equal(left: &Expr, right: &Expr, schema: &DFSchema) -> Result<Expr> {
    if let (Some(left), Some(right)) = (row_fields(left), row_fields(right))
        && left.len() == right.len()
    {
        return equal_fields(left, right, schema);
    }
    let Some(common) = common_type([&left.get_type(schema)?, &right.get_type(schema)?]) else {
        return Err(mismatch("'=' takes values of one type", &[left, right], schema, ONE_TYPE));
    };
    let [left, right] = [left, right].map(|operand| as_type(operand.clone(), &common, schema));
    Ok(ScalarUDF::from(function::EQUAL.clone()).call(vec![left?, right?]))
}

/// What stands in a `ROW(...)`.
fn row_fields(expr: &Expr) -> Option<&[Expr]> {
    match expr {
        Expr::ScalarFunction(call) if call.func.name() == function::ROW => Some(&call.args),
        _ => None,
    }
}

/// `ROW(a, b) = ROW(c, d)` is `a = c AND b = d`, which a NULL makes unknown.
fn equal_fields(left: &[Expr], right: &[Expr], schema: &DFSchema) -> Result<Expr> {
    let pairs = left.iter().zip(right).map(|(left, right)| {
        let pair = BinaryExpr::new(Box::new(left.clone()), Operator::Eq, Box::new(right.clone()));
        Ok(operands::agree(Expr::BinaryExpr(pair), schema)?.data)
    });
    let pairs = pairs.collect::<Result<Vec<_>>>()?;
    Ok(pairs.into_iter().reduce(Expr::and).unwrap_or_else(|| lit(true)))
}

/// The common type of collections of the same form; the fields of a ROW have the names of the first.
pub(super) fn common_collection(a: &DataType, b: &DataType) -> Option<DataType> {
    match (a, b) {
        (DataType::List(a), DataType::List(b)) => {
            let element = common_type([a.data_type(), b.data_type()])?;
            Some(DataType::List(Arc::new(a.as_ref().clone().with_data_type(element))))
        }
        (DataType::Map(..), DataType::Map(..)) => {
            let ((key, value), (other_key, other_value)) = (function::entry_types(a)?, function::entry_types(b)?);
            Some(map_type(common_type([key, other_key])?, common_type([value, other_value])?))
        }
        (DataType::Struct(a), DataType::Struct(b)) if a.len() == b.len() => {
            let field = |(a, b): (&FieldRef, &FieldRef)| {
                Some(a.as_ref().clone().with_data_type(common_type([a.data_type(), b.data_type()])?))
            };
            Some(DataType::Struct(a.iter().zip(b).map(field).collect::<Option<_>>()?))
        }
        _ => None,
    }
}
