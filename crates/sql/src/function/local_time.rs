//! Between `TIMESTAMP_LTZ`, an instant, and `TIMESTAMP`, what a clock in the session's time zone shows.
//!
//! A file can't call these functions: the planner puts them where a cast crosses from one to the other.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use tidemill_runtime::time_zone::TimeZone;

use crate::types::LTZ_ZONE;

/// What is asked of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Clock {
    /// Of an instant: what clocks show.
    Local,
    /// Of a local time: the instant at which clocks show it, as [`TimeZone::instant_ms`] has it.
    Instant,
    /// Of a window's end: the last instant that is in the window.
    LastInstant,
}

impl Clock {
    /// The call for an expression of the type TIMESTAMP, or TIMESTAMP_LTZ for [`Clock::Local`].
    pub(crate) fn call(self, zone: TimeZone, expr: Expr) -> Expr {
        let signature = Signature::any(1, Volatility::Immutable);
        ScalarUDF::from(ClockFunction { clock: self, zone, signature }).call(vec![expr])
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ClockFunction {
    clock: Clock,
    zone: TimeZone,
    signature: Signature,
}

impl ClockFunction {
    /// Milliseconds are what the zone counts in; what is finer stays as it is.
    fn convert<T>(&self, times: &dyn Array, per_ms: i64, to: &DataType) -> PrimitiveArray<T>
    where
        T: ArrowPrimitiveType<Native = i64>,
    {
        let converted = |ms: i64| match self.clock {
            Clock::Local => self.zone.local_ms(ms),
            Clock::Instant => self.zone.instant_ms(ms),
            Clock::LastInstant => self.zone.passed_ms(ms) - 1,
        };
        let convert = |value: i64| {
            let (ms, finer) = (value.div_euclid(per_ms), value.rem_euclid(per_ms));
            converted(ms).checked_mul(per_ms)?.checked_add(finer)
        };
        times.as_primitive::<T>().unary_opt::<_, T>(convert).with_data_type(to.clone())
    }
}

impl ScalarUDFImpl for ClockFunction {
    fn name(&self) -> &str {
        match self.clock {
            Clock::Local => "to_local_time",
            Clock::Instant => "to_instant",
            Clock::LastInstant => "last_instant",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        let [DataType::Timestamp(unit, _)] = arg_types else {
            return internal_err!("{} of {arg_types:?}", self.name());
        };
        let zone = match self.clock {
            Clock::Local => None,
            Clock::Instant | Clock::LastInstant => Some(LTZ_ZONE.into()),
        };
        Ok(DataType::Timestamp(*unit, zone))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [times] = arrays.as_slice() else { return internal_err!("{} of {} values", self.name(), arrays.len()) };
        let DataType::Timestamp(unit, _) = times.data_type() else {
            return internal_err!("{} of {}", self.name(), times.data_type());
        };
        let to = args.return_field.data_type();
        let converted: ArrayRef = match unit {
            TimeUnit::Second => return internal_err!("no type of Flink's counts seconds"),
            TimeUnit::Millisecond => Arc::new(self.convert::<TimestampMillisecondType>(&times, 1, to)),
            TimeUnit::Microsecond => Arc::new(self.convert::<TimestampMicrosecondType>(&times, 1_000, to)),
            TimeUnit::Nanosecond => Arc::new(self.convert::<TimestampNanosecondType>(&times, 1_000_000, to)),
        };
        Ok(ColumnarValue::Array(converted))
    }
}
