//! `MIN` and `MAX`: DataFusion's own, except for floats and booleans.
//!
//! * **Floats**: DataFusion's vectorized form lets NaN come and go with the order of the rows, and so does Flink's.
//!   Here NaN is above every number, as where Flink sorts: `MAX` is NaN if there is one, `MIN` only if there is nothing
//!   else. `-0.0` and `0.0` are one value, shown as `0.0`.
//! * **Booleans** (`FALSE < TRUE`) have no vectorized form in DataFusion.
//! * **Strings** are compared by the bytes of their UTF-8, as in Flink.
//! * Binary strings, rows, arrays and maps are refused, as in Flink.

mod counted;
mod extremes;

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::{
    common::{Result, plan_err},
    functions_aggregate::min_max::{max_udaf, min_udaf},
    logical_expr::{
        Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
        function::{AccumulatorArgs, StateFieldsArgs},
        utils::AggregateOrderSensitivity,
    },
};

use super::{
    flink_type_name,
    grouped::{OneGroup, Vectorized},
    single_argument,
};
use counted::CountedExtreme;
use extremes::Extremes;

/// `MIN`.
pub(super) fn min() -> Arc<AggregateUDF> {
    Arc::new(MinMax::new(End::Min, min_udaf()).into())
}

/// `MAX`.
pub(super) fn max() -> Arc<AggregateUDF> {
    Arc::new(MinMax::new(End::Max, max_udaf()).into())
}

/// Which end of the order is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum End {
    Min,
    Max,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct MinMax {
    end: End,
    /// DataFusion's function, which does the types that it does right.
    inner: Arc<AggregateUDF>,
    signature: Signature,
}

impl MinMax {
    fn new(end: End, inner: Arc<AggregateUDF>) -> Self {
        Self { end, inner, signature: Signature::user_defined(Volatility::Immutable) }
    }

    /// Our own form, for the types that need it.
    fn extremes(&self, data_type: &DataType) -> Option<Extremes> {
        matches!(data_type, DataType::Float32 | DataType::Float64 | DataType::Boolean)
            .then(|| Extremes::new(self.end, data_type.clone()))
    }
}

impl AggregateUDFImpl for MinMax {
    fn name(&self) -> &str {
        match self.end {
            End::Min => "min",
            End::Max => "max",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let argument = single_argument(self.name(), types)?;
        let value = match argument {
            DataType::Dictionary(_, value) => value,
            plain => plain,
        };
        let comparable = value.is_integer()
            || value.is_floating()
            || value.is_decimal()
            || value.is_temporal()
            || value.is_string()
            || *value == DataType::Boolean;
        if !comparable {
            let name = self.name().to_uppercase();
            return plan_err!("{name} takes a number, a STRING, a time or a BOOLEAN, not a {}", flink_type_name(value));
        }
        Ok(vec![value.clone()])
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        single_argument(self.name(), types).cloned()
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(args)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match self.extremes(args.return_field.data_type()) {
            Some(ours) => Ok(Box::new(OneGroup::new(Box::new(ours)))),
            None => self.inner.accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        // DataFusion's takes back what came first, whatever its value: that holds in an OVER alone.
        Ok(Box::new(CountedExtreme::new(self.end, args.return_field.data_type())?))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.extremes(args.return_field.data_type()).is_some() || self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        match self.extremes(args.return_field.data_type()) {
            Some(ours) => Ok(Box::new(Vectorized(Box::new(ours)))),
            None => self.inner.create_groups_accumulator(args),
        }
    }

    fn is_descending(&self) -> Option<bool> {
        Some(self.end == End::Max)
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}
