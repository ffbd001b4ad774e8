//! `UNION`, `INTERSECT` and `EXCEPT`: the columns of their inputs have the types that Flink finds for them.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::{Column, JoinType, NullEquality, Result};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Distinct, Expr, Join, LogicalPlan, Projection, Union};
use tidemill_core::Error;

use super::common::{common_type, signed};
use super::{collections, refused, with_type};

/// The union with inputs whose columns agree; those below do already.
pub(super) fn agree_union(union: Union) -> Result<LogicalPlan> {
    let types = types_of_columns("a UNION", &union.inputs)?;
    let inputs = union.inputs.into_iter().map(|input| in_types(input, &types)).collect::<Result<_>>()?;
    Ok(LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?))
}

/// What the text calls the join, if it is what DataFusion makes of `INTERSECT` or `EXCEPT`: no join of a text takes a
/// NULL for the same as a NULL.
pub(super) fn set_operation(join: &Join) -> Option<&'static str> {
    if join.null_equality != NullEquality::NullEqualsNull {
        return None;
    }
    match join.join_type {
        JoinType::LeftSemi => Some("an INTERSECT"),
        JoinType::LeftAnti => Some("an EXCEPT"),
        _ => None,
    }
}

/// The same for an `INTERSECT` or `EXCEPT`; `what` names it.
pub(super) fn agree_join(join: Join, what: &str) -> Result<LogicalPlan> {
    let Join { left, right, on, filter, join_type, join_constraint, null_equality, null_aware, .. } = join;
    let types = types_of_columns(what, &[Arc::clone(&left), Arc::clone(&right)])?;
    let left = match left.as_ref() {
        // Rows that differ may be one in the common type, so each is taken once after the casts.
        LogicalPlan::Distinct(Distinct::All(rows)) => {
            Arc::new(LogicalPlan::Distinct(Distinct::All(in_types(Arc::clone(rows), &types)?)))
        }
        _ => in_types(left, &types)?,
    };
    let right = in_types(right, &types)?;
    let join = Join::try_new(left, right, on, filter, join_type, join_constraint, null_equality, null_aware)?;
    Ok(LogicalPlan::Join(join))
}

/// The common type of each column; `what` names the operation.
fn types_of_columns(what: &str, inputs: &[Arc<LogicalPlan>]) -> Result<Vec<DataType>> {
    let columns = 0..inputs.first().map_or(0, |input| input.schema().fields().len());
    columns.map(|column| type_of_column(what, inputs, column)).collect()
}

fn type_of_column(what: &str, inputs: &[Arc<LogicalPlan>], column: usize) -> Result<DataType> {
    let types: Vec<&DataType> = inputs.iter().map(|input| input.schema().field(column).data_type()).collect();
    if let [first, others @ ..] = types.as_slice()
        && others.iter().all(|other| other == first)
    {
        return Ok((*first).clone());
    }
    let signed: Vec<DataType> = types.into_iter().map(signed).collect();
    common_type(&signed).ok_or_else(|| no_common_type(what, inputs, column))
}

fn no_common_type(what: &str, inputs: &[Arc<LogicalPlan>], column: usize) -> DataFusionError {
    let named = |input: &Arc<LogicalPlan>| {
        let field = input.schema().field(column);
        with_type(field.name(), field.data_type())
    };
    let columns: Vec<String> = inputs.iter().map(named).collect();
    refused(
        Error::invalid(format!("the columns of {what} have no type in common: {}", columns.join(", ")))
            .hint("CAST them to one type"),
    )
}

/// The input with its columns cast to the types, as it is where it has them.
fn in_types(input: Arc<LogicalPlan>, types: &[DataType]) -> Result<Arc<LogicalPlan>> {
    let schema = Arc::clone(input.schema());
    if schema.fields().iter().zip(types).all(|(field, to)| field.data_type() == to) {
        return Ok(input);
    }
    let columns = schema.iter().zip(types).map(|((relation, field), to)| {
        let column = Expr::Column(Column::new(relation.cloned(), field.name().clone()));
        if field.data_type() == to {
            return Ok(column);
        }
        let cast = collections::as_type(column, to, &schema)?;
        Ok(cast.alias_qualified(relation.cloned(), field.name().clone()))
    });
    let columns = columns.collect::<Result<_>>()?;
    Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(columns, input)?)))
}
