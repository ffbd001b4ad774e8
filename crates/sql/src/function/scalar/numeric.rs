//! Functions of numbers: those of DOUBLE, and `ABS` and `SIGN`, which keep the type.

use std::f64::consts;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use datafusion::common::{Result, internal_err};
use datafusion::error::DataFusionError;
use tidemill_core::Error;

use super::{Evaluate as E, Function, Parameter as P};

/// A function of one DOUBLE.
macro_rules! of_one {
    ($name:literal, $usage:literal, $doc:literal, $f:expr) => {
        Function::new(&[$name], $usage, $doc, &[P::Double], E::Double(|row| row.double(0).map($f)))
    };
}

/// A function of two DOUBLEs.
macro_rules! of_two {
    ($name:literal, $usage:literal, $doc:literal, $f:expr) => {
        Function::new(
            &[$name],
            $usage,
            $doc,
            &[P::Double, P::Double],
            E::Double(|row| Some($f(row.double(0)?, row.double(1)?))),
        )
    };
}

pub(super) static FUNCTIONS: [Function; 24] = [
    Function::new(&["abs"], "ABS(number)", "without its sign", &[P::Number], E::Arrays(abs))
        .differs("ABS of the least integer is an error; Flink gives it back"),
    Function::new(&["sign"], "SIGN(number)", "-1, 0 or 1", &[P::Number], E::Arrays(sign)),
    of_one!("sqrt", "SQRT(number)", "its square root; NaN below 0", f64::sqrt),
    of_one!("exp", "EXP(number)", "e to its power", f64::exp),
    of_one!("ln", "LN(number)", "its natural logarithm; -Infinity of 0, NaN below", f64::ln),
    of_one!("log10", "LOG10(number)", "its logarithm to the base 10", f64::log10),
    of_one!("log2", "LOG2(number)", "its logarithm to the base 2", f64::log2),
    Function::new(
        &["log"],
        "LOG([base, ]number)",
        "its logarithm to the base (e)",
        &[P::Double, P::Double],
        E::Double(|row| {
            Some(if row.count() > 1 { row.double(1)?.ln() / row.double(0)?.ln() } else { row.double(0)?.ln() })
        }),
    )
    .required(1),
    of_two!("power", "POWER(number, exponent)", "to this power", f64::powf),
    of_one!("sin", "SIN(number)", "its sine", f64::sin),
    of_one!("cos", "COS(number)", "its cosine", f64::cos),
    of_one!("tan", "TAN(number)", "its tangent", f64::tan),
    of_one!("cot", "COT(number)", "its cotangent", |x| 1.0 / x.tan()),
    of_one!("asin", "ASIN(number)", "its arc sine", f64::asin),
    of_one!("acos", "ACOS(number)", "its arc cosine", f64::acos),
    of_one!("atan", "ATAN(number)", "its arc tangent", f64::atan),
    of_two!("atan2", "ATAN2(y, x)", "the angle of the point (x, y)", f64::atan2),
    of_one!("sinh", "SINH(number)", "its hyperbolic sine", f64::sinh),
    of_one!("cosh", "COSH(number)", "its hyperbolic cosine", f64::cosh),
    of_one!("tanh", "TANH(number)", "its hyperbolic tangent", f64::tanh),
    of_one!("degrees", "DEGREES(number)", "radians in degrees", |x| x * (180.0 / consts::PI)),
    of_one!("radians", "RADIANS(number)", "degrees in radians", |x| x * (consts::PI / 180.0)),
    Function::new(&["pi"], "PI()", "3.141592653589793; also PI", &[], E::Double(|_| Some(consts::PI))),
    Function::new(&["e"], "E()", "2.718281828459045", &[], E::Double(|_| Some(consts::E))),
];

/// `None` is a result out of the type's range.
fn mapped<T: ArrowPrimitiveType>(
    numbers: &ArrayRef,
    name: &str,
    f: impl Fn(T::Native) -> Option<T::Native>,
) -> Result<ArrayRef> {
    let result: Result<PrimitiveArray<T>> =
        numbers.as_primitive::<T>().try_unary(|value| f(value).ok_or_else(|| out_of_range(name)));
    Ok(Arc::new(result?.with_data_type(numbers.data_type().clone())))
}

fn out_of_range(name: &str) -> DataFusionError {
    let error = Error::data(format!("the result of {name} is out of the range of its type"));
    DataFusionError::External(Box::new(error.hint("CAST the number to a type with more digits")))
}

fn abs(arguments: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [numbers] = arguments else { return internal_err!("ABS of {} values", arguments.len()) };
    match numbers.data_type() {
        DataType::Int8 => mapped::<Int8Type>(numbers, "ABS", i8::checked_abs),
        DataType::Int16 => mapped::<Int16Type>(numbers, "ABS", i16::checked_abs),
        DataType::Int32 => mapped::<Int32Type>(numbers, "ABS", i32::checked_abs),
        DataType::Int64 => mapped::<Int64Type>(numbers, "ABS", i64::checked_abs),
        DataType::Float32 => mapped::<Float32Type>(numbers, "ABS", |v| Some(v.abs())),
        DataType::Float64 => mapped::<Float64Type>(numbers, "ABS", |v| Some(v.abs())),
        DataType::Decimal128(..) => mapped::<Decimal128Type>(numbers, "ABS", i128::checked_abs),
        other => internal_err!("ABS of {other}"),
    }
}

fn sign(arguments: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [numbers] = arguments else { return internal_err!("SIGN of {} values", arguments.len()) };
    match numbers.data_type() {
        DataType::Int8 => mapped::<Int8Type>(numbers, "SIGN", |v| Some(v.signum())),
        DataType::Int16 => mapped::<Int16Type>(numbers, "SIGN", |v| Some(v.signum())),
        DataType::Int32 => mapped::<Int32Type>(numbers, "SIGN", |v| Some(v.signum())),
        DataType::Int64 => mapped::<Int64Type>(numbers, "SIGN", |v| Some(v.signum())),
        DataType::Float32 => mapped::<Float32Type>(numbers, "SIGN", |v| Some(if v == 0.0 { v } else { v.signum() })),
        DataType::Float64 => mapped::<Float64Type>(numbers, "SIGN", |v| Some(if v == 0.0 { v } else { v.signum() })),
        DataType::Decimal128(precision, scale) => {
            let one = u32::try_from(*scale).ok().and_then(|scale| 10i128.checked_pow(scale));
            let fits = i16::from(*precision) > i16::from(*scale);
            mapped::<Decimal128Type>(numbers, "SIGN", |v| match v.signum() {
                0 => Some(0),
                sign => one.filter(|_| fits).map(|one| sign * one),
            })
        }
        other => internal_err!("SIGN of {other}"),
    }
}
