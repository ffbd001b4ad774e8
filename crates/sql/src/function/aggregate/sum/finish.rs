//! From totals to results: check the range, or round.

use std::{fmt, marker::PhantomData, sync::Arc};

use arrow::{
    array::{ArrayRef, Decimal128Array, PrimitiveArray},
    datatypes::{
        ArrowPrimitiveType, DECIMAL256_MAX_PRECISION, DataType, Decimal128Type, Decimal256Type, DecimalType, i256,
    },
};
use datafusion::common::{DataFusionError, Result};
use tidemill_core::Error;

use super::{
    AVERAGE_SCALE, MAX_PRECISION, Outcome, average,
    groups::{Slot, SumKind},
    total::{Term, Total},
};
use crate::function::aggregate::{
    exact_sum::{ExactSum, Float},
    flink_type_name,
};

/// The function as it was called.
pub(super) struct Call {
    pub outcome: Outcome,
    pub distinct: bool,
    /// The argument as the plan shows it.
    pub argument: Arc<str>,
}

impl Call {
    fn overflow(&self, result: &DataType, value: impl fmt::Display) -> DataFusionError {
        let name = self.outcome.name().to_uppercase();
        let distinct = if self.distinct { "DISTINCT " } else { "" };
        let argument = &self.argument;
        let hint = match result {
            DataType::Int64 => format!("write {name}({distinct}CAST({argument} AS DECIMAL(38, 0)))"),
            DataType::Decimal128(_, scale) if *scale > self.least_scale() => {
                format!(
                    "write {name}({distinct}CAST({argument} AS DECIMAL(p, s))) with a smaller s, or CAST it to DOUBLE"
                )
            }
            DataType::Decimal128(..) => format!("write {name}({distinct}CAST({argument} AS DOUBLE))"),
            _ => format!("write {name}({distinct}CAST({argument} AS BIGINT)), or CAST it to DECIMAL(38, 0)"),
        };
        let message = format!(
            "{name}({distinct}{argument}) is {value}, beyond the range of its type {}",
            flink_type_name(result)
        );
        // It is the data that does not fit: the same statement may have run well yesterday.
        DataFusionError::External(Box::new(Error::data(message).hint(hint)))
    }

    /// The smallest scale that a result in decimals can have.
    fn least_scale(&self) -> i8 {
        match self.outcome {
            Outcome::Sum => 0,
            Outcome::Average => AVERAGE_SCALE,
        }
    }
}

/// Sums of integers.
pub(super) struct Integers<I> {
    call: Call,
    of: PhantomData<fn() -> I>,
}

impl<I> Integers<I> {
    pub(super) fn new(call: Call) -> Self {
        Self { call, of: PhantomData }
    }
}

impl<I> SumKind for Integers<I>
where
    I: ArrowPrimitiveType<Native: Term<i128> + TryFrom<i128>>,
{
    type Input = I;
    type Total = i128;

    fn scale(&self) -> i8 {
        0
    }

    fn finish(&self, slots: &[Slot<i128>]) -> Result<ArrayRef> {
        let result = |slot: &Slot<i128>| {
            let value = match self.call.outcome {
                Outcome::Sum => slot.total,
                Outcome::Average => slot.total.wrapping_div(i128::from(slot.count)),
            };
            I::Native::try_from(value).map_err(|_| self.call.overflow(&I::DATA_TYPE, value))
        };
        let column: PrimitiveArray<I> =
            slots.iter().map(|slot| (slot.count != 0).then(|| result(slot)).transpose()).collect::<Result<_>>()?;
        Ok(Arc::new(column))
    }
}

/// Sums of decimals.
pub(super) struct Decimals<T> {
    call: Call,
    scale: i8,
    of: PhantomData<fn() -> T>,
}

impl<T> Decimals<T> {
    pub(super) fn new(call: Call, scale: i8) -> Self {
        Self { call, scale, of: PhantomData }
    }

    fn result_scale(&self) -> i8 {
        match self.call.outcome {
            Outcome::Sum => self.scale,
            Outcome::Average => self.scale.max(AVERAGE_SCALE),
        }
    }

    fn overflow(&self, total: i256, count: i64) -> DataFusionError {
        let result = DataType::Decimal128(MAX_PRECISION, self.result_scale());
        let total = Decimal256Type::format_decimal(total, DECIMAL256_MAX_PRECISION, self.scale);
        match self.call.outcome {
            Outcome::Sum => self.call.overflow(&result, total),
            Outcome::Average => self.call.overflow(&result, format_args!("{total} / {count}")),
        }
    }
}

impl<T> SumKind for Decimals<T>
where
    T: Total + Copy + Into<i256>,
    i128: Term<T>,
{
    type Input = Decimal128Type;
    type Total = T;

    fn scale(&self) -> i8 {
        self.scale
    }

    fn finish(&self, slots: &[Slot<T>]) -> Result<ArrayRef> {
        let result = |slot: &Slot<T>| {
            let total = slot.total.into();
            let value = match self.call.outcome {
                Outcome::Sum => average::in_range(total),
                Outcome::Average => average::decimal(total, slot.count, (self.result_scale() - self.scale) as u32),
            };
            value.ok_or_else(|| self.overflow(total, slot.count))
        };
        let column: Decimal128Array =
            slots.iter().map(|slot| (slot.count != 0).then(|| result(slot)).transpose()).collect::<Result<_>>()?;
        Ok(Arc::new(column.with_precision_and_scale(MAX_PRECISION, self.result_scale())?))
    }
}

/// Sums of floats.
pub(super) struct Floats<I> {
    outcome: Outcome,
    of: PhantomData<fn() -> I>,
}

impl<I> Floats<I> {
    pub(super) fn new(call: &Call) -> Self {
        Self { outcome: call.outcome, of: PhantomData }
    }
}

impl<I> SumKind for Floats<I>
where
    I: ArrowPrimitiveType<Native: Term<ExactSum> + Float>,
{
    type Input = I;
    type Total = ExactSum;

    fn scale(&self) -> i8 {
        0
    }

    fn finish(&self, slots: &[Slot<ExactSum>]) -> Result<ArrayRef> {
        let result = |slot: &Slot<ExactSum>| match self.outcome {
            Outcome::Sum => (slot.count != 0).then(|| slot.total.value()),
            Outcome::Average => slot.total.mean(slot.count.unsigned_abs()),
        };
        let column: PrimitiveArray<I> = slots.iter().map(result).collect();
        Ok(Arc::new(column))
    }
}
