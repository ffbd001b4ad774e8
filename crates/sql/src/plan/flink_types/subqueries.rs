//! `IN (SELECT ...)`: the value that is looked for and those of the subquery have one type.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::type_coercion::binary::comparison_coercion;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Projection};
use tidemill_core::Error;

use super::collections::{self, is_collection};
use super::common::{common_type, compared_as, number_with_other, signed};
use super::operands::as_compared;
use super::{refused, with_type};
use crate::function::sql_text;

/// The column of a subquery whose values were cast.
const FOUND: &str = "__found";

/// The expression with sides that agree; the subquery has Flink's types already.
pub(super) fn agree(looked_for: InSubquery, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let value = looked_for.expr.get_type(schema)?;
    let found = looked_for.subquery.subquery.schema().field(0).data_type().clone();
    let Some(common) = looked_for_as(&value, &found) else {
        if is_comparable(&value, &found) {
            return Ok(Transformed::no(Expr::InSubquery(looked_for)));
        }
        return Err(no_common_type(&looked_for, &value));
    };
    if value == common && found == common {
        return Ok(Transformed::no(Expr::InSubquery(looked_for)));
    }
    let InSubquery { expr, subquery, negated } = looked_for;
    let expr = Box::new(as_compared(*expr, &common, schema)?);
    let rows = if found == common { Arc::clone(&subquery.subquery) } else { as_type(&subquery.subquery, &common)? };
    Ok(Transformed::yes(Expr::InSubquery(InSubquery::new(expr, subquery.with_plan(rows), negated))))
}

/// The subquery with its column cast to the type. It has a name of its own then, which nobody asks for: where a column's new
/// value has its old name, DataFusion's joins for `IN (...) OR ...` have two of that name.
fn as_type(subquery: &Arc<LogicalPlan>, to: &DataType) -> Result<Arc<LogicalPlan>> {
    let column = Expr::Column(Column::from(subquery.schema().qualified_field(0)));
    let cast = collections::as_type(column, to, subquery.schema())?.alias(FOUND);
    Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(vec![cast], Arc::clone(subquery))?)))
}

/// The type in which a value is looked for among others: the one that both have in common, as Flink makes the sides of
/// a join agree. Where that would cut digits off, decimals are compared with all of them, and a DATE is compared with a
/// TIMESTAMP as by `=`. `None` where the types have none in common.
fn looked_for_as(value: &DataType, found: &DataType) -> Option<DataType> {
    let types = [signed(value), signed(found)];
    match compared_as(&types) {
        Some(wide @ DataType::Decimal256(..)) => Some(wide),
        compared => common_type(&types).or(compared),
    }
}

/// Whether values without a common type are compared nevertheless, as `=` compares them: a text with a time, a
/// TIMESTAMP with an instant.
fn is_comparable(value: &DataType, found: &DataType) -> bool {
    let types = [value.clone(), found.clone()];
    !types.iter().any(is_collection) && !number_with_other(&types) && comparison_coercion(value, found).is_some()
}

fn no_common_type(looked_for: &InSubquery, value: &DataType) -> DataFusionError {
    let found = looked_for.subquery.subquery.schema().field(0);
    let sides = [with_type(&sql_text(&looked_for.expr), value), with_type(found.name(), found.data_type())];
    refused(
        Error::invalid(format!("the sides of IN have no type in common: {}", sides.join(", ")))
            .hint("CAST one to the other's type"),
    )
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, TimeUnit};

    use super::{is_comparable, looked_for_as};

    fn decimal(precision: u8, scale: i8) -> DataType {
        DataType::Decimal128(precision, scale)
    }

    #[test]
    fn a_value_is_looked_for_in_the_common_type() {
        for float in [DataType::Float32, DataType::Float64] {
            assert_eq!(looked_for_as(&float, &decimal(4, 2)), Some(DataType::Float64));
            assert_eq!(looked_for_as(&decimal(4, 2), &float), Some(DataType::Float64));
        }
        assert_eq!(looked_for_as(&DataType::Int32, &decimal(4, 2)), Some(decimal(12, 2)));
        assert_eq!(looked_for_as(&DataType::Int32, &DataType::UInt64), Some(DataType::Int64));
        let timestamp = |unit| DataType::Timestamp(unit, None);
        let (ms, us) = (timestamp(TimeUnit::Millisecond), timestamp(TimeUnit::Microsecond));
        assert_eq!(looked_for_as(&ms, &us), Some(us));
        assert_eq!(looked_for_as(&DataType::Date32, &ms), Some(ms));
    }

    #[test]
    fn a_decimal_is_looked_for_with_all_its_digits() {
        assert_eq!(looked_for_as(&decimal(38, 0), &decimal(4, 2)), Some(DataType::Decimal256(40, 2)));
    }

    #[test]
    fn what_has_no_common_type_is_compared_only_as_by_equality() {
        let ms = |zone: Option<&str>| DataType::Timestamp(TimeUnit::Millisecond, zone.map(Into::into));
        assert_eq!(looked_for_as(&ms(None), &ms(Some("UTC"))), None);
        assert!(is_comparable(&ms(None), &ms(Some("UTC"))));
        let refused = [
            (DataType::Int32, DataType::Utf8View),
            (DataType::Boolean, DataType::Int64),
            (DataType::new_list(DataType::Int32, true), DataType::new_list(DataType::Utf8View, true)),
        ];
        for (value, found) in refused {
            assert_eq!(looked_for_as(&value, &found), None, "{value} in {found}");
            assert!(!is_comparable(&value, &found), "{value} in {found}");
        }
    }
}
