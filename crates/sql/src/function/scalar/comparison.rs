//! The greatest and the least of several values; the planner has given them one type.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::compute::kernels::{cmp, nullif, zip};
use arrow::compute::{and_kleene, is_null, or};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use datafusion::common::{Result, internal_err};

use super::{Evaluate as E, Function, Parameter as P, Returns};

/// The name in the plan of `x BETWEEN SYMMETRIC low AND high`: no name that a file can write without backticks.
pub(crate) const BETWEEN_SYMMETRIC: &str = "between symmetric";

pub(super) static FUNCTIONS: [Function; 3] = [
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
    Function::new(
        &[BETWEEN_SYMMETRIC],
        "value BETWEEN SYMMETRIC bound AND bound",
        "whether it is one of them or between, whichever is greater",
        &[P::Any, P::Any, P::Any],
        E::Arrays(between_symmetric),
    )
    .returns(Returns::Type(|| DataType::Boolean)),
];

fn between_symmetric(arguments: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [value, bounds @ ..] = arguments else { return internal_err!("BETWEEN SYMMETRIC without a value") };
    let low = chosen(bounds, |a, b| cmp::lt_eq(&a, &b))?;
    let high = chosen(bounds, |a, b| cmp::gt_eq(&a, &b))?;
    Ok(Arc::new(and_kleene(&cmp::gt_eq(value, &low)?, &cmp::lt_eq(value, &high)?)?))
}

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
