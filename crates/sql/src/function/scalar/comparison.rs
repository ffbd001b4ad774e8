//! The greatest and the least of several values; the planner has given them one type.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::compute::kernels::{cmp, nullif, zip};
use arrow::compute::{is_null, or};
use arrow::error::ArrowError;
use datafusion::common::Result;

use super::{Evaluate as E, Function, Parameter as P};

pub(super) static FUNCTIONS: [Function; 2] = [
    Function::new(
        &["greatest"],
        "GREATEST(value, ...)",
        "the greatest; NULL if one is NULL",
        &[P::Any],
        E::Arrays(|values, _| chosen(values, |a, b| cmp::gt_eq(&a, &b))),
    )
    .repeats(),
    Function::new(
        &["least"],
        "LEAST(value, ...)",
        "the least; NULL if one is NULL",
        &[P::Any],
        E::Arrays(|values, _| chosen(values, |a, b| cmp::lt_eq(&a, &b))),
    )
    .repeats(),
];

fn chosen(
    values: &[ArrayRef],
    first: impl Fn(&dyn Array, &dyn Array) -> std::result::Result<BooleanArray, ArrowError>,
) -> Result<ArrayRef> {
    let mut best = Arc::clone(&values[0]);
    for value in &values[1..] {
        let keeps = first(&best, value)?;
        let null = or(&is_null(&best)?, &is_null(value)?)?;
        best = nullif::nullif(&zip::zip(&keeps, &best, value)?, &null)?;
    }
    Ok(best)
}
