//! `COUNT(*)` and `COUNT(x)` are DataFusion's own, for they are Flink's: `BIGINT NOT NULL`, 0 for no rows.
//!
//! `COUNT(DISTINCT ...)` is ours: DataFusion's has a vectorized form for integers only, and takes one argument. So is
//! `COUNT(a, b)`, which counts the rows without NULL: DataFusion's has no vectorized form.

mod different;
mod present;

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::{
    common::{Result, ScalarValue},
    functions_aggregate::count::count_udaf,
    logical_expr::{
        Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, GroupsAccumulator, ReversedUDAF, SetMonotonicity,
        Signature, StatisticsArgs,
        function::{AccumulatorArgs, StateFieldsArgs},
        utils::AggregateOrderSensitivity,
    },
};

use super::{
    distinct::{self, DistinctGroups},
    grouped::{Grouped, OneGroup, Vectorized},
};
use different::DifferentValues;
use present::PresentRows;

pub(super) fn count() -> Arc<AggregateUDF> {
    Arc::new(Count { plain: count_udaf() }.into())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Count {
    /// DataFusion's function, which does all that has no DISTINCT.
    plain: Arc<AggregateUDF>,
}

impl Count {
    /// Our own form, where it is needed.
    fn groups(args: &AccumulatorArgs<'_>) -> Result<Option<Box<dyn Grouped>>> {
        Ok(match args.expr_fields {
            fields if args.is_distinct => Some(Box::new(DistinctGroups::count(fields)?)),
            [_, _, ..] => Some(Box::new(PresentRows::default())),
            _ => None,
        })
    }
}

impl AggregateUDFImpl for Count {
    fn name(&self) -> &str {
        self.plain.name()
    }

    fn signature(&self) -> &Signature {
        self.plain.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.plain.return_type(types)
    }

    fn is_nullable(&self) -> bool {
        self.plain.is_nullable()
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if args.is_distinct { Ok(distinct::state_fields(&args)) } else { self.plain.state_fields(args) }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match Self::groups(&args)? {
            Some(ours) => Ok(Box::new(OneGroup::new(ours))),
            None => self.plain.accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match args.expr_fields {
            [field] if args.is_distinct => Ok(Box::new(DifferentValues::new(field.data_type())?)),
            [_, _, ..] => self.accumulator(args),
            _ => self.plain.create_sliding_accumulator(args),
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        args.is_distinct || args.expr_fields.len() > 1 || self.plain.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        match Self::groups(&args)? {
            Some(ours) => Ok(Box::new(Vectorized(ours))),
            None => self.plain.create_groups_accumulator(args),
        }
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn value_from_stats(&self, args: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        // A file's own count of distinct values may know two zeros.
        if args.is_distinct { None } else { self.plain.value_from_stats(args) }
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.plain.default_value(data_type)
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.plain.inner().set_monotonicity(data_type)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.plain.documentation()
    }
}
