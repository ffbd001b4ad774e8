//! A bare `SELECT`: DataFusion's intermediate types become the ones that Flink has.

use std::collections::HashSet;

use arrow::datatypes::DataType;
use datafusion::common::Column;
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use tidemill_core::{Error, Excerpt, Result};

use crate::plan::plan_error;

/// The plan with every column in a type of Flink's, and every name once.
pub(super) fn in_flink_types(query: LogicalPlan, excerpt: &Excerpt) -> Result<LogicalPlan> {
    let mut names = HashSet::new();
    let mut exprs = vec![];
    for (qualifier, field) in query.schema().iter() {
        if !names.insert(field.name().clone()) {
            return Err(Error::invalid(format!("the result has two columns '{}'", field.name()))
                .hint("give one of them another name: expr AS name")
                .at(excerpt.clone()));
        }
        let column = Expr::Column(Column::new(qualifier.cloned(), field.name().clone()));
        exprs.push(match flink_type(field.data_type()) {
            Some(data_type) => Expr::Cast(Cast::new(Box::new(column), data_type)).alias(field.name()),
            None => column,
        });
    }
    let plan = LogicalPlanBuilder::from(query).project(exprs).and_then(LogicalPlanBuilder::build);
    plan.map_err(|e| plan_error(e, excerpt))
}

/// The type to cast to, where a type is not one of Flink's.
fn flink_type(data_type: &DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Null => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::UInt8 => DataType::Int16,
        DataType::UInt16 => DataType::Int32,
        // ROW_NUMBER is a BIGINT in Flink.
        DataType::UInt32 | DataType::UInt64 => DataType::Int64,
        _ => return None,
    })
}
