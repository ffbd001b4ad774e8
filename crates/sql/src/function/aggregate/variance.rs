//! `VAR_POP`, `VAR_SAMP` (`VARIANCE`), `STDDEV_POP` and `STDDEV_SAMP` (`STDDEV`).
//!
//! The state is the exact sum of the values, the exact sum of their squares, and their count: so no order of rows and
//! no tree of merges shows in the result, and a row can be taken back. The squared distances from the mean are computed
//! from these sums with no more than the rounding of a few operations, also where the values lie far from zero.
//!
//! The type is that of `AVG`, as in Flink: integers stay integers (truncated toward zero, once), a `DECIMAL(p, s)`
//! becomes `DECIMAL(38, max(s, 6))` (computed as `DOUBLE`, rounded half up). A sample of one value has no variance:
//! NULL.

mod exact;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::{
    array::{ArrayRef, AsArray, BinaryArray, Float64Array, Int64Array},
    compute::cast,
    datatypes::{DataType, Decimal128Type, Field, FieldRef, Float64Type, Int64Type},
};
use datafusion::{
    common::{DataFusionError, Result, exec_datafusion_err, plan_err},
    logical_expr::{
        Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
        function::{AccumulatorArgs, StateFieldsArgs},
        utils::{AggregateOrderSensitivity, format_state_name},
    },
};
use tidemill_core::Error;

use super::{
    distinct::{self, DistinctGroups},
    exact_sum::ExactSum,
    expect_array, flink_type_name,
    grouped::{Grouped, OneGroup, Rows, Vectorized},
    single_argument,
};
use exact::{Moments, parts_of_decimal, parts_of_integer};

/// The digits after the point that the result for a `DECIMAL` has at least, as that of `AVG`.
const LEAST_SCALE: i8 = 6;
const MAX_PRECISION: u8 = 38;

/// The four functions, two of them under a second name.
pub(super) fn variances() -> Vec<Arc<AggregateUDF>> {
    let all = [
        ("var_pop", &[][..], Outcome { sample: false, root: false }),
        ("var_samp", &["variance"], Outcome { sample: true, root: false }),
        ("stddev_pop", &[], Outcome { sample: false, root: true }),
        ("stddev_samp", &["stddev"], Outcome { sample: true, root: true }),
    ];
    let function = |(name, aliases, outcome): (&'static str, &[&str], Outcome)| {
        let aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
        let signature = Signature::user_defined(Volatility::Immutable);
        Arc::new(AggregateUDF::from(Variance { name, aliases, outcome, signature }))
    };
    all.into_iter().map(function).collect()
}

/// What is made of the squared distances from the mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Outcome {
    /// Divided by one less than the count.
    sample: bool,
    root: bool,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Variance {
    name: &'static str,
    aliases: Vec<String>,
    outcome: Outcome,
    signature: Signature,
}

impl Variance {
    fn groups(&self, args: &AccumulatorArgs<'_>) -> Result<Box<dyn Grouped>> {
        let argument = single_argument(self.name, args.expr_fields)?;
        let groups = VarianceGroups {
            outcome: self.outcome,
            call: format!("{}({})", self.name.to_uppercase(), argument.name()).into(),
            argument: argument.data_type().clone(),
            result: args.return_field.data_type().clone(),
            slots: Vec::new(),
            heap_bytes: 0,
        };
        if args.is_distinct {
            return Ok(Box::new(DistinctGroups::of(self.name, argument, Box::new(groups))?));
        }
        Ok(Box::new(groups))
    }
}

impl AggregateUDFImpl for Variance {
    fn name(&self) -> &str {
        self.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let argument = single_argument(self.name, types)?;
        match argument {
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {}
            DataType::Float32 | DataType::Float64 | DataType::Decimal128(..) => {}
            other => {
                let name = self.name.to_uppercase();
                return plan_err!("{name} takes a number, not a {}; CAST it to a number first", flink_type_name(other));
            }
        }
        Ok(vec![argument.clone()])
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match single_argument(self.name, types)? {
            DataType::Decimal128(_, scale) => DataType::Decimal128(MAX_PRECISION, (*scale).max(LEAST_SCALE)),
            same => same.clone(),
        })
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if args.is_distinct {
            return Ok(distinct::state_fields(&args));
        }
        let field = |part: &str, data_type: DataType| {
            Arc::new(Field::new(format_state_name(args.name, part), data_type, false))
        };
        Ok(vec![field("sum", DataType::Binary), field("squares", DataType::Binary), field("count", DataType::Int64)])
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

struct VarianceGroups {
    outcome: Outcome,
    /// As messages name it.
    call: Arc<str>,
    argument: DataType,
    result: DataType,
    slots: Vec<Moments>,
    heap_bytes: usize,
}

impl VarianceGroups {
    /// Adds the values, or takes them back.
    fn count(&mut self, rows: &Rows<'_>, back: bool) -> Result<()> {
        let (slots, mut allocated) = (&mut self.slots[..], 0);
        let column = &rows.values[0];
        match &self.argument {
            DataType::Float32 | DataType::Float64 => {
                let column = cast(column, &DataType::Float64)?;
                let values = column.as_primitive::<Float64Type>().values();
                rows.for_each(|row, group| allocated += slots[group].count(&[values[row]], back));
            }
            DataType::Decimal128(..) => {
                let values = expect_array(column.as_primitive_opt::<Decimal128Type>())?.values();
                rows.for_each(|row, group| allocated += slots[group].count(&parts_of_decimal(values[row]), back));
            }
            _ => {
                let column = cast(column, &DataType::Int64)?;
                let values = column.as_primitive::<Int64Type>().values();
                rows.for_each(|row, group| allocated += slots[group].count(&parts_of_integer(values[row]), back));
            }
        }
        self.heap_bytes += allocated;
        Ok(())
    }

