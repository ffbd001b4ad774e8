//! Expressions that DataFusion would answer, and otherwise than Flink documents: refused by name until
//! they are ours.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result as DfResult};
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use tidemill_core::{Error, Excerpt, Result};

use super::plan_error;
use crate::function::time::wrong_literal;
use crate::types::flink_type_name;

/// Refuses the first such expression of the plan.
pub(crate) fn refuse_other_answers(plan: &LogicalPlan, excerpt: &Excerpt) -> Result<()> {
    let mut refused: Option<Error> = None;
    let visit = plan.apply_with_subqueries(|node| {
        let schema = input_schema(node)?;
        refused = map_as_key(node, &schema)?;
        if refused.is_some() {
            return Ok(TreeNodeRecursion::Stop);
        }
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                refused = refusal(expr, &schema);
                Ok(if refused.is_some() { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
            })
        })
    });
    visit.map_err(|e| plan_error(e, excerpt))?;
    match refused {
        Some(error) => Err(error.at(excerpt.clone())),
        None => Ok(()),
    }
}

/// The columns that a node's expressions read.
pub(super) fn input_schema(node: &LogicalPlan) -> DfResult<DFSchema> {
    let mut schema = DFSchema::empty();
    for input in node.inputs() {
        schema.merge(input.schema());
    }
    if node.inputs().is_empty() {
        schema = node.schema().as_ref().clone();
    }
    Ok(schema)
}

/// Two maps of the same entries may have them in another order: they would be two groups.
fn map_as_key(node: &LogicalPlan, schema: &DFSchema) -> DfResult<Option<Error>> {
    let keys: Vec<DataType> = match node {
        LogicalPlan::Aggregate(aggregate) => {
            let keys = grouping_set_to_exprlist(&aggregate.group_expr)?;
            keys.into_iter().map(|key| key.get_type(schema)).collect::<DfResult<_>>()?
        }
        LogicalPlan::Distinct(_) => node.schema().fields().iter().map(|field| field.data_type().clone()).collect(),
        _ => vec![],
    };
    let map = keys.iter().find(|key| has_map(key));
    Ok(map.map(|map| {
        Error::invalid(format!("a {} can't be grouped by: its entries have no order", flink_type_name(map)))
            .hint("group by the values of its keys: map['key']")
    }))
}

fn has_map(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(..) => true,
        DataType::List(element) => has_map(element.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_map(field.data_type())),
        _ => false,
    }
}

fn refusal(expr: &Expr, schema: &DFSchema) -> Option<Error> {
    match expr {
        Expr::Cast(cast) => text_cast(&cast.expr, cast.field.data_type(), schema),
        Expr::TryCast(cast) => text_cast(&cast.expr, cast.field.data_type(), schema),
        Expr::ScalarFunction(call) => wrong_literal(call),
        _ => None,
    }
}

/// A text whose form Flink and Arrow do not share.
fn text_cast(expr: &Expr, to: &DataType, schema: &DFSchema) -> Option<Error> {
    if matches!(expr, Expr::Literal(..)) || !matches!(to, DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8) {
        return None;
    }
    let from = expr.get_type(schema).ok()?;
    let other_form = matches!(
        from,
        DataType::Boolean
            | DataType::Float32
            | DataType::Float64
            | DataType::Timestamp(..)
            | DataType::Time32(_)
            | DataType::Binary
            | DataType::BinaryView
            | DataType::List(_)
            | DataType::Map(..)
            | DataType::Struct(_)
    );
    other_form.then(|| {
        Error::invalid(format!("CAST({expr} AS STRING) of a {} is not supported yet", flink_type_name(&from)))
            .hint("select the value as it is")
    })
}
