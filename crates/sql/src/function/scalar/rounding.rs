//! `ROUND`, `TRUNCATE`, `FLOOR` and `CEIL`: how many digits a decimal keeps is part of its type, and may be an argument.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, PrimitiveArray};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, DecimalType, Field, FieldRef, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type,
};
use datafusion::common::{Result, ScalarValue, internal_err, plan_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use tidemill_core::Error;

use super::evaluated;

/// How they are called, what they give, and where that is not Flink's.
pub(super) const USAGES: [(&str, &str, &str); 4] = [
    ("CEIL(number)", "the next whole number above; also CEILING", ""),
    ("FLOOR(number)", "the next whole number below", ""),
    ("ROUND(number[, digits])", "with so many digits (0), half away from zero", RANGE),
    ("TRUNCATE(number[, digits])", "without the digits behind so many (0)", RANGE),
];

const RANGE: &str =
    "a result out of the range of an integer type is an error, Flink wraps; NaN and infinities are kept";

pub(super) fn functions() -> impl Iterator<Item = ScalarUDF> {
    let all = [Rounding::Ceil, Rounding::Floor, Rounding::Round, Rounding::Truncate];
    let function = |rounding| RoundingFunction { rounding, signature: Signature::user_defined(Volatility::Immutable) };
    all.into_iter().map(move |rounding| {
        let udf = ScalarUDF::from(function(rounding));
        if rounding == Rounding::Ceil { udf.with_aliases(["ceiling"]) } else { udf }
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Rounding {
    Ceil,
    Floor,
    /// Half away from zero.
    Round,
    /// Towards zero.
    Truncate,
}

impl Rounding {
    fn takes_digits(self) -> bool {
        matches!(self, Self::Round | Self::Truncate)
    }

    /// A quotient as a whole number.
    fn divided(self, value: i128, by: i128) -> i128 {
        match self {
            Self::Floor => value.div_euclid(by),
            Self::Ceil => -(-value).div_euclid(by),
            Self::Truncate => value / by,
            Self::Round => {
                let (whole, rest) = (value / by, (value % by).abs());
                // Not twice the rest, which 128 bits may not hold.
                if rest >= by - rest { whole + value.signum() } else { whole }
            }
        }
    }

    /// The value without its digits behind the first `digits` behind the point; `None` where that is too large.
    fn rounded(self, value: i128, scale: i32, digits: i32) -> Option<i128> {
        let dropped = match u32::try_from(scale - digits) {
            Err(_) | Ok(0) => return Some(value),
            Ok(dropped) => dropped,
        };
        match 10i128.checked_pow(dropped) {
            Some(power) => self.divided(value, power).checked_mul(power),
            None => Some(0),
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RoundingFunction {
    rounding: Rounding,
    signature: Signature,
}

impl RoundingFunction {
    fn result_type(&self, number: &DataType, digits: Option<i32>) -> DataType {
        let DataType::Decimal128(precision, scale) = number else { return number.clone() };
        if !self.rounding.takes_digits() {
            return DataType::Decimal128(*precision, 0);
        }
        let Some(digits) = digits.filter(|&digits| digits < i32::from(*scale)) else { return number.clone() };
        let kept = i8::try_from(digits.max(0)).unwrap_or(*scale);
        // One digit more than before the point: 9.9 rounds to 10.
        let precision = i16::from(*precision) - i16::from(*scale) + 1 + i16::from(kept);
        DataType::Decimal128(u8::try_from(precision).unwrap_or(u8::MAX).min(38), kept)
    }

    fn evaluate(&self, number: &ArrayRef, digits: &Int32Array, output: &DataType) -> Result<ArrayRef> {
        match number.data_type() {
            DataType::Null => Ok(cast(number, output)?),
            DataType::Int8 => self.integers::<Int8Type>(number, digits),
            DataType::Int16 => self.integers::<Int16Type>(number, digits),
            DataType::Int32 => self.integers::<Int32Type>(number, digits),
            DataType::Int64 => self.integers::<Int64Type>(number, digits),
            DataType::Float32 => self.floats::<Float32Type>(number, digits),
            DataType::Float64 => self.floats::<Float64Type>(number, digits),
            DataType::Decimal128(_, scale) => self.decimals(number, digits, *scale, output),
            other => internal_err!("{} of {other}", self.name()),
        }
    }

    fn integers<T>(&self, number: &ArrayRef, digits: &Int32Array) -> Result<ArrayRef>
    where
        T: ArrowPrimitiveType,
        T::Native: Into<i64> + TryFrom<i128>,
    {
        let round = |value: T::Native, digits| {
            let rounded = self.rounding.rounded(i128::from(value.into()), 0, digits);
            rounded.and_then(|value| T::Native::try_from(value).ok()).ok_or_else(|| self.out_of_range())
        };
        self.pairs::<T>(number, digits, round)
    }

    fn decimals(&self, number: &ArrayRef, digits: &Int32Array, scale: i8, output: &DataType) -> Result<ArrayRef> {
        let DataType::Decimal128(precision, kept) = *output else { return internal_err!("a decimal becomes {output}") };
        let factor = 10i128.pow(u32::from((scale - kept).unsigned_abs()));
        let round = |value: i128, digits| {
            let rounded = self.rounding.rounded(value, i32::from(scale), digits).map(|value| value / factor);
            let fits = |value: &i128| Decimal128Type::is_valid_decimal_precision(*value, precision);
            rounded.filter(fits).ok_or_else(|| self.out_of_range())
        };
        let rounded = self.pairs::<Decimal128Type>(number, digits, round)?;
        let rounded = rounded.as_primitive::<Decimal128Type>().clone();
        Ok(Arc::new(rounded.with_precision_and_scale(precision, kept)?))
    }

    fn floats<T>(&self, number: &ArrayRef, digits: &Int32Array) -> Result<ArrayRef>
    where
        T: ArrowPrimitiveType,
        T::Native: std::fmt::LowerExp + std::str::FromStr + Into<f64>,
    {
        self.pairs::<T>(number, digits, |value, digits| Ok(self.float(value, digits)))
    }

    /// By the digits that the number is written with, as a person would: 1.005 with two digits is 1.01.
    fn float<F: std::fmt::LowerExp + std::str::FromStr + Into<f64> + Copy>(&self, value: F, digits: i32) -> F {
        if !value.into().is_finite() {
            return value;
        }
        let text = format!("{value:e}");
        let Some((mantissa, exponent)) = text.split_once('e') else { return value };
        let behind = mantissa.split_once('.').map_or(0, |(_, behind)| behind.len());
        let whole: String = mantissa.chars().filter(|c| *c != '.').collect();
        let (Ok(whole), Ok(exponent), Ok(behind)) =
            (whole.parse::<i128>(), exponent.parse::<i32>(), i32::try_from(behind))
        else {
            return value;
        };
        let scale = behind - exponent;
        let rounded = self.rounding.rounded(whole, scale, digits);
        rounded.and_then(|rounded| format!("{rounded}e{}", -scale).parse().ok()).unwrap_or(value)
    }

    fn pairs<T: ArrowPrimitiveType>(
        &self,
        number: &ArrayRef,
        digits: &Int32Array,
        f: impl Fn(T::Native, i32) -> Result<T::Native>,
    ) -> Result<ArrayRef> {
        let pairs = number.as_primitive::<T>().iter().zip(digits);
        let rounded: PrimitiveArray<T> =
            pairs.map(|pair| pair.0.zip(pair.1).map(|(v, d)| f(v, d)).transpose()).collect::<Result<_>>()?;
        Ok(Arc::new(rounded))
    }

    fn out_of_range(&self) -> DataFusionError {
        let error =
            Error::data(format!("the result of {} is out of the range of its type", self.name().to_uppercase()));
        DataFusionError::External(Box::new(error.hint("CAST the number to a type with more digits")))
    }
}

impl ScalarUDFImpl for RoundingFunction {
    fn name(&self) -> &str {
        match self.rounding {
            Rounding::Ceil => "ceil",
            Rounding::Floor => "floor",
            Rounding::Round => "round",
            Rounding::Truncate => "truncate",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let number = |t: &DataType| t.is_numeric() || t.is_null();
        match given {
            [value] if number(value) => Ok(vec![value.clone()]),
            [value, digits]
                if self.rounding.takes_digits() && number(value) && (digits.is_integer() || digits.is_null()) =>
            {
                Ok(vec![value.clone(), DataType::Int32])
            }
            _ => {
                let digits = if self.rounding.takes_digits() { "[, digits]" } else { "" };
                plan_err!("the arguments are not those of {}(number{digits})", self.name().to_uppercase())
            }
        }
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(self.result_type(&given[0], None))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let digits = match args.scalar_arguments {
            [_] => Some(0),
            [_, Some(ScalarValue::Int32(digits)), ..] => *digits,
            [_, Some(ScalarValue::Int64(digits)), ..] => digits.and_then(|digits| i32::try_from(digits).ok()),
            _ => None,
        };
        let data_type = self.result_type(args.arg_fields[0].data_type(), digits);
        Ok(Arc::new(Field::new(self.name(), data_type, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let output = args.return_field.data_type();
        evaluated(&args, |arrays| match arrays {
            [number] => self.evaluate(number, &Int32Array::from_value(0, number.len()), output),
            [number, digits] => self.evaluate(number, cast(digits, &DataType::Int32)?.as_primitive(), output),
            _ => internal_err!("{} of {} values", self.name(), arrays.len()),
        })
    }
}
