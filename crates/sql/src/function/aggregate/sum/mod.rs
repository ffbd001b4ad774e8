//! `SUM` and `AVG`: exact until they are read, then checked or rounded once.
//!
//! | argument | `SUM` | `AVG` |
//! |---|---|---|
//! | `TINYINT`, `SMALLINT`, `INT`, `BIGINT` | the same type | the same type, truncated toward zero |
//! | `DECIMAL(p, s)` | `DECIMAL(38, s)` | `DECIMAL(38, max(s, 6))`, half up |
//! | `FLOAT`, `DOUBLE` | the same type | the same type |
//!
//! The types are Flink's. Flink wraps an integer sum that overflows and makes NULL of a decimal one; here both are
//! errors, raised only where the final sum does not fit. The result is NULL if no row is taken in, so the type is
//! nullable. A state is (total, count): the count makes a NULL, divides an average, and lets rows be taken back. Of
//! DISTINCT values the state is the values.

mod average;
mod finish;
mod groups;
mod total;

use std::sync::Arc;

use arrow::datatypes::{
    DataType, Field, FieldRef, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, i256,
};
use datafusion::{
    common::{Result, plan_err},
    logical_expr::{
        Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
        function::{AccumulatorArgs, StateFieldsArgs},
        utils::{AggregateOrderSensitivity, format_state_name},
    },
};

use super::{
    distinct::{self, DistinctGroups},
    exact_sum::ExactSum,
    flink_type_name,
    grouped::{Grouped, OneGroup, Vectorized},
    single_argument,
};
use finish::{Call, Decimals, Floats, Integers};
use groups::SumGroups;
use total::Total;

/// The most digits of a `DECIMAL`.
const MAX_PRECISION: u8 = 38;
/// Decimals of so many digits, 2^63 of them, add up to an `i128`, and to at most 38 digits.
const NARROW_PRECISION: u8 = 19;
/// The digits after the point that `AVG` of a `DECIMAL` has at least.
const AVERAGE_SCALE: i8 = 6;

/// `SUM`.
pub(super) fn sum() -> Arc<AggregateUDF> {
    Arc::new(Summation::new(Outcome::Sum).into())
}

/// `AVG`.
pub(super) fn avg() -> Arc<AggregateUDF> {
    Arc::new(Summation::new(Outcome::Average).into())
}

/// What is made of a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Outcome {
    Sum,
    Average,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Average => "avg",
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Summation {
    outcome: Outcome,
    signature: Signature,
}

impl Summation {
    fn new(outcome: Outcome) -> Self {
        Self { outcome, signature: Signature::user_defined(Volatility::Immutable) }
    }

    fn groups(&self, args: &AccumulatorArgs<'_>) -> Result<Box<dyn Grouped>> {
        let argument = single_argument(self.name(), args.expr_fields)?;
        let call =
            Call { outcome: self.outcome, distinct: args.is_distinct, argument: argument.name().as_str().into() };
        let sums = self.sums(argument.data_type(), call)?;
        if args.is_distinct {
            return Ok(Box::new(DistinctGroups::of(self.outcome.name(), argument, sums)?));
        }
        Ok(sums)
    }

    fn sums(&self, argument: &DataType, call: Call) -> Result<Box<dyn Grouped>> {
        Ok(match argument {
            DataType::Int8 => Box::new(SumGroups::new(Integers::<Int8Type>::new(call))),
            DataType::Int16 => Box::new(SumGroups::new(Integers::<Int16Type>::new(call))),
            DataType::Int32 => Box::new(SumGroups::new(Integers::<Int32Type>::new(call))),
            DataType::Int64 => Box::new(SumGroups::new(Integers::<Int64Type>::new(call))),
            DataType::Float32 => Box::new(SumGroups::new(Floats::<Float32Type>::new(&call))),
            DataType::Float64 => Box::new(SumGroups::new(Floats::<Float64Type>::new(&call))),
            DataType::Decimal128(precision, scale) if *precision <= NARROW_PRECISION => {
                Box::new(SumGroups::new(Decimals::<i128>::new(call, *scale)))
            }
            DataType::Decimal128(_, scale) => Box::new(SumGroups::new(Decimals::<i256>::new(call, *scale))),
            other => {
                return plan_err!("{} takes a number, not a {}", self.name().to_uppercase(), flink_type_name(other));
            }
        })
    }
}

impl AggregateUDFImpl for Summation {
    fn name(&self) -> &str {
        self.outcome.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let argument = single_argument(self.name(), types)?;
        Ok(vec![match argument {
            DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
                DataType::Decimal128(*precision, *scale)
            }
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => argument.clone(),
            DataType::Float32 | DataType::Float64 | DataType::Decimal128(..) => argument.clone(),
            other => {
                let name = self.name().to_uppercase();
                return plan_err!("{name} takes a number, not a {}; CAST it to a number first", flink_type_name(other));
            }
        }])
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match (single_argument(self.name(), types)?, self.outcome) {
            (DataType::Decimal128(_, scale), Outcome::Sum) => DataType::Decimal128(MAX_PRECISION, *scale),
            (DataType::Decimal128(_, scale), Outcome::Average) => {
                DataType::Decimal128(MAX_PRECISION, (*scale).max(AVERAGE_SCALE))
            }
            (same, _) => same.clone(),
        })
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let argument = single_argument(self.name(), args.input_fields)?;
        if args.is_distinct {
            return Ok(distinct::state_fields(&args));
        }
        let total = match argument.data_type() {
            DataType::Float32 | DataType::Float64 => ExactSum::state_type(0),
            DataType::Decimal128(precision, scale) if *precision > NARROW_PRECISION => i256::state_type(*scale),
            DataType::Decimal128(_, scale) => i128::state_type(*scale),
            _ => i128::state_type(0),
        };
        Ok(vec![
            Arc::new(Field::new(format_state_name(args.name, "total"), total, false)),
            Arc::new(Field::new(format_state_name(args.name, "count"), DataType::Int64, false)),
        ])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(OneGroup::new(self.groups(&args)?)))
    }

    fn groups_accumulator_supported(&self, _args: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Vectorized(self.groups(&args)?)))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}
