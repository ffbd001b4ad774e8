//! Aggregate functions with Flink's result types, the same answer in both drivers.
//!
//! What a function here promises beyond SQL: the answer depends on neither the order of the rows, nor how they were
//! cut into batches, nor the tree in which partial states were merged; and no number wraps.

mod approx_distinct;
mod count;
mod counted;
mod distinct;
pub mod exact_sum;
pub(crate) mod grouped;
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

/// How the functions are called, what they give, and where that is not Flink's.
pub(super) const USAGES: [(&str, &str, &str); 20] = [
    ("APPROX_COUNT_DISTINCT(value)", "about how many values differ", "a HyperLogLog of its own"),
    ("ARRAY_AGG(value)", "an array of the values", IN_ORDER),
    ("AVG(number)", "the mean, in the number's type", ""),
    (
        "COLLECT(value)",
        "each value with how often it comes",
        "a MAP from each value to its count, where Flink has a MULTISET",
    ),
    ("COUNT(*)", "the number of rows", ""),
    ("COUNT(value, ...)", "the number of rows in which no value is NULL", "Flink plans no count of several fields"),
    ("FIRST_VALUE(value)", "the first value that is not NULL", IN_ORDER),
    ("LAST_VALUE(value)", "the last value that is not NULL", IN_ORDER),
    ("LISTAGG(string[, separator])", "the strings with the separator between them, a comma by itself", IN_ORDER),
    ("MAX(value)", "the greatest", "NaN is greater than all numbers"),
    ("MIN(value)", "the least", "NaN is greater than all numbers"),
    (
        "PERCENTILE(number, share[, frequency])",
        "the value at this share of the order, exact",
        "one share, no ARRAY of them",
    ),
    ("STDDEV(number)", "as STDDEV_SAMP", OF_EXACT_SUMS),
    ("STDDEV_POP(number)", "the standard deviation of all", OF_EXACT_SUMS),
    ("STDDEV_SAMP(number)", "the standard deviation that a sample tells of", OF_EXACT_SUMS),
    (
        "SUM(number)",
        "the sum",
        "a sum of DOUBLE is exact and rounded once; one out of the range of its type is an error",
    ),
    ("VARIANCE(number)", "as VAR_SAMP", OF_EXACT_SUMS),
    ("VAR_POP(number)", "the variance of all", OF_EXACT_SUMS),
    ("VAR_SAMP(number)", "the variance that a sample tells of", OF_EXACT_SUMS),
    ("aggregate(DISTINCT value) FILTER (WHERE condition)", "of each value once, and of the rows where it is TRUE", ""),
];

const IN_ORDER: &str = "in the order of event time, partition and offset; Flink takes the rows as they come";

const OF_EXACT_SUMS: &str = "rounded once, from exact sums";

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
