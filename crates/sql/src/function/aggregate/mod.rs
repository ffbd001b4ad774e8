//! Aggregate functions with Flink's result types, the same answer in both drivers.
//!
//! What a function here promises beyond SQL: the answer depends on neither the order of the rows, nor how they were
//! cut into batches, nor the tree in which partial states were merged; and no number wraps.

mod approx_distinct;
mod count;
mod counted;
mod distinct;
pub mod exact_sum;
mod grouped;
mod min_max;
mod ordered;
mod sum;
mod variance;

#[cfg(test)]
mod tests;

pub(crate) use distinct::unambiguous;
pub(crate) use ordered::Ordered;

use std::sync::Arc;

use datafusion::{
    common::{Result, exec_datafusion_err, plan_datafusion_err},
    logical_expr::AggregateUDF,
};

use crate::types::flink_type_name;

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
