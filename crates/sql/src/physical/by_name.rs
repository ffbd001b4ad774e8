//! Side outputs end in tables that declare what they want of them, by name.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column as PhysicalColumn};
use tidemill_core::{Error, Result};
use tidemill_runtime::operator::Calc;

use crate::types::flink_type_name;

/// Takes from rows of `given` the columns of the table `wanted`; `rows` is what messages call them.
///
/// # Errors
/// `Invalid` where there is no such column, or it can't be cast.
pub(crate) fn by_name(rows: &str, given: &Schema, wanted: &SchemaRef) -> Result<Calc> {
    let mut exprs: Vec<Arc<dyn PhysicalExpr>> = vec![];
    for field in wanted.fields() {
        let Some((index, found)) = given.column_with_name(field.name()) else {
            let names: Vec<&str> = given.fields().iter().map(|f| f.name().as_str()).collect();
            return Err(Error::invalid(format!("{rows} have no column '{}'", field.name()))
                .hint(format!("a table of {rows} may declare: {}", names.join(", "))));
        };
        let column: Arc<dyn PhysicalExpr> = Arc::new(PhysicalColumn::new(field.name(), index));
        if found.data_type() == field.data_type() {
            exprs.push(column);
        } else if !between_clocks(found.data_type(), field.data_type())
            && arrow::compute::can_cast_types(found.data_type(), field.data_type())
        {
            exprs.push(Arc::new(CastExpr::new(column, field.data_type().clone(), None)));
        } else {
            return Err(Error::invalid(format!(
                "the column '{}' has the type {}, and {rows} have {}",
                field.name(),
                flink_type_name(field.data_type()),
                flink_type_name(found.data_type())
            )));
        }
    }
    let nullable = wanted.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect::<Vec<_>>();
    Ok(Calc { predicate: None, projection: Some((exprs, Arc::new(Schema::new(nullable)))) })
}

/// A cast between TIMESTAMP and TIMESTAMP_LTZ needs a zone, and a side output is no place to guess one.
fn between_clocks(from: &DataType, to: &DataType) -> bool {
    matches!((from, to), (DataType::Timestamp(_, from), DataType::Timestamp(_, to)) if from.is_some() != to.is_some())
}