    /// The result before it gets its type.
    fn value(&self, slot: &Moments) -> Option<f64> {
        let scale = match self.argument {
            DataType::Decimal128(_, scale) => 10_f64.powi(-i32::from(scale)),
            _ => 1.0,
        };
        let variance = slot.variance(self.outcome.sample)?;
        Some(if self.outcome.root { variance.sqrt() * scale } else { variance * scale * scale })
    }

    fn out_of_range(&self, value: f64) -> DataFusionError {
        let result = flink_type_name(&self.result);
        let message = format!("{} is {value}, beyond the range of its type {result}", self.call);
        DataFusionError::External(Box::new(Error::data(message).hint("CAST the argument to DOUBLE")))
    }
}

impl Grouped for VarianceGroups {
    fn fresh(&self) -> Box<dyn Grouped> {
        Box::new(Self {
            outcome: self.outcome,
            call: Arc::clone(&self.call),
            argument: self.argument.clone(),
            result: self.result.clone(),
            slots: Vec::new(),
            heap_bytes: 0,
        })
    }

    fn resize(&mut self, groups: usize) {
        if groups > self.slots.len() {
            self.slots.resize_with(groups, Moments::default);
        }
    }

    fn update(&mut self, rows: &Rows<'_>) -> Result<()> {
        self.count(rows, false)
    }

    fn retract(&mut self, rows: &Rows<'_>) -> Result<()> {
        self.count(rows, true)
    }

    fn retractable(&self) -> bool {
        true
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        let [sums, squares, counts] = states else {
            return Err(exec_datafusion_err!("a state of a variance has {} columns", states.len()));
        };
        let sums = expect_array(sums.as_binary_opt::<i32>())?;
        let squares = expect_array(squares.as_binary_opt::<i32>())?;
        let counts = expect_array(counts.as_primitive_opt::<Int64Type>())?;
        for (row, &group) in groups.iter().enumerate() {
            let merged = self.slots[group].merge(sums.value(row), squares.value(row), counts.value(row));
            let damaged = |e: super::exact_sum::Malformed| Error::data(e.to_string());
            self.heap_bytes += merged.map_err(|e| DataFusionError::External(Box::new(damaged(e))))?;
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.slots.len()
    }

    fn results(&self, n: usize) -> Result<ArrayRef> {
        let values = self.slots[..n].iter().map(|slot| self.value(slot));
        Ok(match &self.result {
            DataType::Decimal128(precision, scale) => {
                let unit = 10_f64.powi(i32::from(*scale));
                let whole = |value: f64| {
                    let units = (value * unit).round();
                    // Also refuses NaN.
                    if units < 1e38 { Ok(units as i128) } else { Err(self.out_of_range(value)) }
                };
                let values = values.map(|value| value.map(whole).transpose()).collect::<Result<Vec<_>>>()?;
                let column = arrow::array::Decimal128Array::from(values);
                Arc::new(column.with_precision_and_scale(*precision, *scale)?)
            }
            DataType::Float32 | DataType::Float64 => cast(&values.collect::<Float64Array>(), &self.result)?,
            integer => {
                let limit = match integer {
                    DataType::Int8 => f64::from(i8::MAX),
                    DataType::Int16 => f64::from(i16::MAX),
                    DataType::Int32 => f64::from(i32::MAX),
                    _ => 9.2e18,
                };
                let whole = |value: f64| {
                    if value.trunc() <= limit { Ok(value.trunc() as i64) } else { Err(self.out_of_range(value)) }
                };
                let values = values.map(|value| value.map(whole).transpose()).collect::<Result<Int64Array>>()?;
                cast(&values, integer)?
            }
        })
    }

    fn states(&mut self, n: usize) -> Result<Vec<ArrayRef>> {
        let slots = &self.slots[..n];
        let written = |part: fn(&Moments) -> &ExactSum| -> ArrayRef {
            let bytes = slots.iter().map(|slot| {
                let mut bytes = Vec::new();
                part(slot).write(&mut bytes);
                bytes
            });
            Arc::new(BinaryArray::from_iter_values(bytes))
        };
        let counts = Int64Array::from_iter_values(slots.iter().map(|slot| slot.count));
        Ok(vec![written(|slot| &slot.sum), written(|slot| &slot.squares), Arc::new(counts)])
    }

    fn drop_first(&mut self, n: usize) -> Result<()> {
        self.heap_bytes -= self.slots[..n].iter().map(Moments::heap_bytes).sum::<usize>();
        self.slots.drain(..n);
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.slots.capacity() * size_of::<Moments>() + self.heap_bytes
    }
}
