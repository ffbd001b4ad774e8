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

    /// The answers for a column of times.
    pub(super) fn of_times(self, zone: TimeZone, times: &ArrayRef) -> Result<ArrayRef> {
        let DataType::Timestamp(unit, _) = times.data_type() else {
            return internal_err!("{} of {}", self.name(), times.data_type());
        };
        let to = self.result(*unit);
        let answers: ArrayRef = match unit {
            TimeUnit::Second => return internal_err!("no type of Flink's counts seconds"),
            TimeUnit::Millisecond => Arc::new(self.convert::<TimestampMillisecondType>(zone, times, 1, &to)),
            TimeUnit::Microsecond => Arc::new(self.convert::<TimestampMicrosecondType>(zone, times, 1_000, &to)),
            TimeUnit::Nanosecond => Arc::new(self.convert::<TimestampNanosecondType>(zone, times, 1_000_000, &to)),
        };
        Ok(answers)
    }

    /// Milliseconds are what the zone counts in; what is finer stays as it is.
    fn convert<T>(self, zone: TimeZone, times: &dyn Array, per_ms: i64, to: &DataType) -> PrimitiveArray<T>
    where
        T: ArrowPrimitiveType<Native = i64>,
    {
        let converted = |ms: i64| match self {
            Self::Local => zone.local_ms(ms),
            Self::Instant => zone.instant_ms(ms),
            Self::LastInstant => zone.passed_ms(ms) - 1,
        };
        let convert = |value: i64| {
            let (ms, finer) = (value.div_euclid(per_ms), value.rem_euclid(per_ms));
            converted(ms).checked_mul(per_ms)?.checked_add(finer)
        };
        times.as_primitive::<T>().unary_opt::<_, T>(convert).with_data_type(to.clone())
    }

    /// The type of what is asked of times of a unit.
    fn result(self, unit: TimeUnit) -> DataType {
        let zone = match self {
            Self::Local => None,
            Self::Instant | Self::LastInstant => Some(LTZ_ZONE.into()),
        };
        DataType::Timestamp(unit, zone)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Local => "to_local_time",
            Self::Instant => "to_instant",
            Self::LastInstant => "last_instant",
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ClockFunction {
    clock: Clock,
    zone: TimeZone,
    signature: Signature,
}

impl ScalarUDFImpl for ClockFunction {
    fn name(&self) -> &str {
        self.clock.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        let [DataType::Timestamp(unit, _)] = arg_types else {
            return internal_err!("{} of {arg_types:?}", self.name());
        };
        Ok(self.clock.result(*unit))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [times] = arrays.as_slice() else { return internal_err!("{} of {} values", self.name(), arrays.len()) };
        self.clock.of_times(self.zone, times).map(ColumnarValue::Array)
    }
}
