//! The types of expressions as Flink has them, before DataFusion makes operands agree by its own rules.
//!
//! Literals get Flink's types, arithmetic becomes calls of ours, branches and operands that must agree are cast to
//! Flink's common type, and what Flink does not take is refused.

mod casts;
mod collections;
mod common;
mod operands;
mod patterns;
mod set_operations;
mod subqueries;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use tidemill_core::Error;

pub(super) use operands::agree_all;

use super::input_schema;
use super::values::values_in_flink_types;
use crate::function::sql_text;
use crate::types::flink_type_name;

/// The plan with Flink's types.
pub(crate) fn in_flink_types(plan: LogicalPlan) -> Result<LogicalPlan> {
    let typed = plan.transform_up_with_subqueries(|node| match node {
        // What LIMIT takes is no value of a row.
        LogicalPlan::Limit(_) => Ok(Transformed::no(node)),
        LogicalPlan::Values(values) => values_in_flink_types(values).map(Transformed::yes),
        LogicalPlan::Union(union) => set_operations::agree_union(union).map(Transformed::yes),
        LogicalPlan::Join(join) => match set_operations::set_operation(&join) {
            Some(what) => set_operations::agree_join(join, what).map(Transformed::yes),
            None => typed_node(LogicalPlan::Join(join)),
        },
        node => typed_node(node),
    })?;
    Ok(typed.data)
}

fn typed_node(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = input_schema(&node)?;
    let names = NamePreserver::new(&node);
    let node = node.map_expressions(|expr| {
        let named = |expr: Expr| {
            let name = names.save(&expr);
            Ok(Transformed::yes(name.restore(typed(expr, &schema)?)))
        };
        match expr {
            // Its parts have names, and it has none.
            sets @ Expr::GroupingSet(_) => sets.map_children(named),
            expr => named(expr),
        }
    })?;
    // Also where no expression changed: the columns below may have.
    node.map_data(LogicalPlan::recompute_schema)
}

/// An expression over columns of `schema` with Flink's types.
pub(crate) fn typed(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let expr = expr.transform_down(literal)?.data;
    Ok(expr.transform_up(|expr| operands::agree(expr, schema))?.data)
}

/// An integer is an INT where it fits, a decimal one has the digits that it is written with.
fn literal(expr: Expr) -> Result<Transformed<Expr>> {
    let value = match &expr {
        // COUNT(*) is COUNT(1) to DataFusion, and known by that.
        Expr::AggregateFunction(call) if call.func.name() == "count" => {
            return Ok(Transformed::new(expr, false, TreeNodeRecursion::Jump));
        }
        Expr::Literal(ScalarValue::Int64(Some(value)), _) => match i32::try_from(*value) {
            Ok(value) => ScalarValue::Int32(Some(value)),
            Err(_) => return Ok(Transformed::no(expr)),
        },
        Expr::Literal(value @ (ScalarValue::UInt64(_) | ScalarValue::Decimal256(..)), _) => {
            return Err(refused(
                Error::invalid(format!("the number {value} is out of range"))
                    .hint("whole numbers go from -9223372036854775808 to 9223372036854775807, decimals have 38 digits"),
            ));
        }
        Expr::Literal(ScalarValue::Decimal128(value, precision, scale), _) if scale.cast_unsigned() >= *precision => {
            ScalarValue::Decimal128(*value, (scale.cast_unsigned() + 1).min(38), *scale)
        }
        Expr::Literal(ScalarValue::Utf8(text), _) => ScalarValue::Utf8View(text.clone()),
        Expr::Literal(ScalarValue::Binary(bytes), _) => ScalarValue::BinaryView(bytes.clone()),
        _ => return Ok(Transformed::no(expr)),
    };
    Ok(Transformed::yes(Expr::Literal(value, None)))
}

fn refused(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// How a message names a value: with its type.
fn with_type(name: &str, data_type: &DataType) -> String {
    format!("{name} ({})", flink_type_name(data_type))
}

/// An error that names the expression and the types of its parts.
fn mismatch(what: &str, parts: &[&Expr], schema: &DFSchema, hint: &str) -> DataFusionError {
    let named = |expr: &&Expr| match expr.get_type(schema) {
        Ok(data_type) => with_type(&sql_text(expr), &data_type),
        Err(_) => sql_text(expr),
    };
    let parts: Vec<String> = parts.iter().map(named).collect();
    refused(Error::invalid(format!("{what}: {}", parts.join(", "))).hint(hint))
}
