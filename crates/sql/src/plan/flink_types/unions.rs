//! `UNION`: the columns of its inputs have the types that Flink finds for them.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::{Column, Result};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Union};
use tidemill_core::Error;

use super::common::common_type;
use super::{collections, refused};
use crate::types::flink_type_name;

/// The union with inputs whose columns agree; those below do already.
pub(super) fn agree(union: Union) -> Result<LogicalPlan> {
    let columns = 0..union.schema.fields().len();
    let types = columns.map(|column| type_of_column(&union.inputs, column)).collect::<Result<Vec<_>>>()?;
    let inputs = union.inputs.into_iter().map(|input| in_types(input, &types)).collect::<Result<_>>()?;
    Ok(LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?))
}

fn type_of_column(inputs: &[Arc<LogicalPlan>], column: usize) -> Result<DataType> {
    let types: Vec<&DataType> = inputs.iter().map(|input| input.schema().field(column).data_type()).collect();
    if let [first, others @ ..] = types.as_slice()
        && others.iter().all(|other| other == first)
    {
        return Ok((*first).clone());
    }
    let signed: Vec<DataType> = types.into_iter().map(signed).collect();
    common_type(&signed).ok_or_else(|| no_common_type(inputs, column))
}

/// Row numbers are BIGINT.
fn signed(data_type: &DataType) -> DataType {
    if *data_type == DataType::UInt64 { DataType::Int64 } else { data_type.clone() }
}

fn no_common_type(inputs: &[Arc<LogicalPlan>], column: usize) -> DataFusionError {
    let named = |input: &Arc<LogicalPlan>| {
        let field = input.schema().field(column);
        format!("{} ({})", field.name(), flink_type_name(field.data_type()))
    };
    let columns: Vec<String> = inputs.iter().map(named).collect();
    refused(
        Error::invalid(format!("the columns of a UNION have no type in common: {}", columns.join(", ")))
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
