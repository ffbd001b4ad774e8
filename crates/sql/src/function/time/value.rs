//! Between Arrow's columns and what clocks show.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Date32Array, Int64Array, PrimitiveArray, Time32MillisecondArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Int64Type, Time32MillisecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use chrono::{DateTime, NaiveDateTime};
use datafusion::common::{Result, internal_err};
use tidemill_runtime::time_zone::TimeZone;

const NS_PER_MS: i64 = 1_000_000;
const NS_PER_SECOND: i64 = 1_000_000_000;
const MS_PER_DAY: i64 = 86_400_000;

/// Local milliseconds and the nanoseconds beyond them as a date and a time, where the calendar reaches.
pub(super) fn local(ms: i64, finer_ns: i64) -> Option<NaiveDateTime> {
    let nanoseconds = ms.rem_euclid(1_000) * NS_PER_MS + finer_ns;
    Some(DateTime::from_timestamp(ms.div_euclid(1_000), u32::try_from(nanoseconds).ok()?)?.naive_utc())
}

/// The local time of each row: an instant's in the zone, a date's at midnight, a time's on 1970-01-01.
pub(super) fn local_times(column: &ArrayRef, zone: TimeZone) -> Result<Vec<Option<NaiveDateTime>>> {
    let (unit, per_ms) = match column.data_type() {
        DataType::Date32 => {
            let days = column.as_primitive::<Date32Type>();
            return Ok(days.iter().map(|days| local(i64::from(days?) * MS_PER_DAY, 0)).collect());
        }
        DataType::Time32(TimeUnit::Millisecond) => {
            let times = column.as_primitive::<Time32MillisecondType>();
            return Ok(times.iter().map(|ms| local(ms?.into(), 0)).collect());
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => (TimeUnit::Millisecond, 1),
        DataType::Timestamp(TimeUnit::Microsecond, _) => (TimeUnit::Microsecond, 1_000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => (TimeUnit::Nanosecond, NS_PER_MS),
        other => return internal_err!("a time of the type {other}"),
    };
    let instants = matches!(column.data_type(), DataType::Timestamp(_, Some(_)));
    let values = cast(column, &DataType::Int64)?;
    let at = |value: Option<i64>| {
        let value = value?;
        let ms = value.div_euclid(per_ms);
        let ms = if instants { zone.local_ms(ms) } else { ms };
        local(ms, value.rem_euclid(per_ms) * (NS_PER_MS / per_ms))
    };
    debug_assert!(unit != TimeUnit::Second);
    Ok(values.as_primitive::<Int64Type>().iter().map(at).collect())
}

/// Local times as a column of the type; NULL where the type does not reach.
pub(super) fn column(times: Vec<Option<NaiveDateTime>>, data_type: &DataType, zone: TimeZone) -> Result<ArrayRef> {
    let ms = |time: NaiveDateTime| time.and_utc().timestamp_millis();
    let (per_second, instants) = match data_type {
        DataType::Date32 => {
            let days = |time: NaiveDateTime| i32::try_from(ms(time).div_euclid(MS_PER_DAY)).ok();
            return Ok(Arc::new(times.into_iter().map(|time| days(time?)).collect::<Date32Array>()));
        }
        DataType::Time32(TimeUnit::Millisecond) => {
            let of_day = |time: NaiveDateTime| i32::try_from(ms(time).rem_euclid(MS_PER_DAY)).ok();
            return Ok(Arc::new(times.into_iter().map(|time| of_day(time?)).collect::<Time32MillisecondArray>()));
        }
        DataType::Timestamp(TimeUnit::Millisecond, zone) => (1_000, zone.is_some()),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => (1_000_000, zone.is_some()),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => (NS_PER_SECOND, zone.is_some()),
        other => return internal_err!("a time of the type {other}"),
    };
    let value = |time: NaiveDateTime| {
        let finer_ns = i64::from(time.and_utc().timestamp_subsec_nanos()) % NS_PER_MS;
        let ms = if instants { zone.instant_ms(ms(time)) } else { ms(time) };
        let per_ms = per_second / 1_000;
        ms.checked_mul(per_ms)?.checked_add(finer_ns / (NS_PER_MS / per_ms))
    };
    let values: Int64Array = times.into_iter().map(|time| value(time?)).collect();
    Ok(match data_type {
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            typed(values.reinterpret_cast::<TimestampMillisecondType>(), data_type)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            typed(values.reinterpret_cast::<TimestampMicrosecondType>(), data_type)
        }
        _ => typed(values.reinterpret_cast::<TimestampNanosecondType>(), data_type),
    })
}

fn typed<T: arrow::datatypes::ArrowPrimitiveType>(values: PrimitiveArray<T>, data_type: &DataType) -> ArrayRef {
    Arc::new(values.with_data_type(data_type.clone()))
}
