//! Aggregate functions with Flink's result types, the same answer in both drivers.
//!
//! What a function here promises beyond SQL: the answer depends on neither the order of the rows, nor how they were
//! cut into batches, nor the tree in which partial states were merged; and no number wraps.

mod approx_distinct;
mod count;
mod distinct;
pub mod exact_sum;
mod grouped;
mod min_max;
mod ordered;
mod sum;

#[cfg(test)]
mod tests;
mod variance;

pub(crate) use ordered::Ordered;

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::{
    common::{Result, exec_datafusion_err, plan_datafusion_err},
    logical_expr::AggregateUDF,
};

/// Every aggregate function, by its lower-case name.
#[must_use]
pub fn aggregates() -> Vec<Arc<AggregateUDF>> {
    let simple = [
        count::count(),
        min_max::min(),
        min_max::max(),
        sum::sum(),
        sum::avg(),
        approx_distinct::approx_count_distinct(),
    ];
    simple.into_iter().chain(variance::variances()).chain(ordered::ordered()).collect()
}

/// The one argument of a function.
fn single_argument<'a, T>(function: &str, arguments: &'a [T]) -> Result<&'a T> {
    match arguments {
        [argument] => Ok(argument),
        other => Err(plan_datafusion_err!("{} takes one argument, not {}", function.to_uppercase(), other.len())),
    }
}

/// Arrow's array as the type that the plan promised.
fn expect_array<T>(array: Option<&T>) -> Result<&T> {
    array.ok_or_else(|| exec_datafusion_err!("an aggregate function received a column of a type that was not planned"))
}

/// A type as SQL writes it.
fn sql_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Boolean => "BOOLEAN".into(),
        DataType::Int8 => "TINYINT".into(),
        DataType::Int16 => "SMALLINT".into(),
        DataType::Int32 => "INT".into(),
        DataType::Int64 => "BIGINT".into(),
        DataType::Float32 => "FLOAT".into(),
        DataType::Float64 => "DOUBLE".into(),
        DataType::Decimal128(precision, scale) => format!("DECIMAL({precision}, {scale})"),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "STRING".into(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "BYTES".into(),
        DataType::Date32 => "DATE".into(),
        DataType::Time32(_) | DataType::Time64(_) => "TIME".into(),
        DataType::Timestamp(_, None) => "TIMESTAMP".into(),
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP_LTZ".into(),
        DataType::List(_) => "ARRAY".into(),
        DataType::Map(..) => "MAP".into(),
        DataType::Struct(_) => "ROW".into(),
        DataType::Null => "NULL".into(),
        other => other.to_string(),
    }
}
