//! The functions that keep values: `FIRST_VALUE`, `LAST_VALUE`, `LISTAGG`, `ARRAY_AGG`, `COLLECT` and `PERCENTILE`.
//!
//! Where their answer depends on the order of the rows, that is the order of the log: event time, partition, offset. The
//! planner hands it in as further arguments, the *keys* (see `plan/row_order.rs`), and they are part of the state: so
//! partial states merge in any order. Rows that are equal in their keys are told apart by the value.
//!
//! | function | NULL | result |
//! |---|---|---|
//! | `FIRST_VALUE(x)`, `LAST_VALUE(x)` | skipped | the value, or NULL |
//! | `LISTAGG(x [, separator])` | skipped | `STRING`, NULL of no values; the separator is `,` by itself |
//! | `ARRAY_AGG(x)` | kept, unless `IGNORE NULLS` | `ARRAY`, NULL of no rows |
//! | `COLLECT(x)` | skipped | the counts by value: `MAP<x, INT>` where Flink has `MULTISET<x>` |
//! | `PERCENTILE(x, p [, frequency])` | skipped | `DOUBLE`, exact, between two values by linear interpolation |

mod entries;
mod extreme;
mod finish;
mod multiset;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::{
    array::{ArrayRef, RecordBatch, RecordBatchOptions},
    datatypes::{DataType, Field, FieldRef, Schema},
};
use datafusion::{
    common::{Result, ScalarValue, exec_err, plan_err},
    logical_expr::{
        Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, GroupsAccumulator, ReversedUDAF, Signature,
        Volatility,
        function::{AccumulatorArgs, StateFieldsArgs},
        utils::{AggregateOrderSensitivity, format_state_name},
    },
    physical_expr::PhysicalExpr,
};

use super::{
    flink_type_name,
    grouped::{Grouped, OneGroup, Vectorized},
};
use crate::types::map_type;
use entries::Encoder;
use extreme::{End, Extreme};
use finish::Finish;
use multiset::{Frequency, Multiset};

/// Every function of this kind.
pub(super) fn ordered() -> Vec<Arc<AggregateUDF>> {
    let kinds = [Kind::FirstValue, Kind::LastValue, Kind::ListAgg, Kind::ArrayAgg, Kind::Collect, Kind::Percentile];
    kinds.into_iter().map(|kind| Arc::new(AggregateUDF::from(Ordered::new(kind, 0)))).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    FirstValue,
    LastValue,
    ListAgg,
    ArrayAgg,
    Collect,
    Percentile,
}

/// A function that keeps values.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ordered {
    kind: Kind,
    /// How many of the last arguments are the row's place in the log.
    keys: usize,
    signature: Signature,
}

impl Ordered {
    fn new(kind: Kind, keys: usize) -> Self {
        Self { kind, keys, signature: Signature::user_defined(Volatility::Immutable) }
    }

    /// Whether the order of the rows shows in the result, and it does not have it yet.
    pub(crate) fn needs_order(&self) -> bool {
        self.keys == 0 && !matches!(self.kind, Kind::Collect | Kind::Percentile)
    }

    /// Whether one row decides, so that rows without an order give no answer.
    pub(crate) fn picks_a_row(&self) -> bool {
        matches!(self.kind, Kind::FirstValue | Kind::LastValue)
    }

    /// The same function with so many keys behind its arguments.
    pub(crate) fn with_keys(&self, keys: usize) -> AggregateUDF {
        Self::new(self.kind, keys).into()
    }

    /// The arguments that must be the same for all rows.
    pub(crate) fn constants(&self) -> std::ops::Range<usize> {
        match self.kind {
            Kind::ListAgg | Kind::Percentile => 1..2,
            _ => 0..0,
        }
    }

