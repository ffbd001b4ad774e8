//! `CAST` and `TRY_CAST` where Flink's form of a value is not Arrow's: texts, and decimals of floats.
//!
//! The planner puts these calls where the text has the casts; all others stay Arrow's.

mod parse;
mod print;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, ListArray, MapArray, PrimitiveArray, StringViewArray,
    StructArray, new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, DecimalType, FieldRef, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow::util::display::FormatOptions;
use datafusion::common::{Result, internal_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use tidemill_core::Error;
use tidemill_runtime::time_zone::TimeZone;

use super::local_time::Clock;
use super::scalar::evaluated;
use crate::types::flink_type_name;
pub(super) use print::float;

/// The call for an expression; a value that can't be cast is an error, or NULL where the cast tries.
pub(crate) fn cast_call(expr: Expr, to: DataType, tries: bool) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let target = Target { tries, zone: TimeZone::UTC };
    ScalarUDF::from(CastFunction { target, to, signature }).call(vec![expr])
}

/// A cast of ours by the clocks of a zone; `None` where it goes by them already, and for other calls.
pub(crate) fn cast_in_zone(call: &ScalarFunction, zone: TimeZone) -> Option<Expr> {
    let function = call.func.inner().as_ref() as &dyn Any;
    let CastFunction { target, to, signature } = function.downcast_ref::<CastFunction>()?;
    if target.zone == zone {
        return None;
    }
    let target = Target { zone, ..*target };
    let cast = CastFunction { target, to: to.clone(), signature: signature.clone() };
    Some(ScalarUDF::from(cast).call(call.args.clone()))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct CastFunction {
    target: Target,
    to: DataType,
    signature: Signature,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Target {
    tries: bool,
    /// On whose clocks instants are told.
    zone: TimeZone,
}

impl Target {
    /// The values as another type, those within them too.
    fn converted(self, values: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
        match (values.data_type(), to) {
            (from, to) if from == to => Ok(Arc::clone(values)),
            (from, DataType::Timestamp(unit, Some(_))) if !is_instant(from) && !from.is_null() => {
                let local = self.converted(values, &DataType::Timestamp(*unit, None))?;
                Clock::Instant.of_times(self.zone, &local)
            }
            (from, to) if is_instant(from) && !is_instant(to) => {
                self.converted(&Clock::Local.of_times(self.zone, values)?, to)
            }
            (DataType::Utf8View, _) => self.parsed(values.as_string_view(), to),
            (DataType::Utf8 | DataType::LargeUtf8, _) => {
                let texts = cast_with_options(values, &DataType::Utf8View, &self.options())?;
                self.converted(&texts, to)
            }
            (DataType::Null, _) => Ok(new_null_array(to, values.len())),
            (from, DataType::Utf8View) => Ok(Arc::new(print::texts(&self.converted(values, &as_told(from))?)?)),
            (DataType::Float32, DataType::Decimal128(..)) => {
                let text = |value| format!("{value:e}");
                self.decimals(values.as_primitive::<Float32Type>().iter().map(|v| v.map(text)), to)
            }
            (DataType::Float64, DataType::Decimal128(..)) => {
                let text = |value| format!("{value:e}");
                self.decimals(values.as_primitive::<Float64Type>().iter().map(|v| v.map(text)), to)
            }
            (DataType::Timestamp(from, _), DataType::Timestamp(unit, _)) if from > unit => {
                let factor = per_second(*from) / per_second(*unit);
                let finer = cast_with_options(values, &DataType::Int64, &self.options())?;
                // Also before 1970, digits are cut off and not the time moved on.
                let coarser = finer.as_primitive::<Int64Type>().unary::<_, Int64Type>(|time| time.div_euclid(factor));
                Ok(cast_with_options(&coarser, to, &self.options())?)
            }
            (DataType::List(_), DataType::List(element)) => {
                let lists = values.as_list::<i32>();
                let elements = self.converted(lists.values(), element.data_type())?;
                let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
                Ok(Arc::new(ListArray::try_new(Arc::clone(element), offsets, elements, nulls)?))
            }
            (DataType::Struct(from), DataType::Struct(fields)) if from.len() == fields.len() => {
                let rows = values.as_struct();
                let columns =
                    rows.columns().iter().zip(fields).map(|(column, to)| self.converted(column, to.data_type()));
                let columns = columns.collect::<Result<_>>()?;
                Ok(Arc::new(StructArray::try_new(fields.clone(), columns, rows.nulls().cloned())?))
            }
            (DataType::Map(..), DataType::Map(entry, sorted)) => {
                let maps = values.as_map();
                let entries: ArrayRef = Arc::new(maps.entries().clone());
                let entries = self.converted(&entries, entry.data_type())?.as_struct().clone();
                let (offsets, nulls) = (maps.offsets().clone(), maps.nulls().cloned());
                Ok(Arc::new(MapArray::try_new(Arc::clone(entry), offsets, entries, nulls, *sorted)?))
            }
            _ => Ok(cast_with_options(values, to, &self.options())?),
        }
    }

    fn options(self) -> CastOptions<'static> {
        CastOptions { safe: self.tries, format_options: FormatOptions::default() }
    }

    fn parsed(self, texts: &StringViewArray, to: &DataType) -> Result<ArrayRef> {
        match to {
            DataType::Boolean => {
                let parsed = texts.iter().map(|text| self.parse(text, to, parse::boolean));
                Ok(Arc::new(parsed.collect::<Result<BooleanArray>>()?))
            }
            DataType::Int8 => self.primitives::<Int8Type>(texts, to, |t| i8::try_from(parse::integer(t)?).ok()),
            DataType::Int16 => self.primitives::<Int16Type>(texts, to, |t| i16::try_from(parse::integer(t)?).ok()),
            DataType::Int32 => self.primitives::<Int32Type>(texts, to, |t| i32::try_from(parse::integer(t)?).ok()),
            DataType::Int64 => self.primitives::<Int64Type>(texts, to, |t| i64::try_from(parse::integer(t)?).ok()),
            DataType::Float32 => self.primitives::<Float32Type>(texts, to, parse::float),
            DataType::Float64 => self.primitives::<Float64Type>(texts, to, parse::double),
            DataType::Decimal128(..) => self.decimals(texts.iter().map(|text| text.map(str::to_owned)), to),
            DataType::Date32 => self.primitives::<Date32Type>(texts, to, parse::date),
            DataType::Time32(TimeUnit::Millisecond) => self.primitives::<Time32MillisecondType>(texts, to, parse::time),
            DataType::Timestamp(TimeUnit::Millisecond, None) => {
                let ms = |t: &str| parse::timestamp(t).map(|time| time.and_utc().timestamp_millis());
                self.primitives::<TimestampMillisecondType>(texts, to, ms)
            }
            DataType::Timestamp(TimeUnit::Microsecond, None) => {
                let us = |t: &str| parse::timestamp(t).map(|time| time.and_utc().timestamp_micros());
                self.primitives::<TimestampMicrosecondType>(texts, to, us)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, None) => {
                let ns = |t: &str| parse::timestamp(t).and_then(|time| time.and_utc().timestamp_nanos_opt());
                self.primitives::<TimestampNanosecondType>(texts, to, ns)
            }
            DataType::BinaryView => {
                Ok(Arc::new(texts.iter().map(|text| text.map(str::as_bytes)).collect::<BinaryViewArray>()))
            }
            other => internal_err!("a text becomes {other}"),
        }
    }

    fn primitives<T: ArrowPrimitiveType>(
        self,
        texts: &StringViewArray,
        to: &DataType,
        read: impl Fn(&str) -> Option<T::Native>,
    ) -> Result<ArrayRef> {
        let parsed = texts.iter().map(|text| self.parse(text, to, &read));
        let values = parsed.collect::<Result<PrimitiveArray<T>>>()?;
        Ok(Arc::new(values.with_data_type(to.clone())))
    }

    fn decimals(self, texts: impl Iterator<Item = Option<String>>, to: &DataType) -> Result<ArrayRef> {
        let DataType::Decimal128(precision, scale) = *to else { return internal_err!("{to} is no decimal") };
        let read = |text: &str| {
            let value = parse::decimal(text, scale)?;
            Decimal128Type::is_valid_decimal_precision(value, precision).then_some(value)
        };
        let parsed = texts.map(|text| self.parse(text.as_deref(), to, read));
        let values = parsed.collect::<Result<PrimitiveArray<Decimal128Type>>>()?;
        Ok(Arc::new(values.with_precision_and_scale(precision, scale)?))
    }

    fn parse<T>(self, text: Option<&str>, to: &DataType, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        let Some(text) = text else { return Ok(None) };
        match read(text) {
            None if !self.tries => {
                let error = Error::data(format!("CAST: '{text}' is not a {}", flink_type_name(to)));
                Err(DataFusionError::External(Box::new(error.hint("TRY_CAST gives NULL for what can't be cast"))))
            }
            value => Ok(value),
        }
    }
}

fn is_instant(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(_, Some(_)))
}

/// The type with a local time in the place of each instant.
fn as_told(data_type: &DataType) -> DataType {
    let part = |field: &FieldRef| Arc::new(field.as_ref().clone().with_data_type(as_told(field.data_type())));
    match data_type {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, None),
        DataType::List(element) => DataType::List(part(element)),
        DataType::Map(entry, sorted) => DataType::Map(part(entry), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(part).collect()),
        other => other.clone(),
    }
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

impl ScalarUDFImpl for CastFunction {
    fn name(&self) -> &str {
        if self.target.tries { "try_cast" } else { "cast" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.to.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        evaluated(&args, |arrays| match arrays {
            [values] => self.target.converted(values, &self.to),
            _ => internal_err!("{} of {} values", self.name(), arrays.len()),
        })
    }
}
