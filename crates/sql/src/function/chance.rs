//! The functions of chance: another value for each row, and in each run.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, AsArray, Int32Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type, Int32Type};
use datafusion::common::{Result, exec_err, internal_err, plan_err};
use datafusion::functions::math::random;
use datafusion::functions::string::uuid;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::types::flink_type_name;

const NO_SEED: &str = "no seed: which row gets which number would depend on the order of arrival";

/// How the functions are called, what they give, and where that is not Flink's.
pub(super) const USAGES: [(&str, &str, &str); 3] = [
    ("RAND()", "a random number from 0 up to 1, a DOUBLE", NO_SEED),
    ("RAND_INTEGER(bound)", "a random INT from 0 up to the bound", NO_SEED),
    ("UUID()", "a random UUID (RFC 9562, version 4)", ""),
];

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Chance {
    Double,
    Integer,
    Uuid,
}

/// Every function.
pub(crate) fn functions() -> impl Iterator<Item = Arc<ScalarUDF>> {
    [Chance::Double, Chance::Integer, Chance::Uuid].into_iter().map(|chance| Arc::new(ScalarUDF::from(chance)))
}

static SIGNATURE: LazyLock<Signature> = LazyLock::new(|| Signature::user_defined(Volatility::Volatile));

impl ScalarUDFImpl for Chance {
    fn name(&self) -> &str {
        match self {
            Self::Double => "rand",
            Self::Integer => "rand_integer",
            Self::Uuid => "uuid",
        }
    }

    fn signature(&self) -> &Signature {
        &SIGNATURE
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match (self, given) {
            (Self::Double | Self::Uuid, []) => Ok(vec![]),
            (Self::Integer, [bound]) if bound.is_integer() || bound.is_null() => Ok(vec![DataType::Int32]),
            (Self::Integer, [bound]) => plan_err!("RAND_INTEGER takes an INT, not a {}", flink_type_name(bound)),
            (Self::Double, [_]) | (Self::Integer, [_, _]) => {
                plan_err!("{} takes {NO_SEED}", self.name().to_uppercase())
            }
            (Self::Integer, _) => plan_err!("RAND_INTEGER takes one argument: the bound"),
            _ => plan_err!("{} takes no arguments", self.name().to_uppercase()),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self {
            Self::Double => DataType::Float64,
            Self::Integer => DataType::Int32,
            Self::Uuid => DataType::Utf8View,
        })
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&[])?, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let drawn: ArrayRef = match self {
            Self::Double => draw(&random(), DataType::Float64, args)?,
            Self::Integer => {
                let [bounds] = args.args.as_slice() else { return internal_err!("RAND_INTEGER without its bound") };
                let bounds = bounds.to_array(rows)?;
                let shares = draw(&random(), DataType::Float64, args)?;
                let shares = shares.as_primitive::<Float64Type>().values().iter();
                let below = shares.zip(bounds.as_primitive::<Int32Type>()).map(|(&share, bound)| below(share, bound));
                Arc::new(below.collect::<Result<Int32Array>>()?)
            }
            Self::Uuid => cast(&draw(&uuid(), DataType::Utf8, args)?, &DataType::Utf8View)?,
        };
        Ok(ColumnarValue::Array(drawn))
    }
}

/// A value of DataFusion's function, which has this type, for each row.
fn draw(function: &ScalarUDF, data_type: DataType, args: ScalarFunctionArgs) -> Result<ArrayRef> {
    let rows = args.number_rows;
    let return_field = Arc::new(Field::new(function.name(), data_type, false));
    let args = ScalarFunctionArgs { args: vec![], arg_fields: vec![], return_field, ..args };
    function.invoke_with_args(args)?.into_array(rows)
}

/// The whole number below the bound that a share of it falls on.
fn below(share: f64, bound: Option<i32>) -> Result<Option<i32>> {
    match bound {
        None => Ok(None),
        Some(bound @ 1..) => Ok(Some((share * f64::from(bound)) as i32)),
        Some(bound) => exec_err!("RAND_INTEGER takes a bound over 0, and this is {bound}"),
    }
}

#[cfg(test)]
mod tests;