    /// Checks a literal among [`Ordered::constants`], of whichever type it was written in.
    pub(crate) fn check_constant(&self, literal: &ScalarValue) -> Result<()> {
        match self.kind {
            Kind::Percentile => share(&literal.cast_to(&DataType::Float64)?).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// The keys and the value: what is kept of a row.
    fn kept<'a, T>(&self, arguments: &'a [T]) -> Result<(&'a [T], &'a T)> {
        let keys = arguments.len().checked_sub(self.keys);
        match keys.map(|at| arguments.split_at(at)) {
            Some(([value, ..], keys)) => Ok((keys, value)),
            _ => plan_err!("{} takes an argument", self.name().to_uppercase()),
        }
    }

    fn groups(&self, args: &AccumulatorArgs<'_>) -> Result<Box<dyn Grouped>> {
        let (keys, value) = self.kept(args.expr_fields)?;
        let keys: Vec<DataType> = keys.iter().map(|key| key.data_type().clone()).collect();
        let encoder = Encoder::new(&keys, value.data_type())?;
        let plain = args.exprs.len() - self.keys;
        let finish = match self.kind {
            Kind::FirstValue => return Ok(Box::new(Extreme::new(End::First, encoder))),
            Kind::LastValue => return Ok(Box::new(Extreme::new(End::Last, encoder))),
            Kind::ListAgg if plain > 1 => Finish::Text(separator(&args.exprs[1])?),
            Kind::ListAgg => Finish::Text(Some(",".into())),
            Kind::ArrayAgg => Finish::List,
            Kind::Collect => Finish::Counts,
            Kind::Percentile => Finish::Percentile(share(&constant(&args.exprs[1])?)?),
        };
        let frequency = match self.kind {
            Kind::Percentile if plain > 2 => Frequency::Argument(2),
            _ => Frequency::One,
        };
        let nulls = self.kind == Kind::ArrayAgg && !args.ignore_nulls;
        Ok(Box::new(Multiset::new(encoder, finish, frequency, nulls, args.is_distinct)))
    }
}

impl AggregateUDFImpl for Ordered {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::FirstValue => "first_value",
            Kind::LastValue => "last_value",
            Kind::ListAgg => "listagg",
            Kind::ArrayAgg => "array_agg",
            Kind::Collect => "collect",
            Kind::Percentile => "percentile",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let (arguments, keys) = types.split_at(types.len().saturating_sub(self.keys));
        let mut coerced = match (self.kind, arguments) {
            (Kind::ListAgg, [text] | [text, _]) if !text.is_string() => {
                return plan_err!("LISTAGG takes a STRING, not a {}; CAST it to STRING first", flink_type_name(text));
            }
            (Kind::ListAgg, [_, separator]) if !separator.is_string() => {
                return plan_err!("the separator of LISTAGG is a STRING, not a {}", flink_type_name(separator));
            }
            (Kind::ListAgg, [_] | [_, _]) => vec![DataType::Utf8View; arguments.len()],
            (Kind::ListAgg, _) => return plan_err!("LISTAGG takes a value and a separator"),
            (Kind::Percentile, [_, _] | [_, _, _]) => percentile_types(arguments)?,
            (Kind::Percentile, _) => return plan_err!("PERCENTILE takes a value, a percentage and a frequency"),
            (_, [value]) => vec![value.clone()],
            (_, other) => {
                return plan_err!("{} takes one argument, not {}", self.name().to_uppercase(), other.len());
            }
        };
        if let Some(value) = coerced.first().filter(|value| !Encoder::supports(value)) {
            return plan_err!("{} does not take a {}", self.name().to_uppercase(), flink_type_name(value));
        }
        coerced.extend_from_slice(keys);
        Ok(coerced)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let (_, value) = self.kept(types)?;
        Ok(match self.kind {
            Kind::FirstValue | Kind::LastValue => value.clone(),
            Kind::ListAgg => DataType::Utf8View,
            Kind::ArrayAgg => DataType::List(Arc::new(Field::new("item", value.clone(), true))),
            Kind::Collect => map_type(value.clone(), DataType::Int32),
            Kind::Percentile => DataType::Float64,
        })
    }

    fn is_nullable(&self) -> bool {
        self.kind != Kind::Collect
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.kind == Kind::ArrayAgg
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let (keys, value) = self.kept(args.input_fields)?;
        let columns = keys.iter().chain([value]).enumerate().map(|(i, field)| {
            let data_type = match self.picks_a_row() {
                true => field.data_type().clone(),
                false => DataType::LargeList(multiset::item(field.data_type().clone())),
            };
            Field::new(format_state_name(args.name, &format!("kept{i}")), data_type, true)
        });
        let counts = DataType::LargeList(multiset::item(DataType::Int64));
        let counts = Field::new(format_state_name(args.name, "counts"), counts, true);
        Ok(columns.chain((!self.picks_a_row()).then_some(counts)).map(Arc::new).collect())
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
        ReversedUDAF::NotSupported
    }
}

fn percentile_types(arguments: &[DataType]) -> Result<Vec<DataType>> {
    let number = |data_type: &DataType| data_type.is_numeric() || *data_type == DataType::Null;
    if !number(&arguments[0]) {
        return plan_err!("PERCENTILE takes a number, not a {}", flink_type_name(&arguments[0]));
    }
    if !number(&arguments[1]) {
        return plan_err!(
            "the percentage of PERCENTILE is a number between 0 and 1, not a {}; write a call for each percentage",
            flink_type_name(&arguments[1])
        );
    }
    let mut types = vec![DataType::Float64, DataType::Float64];
    match arguments.get(2) {
        Some(frequency) if !frequency.is_integer() => {
            plan_err!("the frequency of PERCENTILE is an integer, not a {}", flink_type_name(frequency))
        }
        Some(_) => {
            types.push(DataType::Int64);
            Ok(types)
        }
        None => Ok(types),
    }
}

/// The value of an argument that is the same for all rows.
fn constant(expr: &Arc<dyn PhysicalExpr>) -> Result<ScalarValue> {
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options)?;
    match expr.evaluate(&row)? {
        ColumnarValue::Scalar(value) => Ok(value),
        ColumnarValue::Array(values) => ScalarValue::try_from_array(&values, 0),
    }
}

/// `None` is NULL: then so is the result.
fn separator(expr: &Arc<dyn PhysicalExpr>) -> Result<Option<Arc<str>>> {
    match constant(expr)?.try_as_str() {
        Some(text) => Ok(text.map(Into::into)),
        None => exec_err!("the separator of LISTAGG is no text"),
    }
}

/// The share of the rows that a percentage is.
fn share(percentage: &ScalarValue) -> Result<f64> {
    match percentage {
        ScalarValue::Float64(Some(share)) if (0.0..=1.0).contains(share) => Ok(*share),
        other => plan_err!("the percentage of PERCENTILE is between 0 and 1, not {other}"),
    }
}

/// The columns that are kept of the rows: the keys, then the value.
fn kept_columns(arguments: &[ArrayRef], keys: usize) -> Vec<ArrayRef> {
    let value = super::distinct::unambiguous(&arguments[0]);
    arguments[arguments.len() - keys..].iter().cloned().chain([value]).collect()
}
