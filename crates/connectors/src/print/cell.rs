//! The text of one value, as Flink's print connector has it: Java's `toString`.
//!
//! | Type | Text |
//! | --- | --- |
//! | `STRING` | as it is, without quotes |
//! | `TIMESTAMP` | `2026-11-29T10:00`, `2026-11-29T10:00:05`, `2026-11-29T10:00:05.120` |
//! | `TIMESTAMP_LTZ` | `2026-11-29T10:00:00Z` |
//! | `DOUBLE` | `1.0`, `1.0E7`, `NaN` |
//! | `DECIMAL` | `1.50`; `1E-7` where more than six zeros would follow the point |
//! | `BYTES` | `[1, -1]` |
//! | `ARRAY`, `MAP`, `ROW` | `[1, 2]`, `{a=1, b=2}`, `+I[1, Ada]` |

use std::fmt::{Debug, Display, UpperExp, Write};

use arrow::array::types::{ArrowPrimitiveType, Decimal128Type, Decimal256Type, DecimalType};
use arrow::array::{Array, ArrayRef, AsArray, downcast_integer_array};
use arrow::datatypes::{
    DataType, Date32Type, Float32Type, Float64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow::temporal_conversions::{as_datetime, as_time, date32_to_datetime};
use tidemill_core::{Error, Result, RowKind};

/// Whether [`write_cell`] has a text for values of this type.
#[must_use]
pub fn printable(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Null | T::Boolean | T::Float32 | T::Float64 | T::Date32 => true,
        T::Decimal128(..) | T::Decimal256(..) | T::Timestamp(..) | T::Time32(_) | T::Time64(_) => true,
        T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary | T::BinaryView => true,
        T::List(item) => printable(item.data_type()),
        T::Map(entries, _) => printable(entries.data_type()),
        T::Struct(fields) => fields.iter().all(|field| printable(field.data_type())),
        other => other.is_integer(),
    }
}

/// Appends the text of the value at `row`.
///
/// # Errors
/// `Internal` if the type is not [`printable`].
pub fn write_cell(out: &mut String, array: &dyn Array, row: usize) -> Result<()> {
    if array.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    match array.data_type() {
        DataType::Null => out.push_str("null"),
        DataType::Boolean => show(out, array.as_boolean().value(row)),
        DataType::Float32 => write_float(out, array.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => write_float(out, array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(_, scale) => write_decimal::<Decimal128Type>(out, array, row, *scale),
        DataType::Decimal256(_, scale) => write_decimal::<Decimal256Type>(out, array, row, *scale),
        DataType::Utf8 => out.push_str(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => out.push_str(array.as_string::<i64>().value(row)),
        DataType::Utf8View => out.push_str(array.as_string_view().value(row)),
        DataType::Binary => write_bytes(out, array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => write_bytes(out, array.as_binary::<i64>().value(row)),
        DataType::BinaryView => write_bytes(out, array.as_binary_view().value(row)),
        DataType::List(_) => write_list(out, &array.as_list::<i32>().value(row))?,
        DataType::Map(..) => write_map(out, array, row)?,
        DataType::Struct(_) => write_row(out, array.as_struct().columns(), RowKind::Insert, row)?,
        _ => downcast_integer_array!(
            array => show(out, array.value(row)),
            _ => write_time(out, array, row)?,
        ),
    }
    Ok(())
}

/// Appends a row with its kind: `+I[1, Ada, null]`.
///
/// # Errors
/// As [`write_cell`].
pub fn write_row(out: &mut String, columns: &[ArrayRef], kind: RowKind, row: usize) -> Result<()> {
    out.push_str(kind.short());
    out.push('[');
    for (i, column) in columns.iter().enumerate() {
        separate(out, i);
        write_cell(out, column, row)?;
    }
    out.push(']');
    Ok(())
}

fn write_time(out: &mut String, array: &dyn Array, row: usize) -> Result<()> {
    match array.data_type() {
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(row);
            write_moment(out, date32_to_datetime(days).map(|moment| moment.date()), days);
        }
        DataType::Time32(TimeUnit::Second) => write_time_of_day::<Time32SecondType>(out, array, row),
        DataType::Time32(_) => write_time_of_day::<Time32MillisecondType>(out, array, row),
        DataType::Time64(TimeUnit::Microsecond) => write_time_of_day::<Time64MicrosecondType>(out, array, row),
        DataType::Time64(_) => write_time_of_day::<Time64NanosecondType>(out, array, row),
        DataType::Timestamp(unit, zone) => {
            match unit {
                TimeUnit::Second => write_timestamp::<TimestampSecondType>(out, array, row),
                TimeUnit::Millisecond => write_timestamp::<TimestampMillisecondType>(out, array, row),
                TimeUnit::Microsecond => write_timestamp::<TimestampMicrosecondType>(out, array, row),
                TimeUnit::Nanosecond => write_timestamp::<TimestampNanosecondType>(out, array, row),
            }
            match zone {
                Some(_) => out.push('Z'),
                None => drop_zero_seconds(out),
            }
        }
        other => return Err(Error::internal(format!("a value of type {other} has no text"))),
    }
    Ok(())
}

fn write_timestamp<T: ArrowPrimitiveType<Native = i64>>(out: &mut String, array: &dyn Array, row: usize) {
    let value = array.as_primitive::<T>().value(row);
    write_moment(out, as_datetime::<T>(value), value);
}

fn write_time_of_day<T: ArrowPrimitiveType>(out: &mut String, array: &dyn Array, row: usize)
where
    i64: From<T::Native>,
{
    let value = i64::from(array.as_primitive::<T>().value(row));
    write_moment(out, as_time::<T>(value), value);
    drop_zero_seconds(out);
}

/// Appends a moment in ISO 8601, or the bare count of its units where no calendar reaches.
fn write_moment(out: &mut String, moment: Option<impl Debug>, count: impl Display) {
    match moment {
        Some(moment) => write!(out, "{moment:?}").expect("a string takes all that is written"),
        None => show(out, count),
    }
}

/// Java leaves zero seconds out of a local time. With a fraction the text ends otherwise.
fn drop_zero_seconds(out: &mut String) {
    if out.ends_with(":00") {
        out.truncate(out.len() - ":00".len());
    }
}

/// Java writes the digits that Rust does, but turns to the exponent below 0.001 and from 10 million.
fn write_float<F: Copy + Debug + UpperExp + Into<f64>>(out: &mut String, value: F) {
    let wide: f64 = value.into();
    if wide.is_nan() {
        out.push_str("NaN");
    } else if wide.is_infinite() {
        out.push_str(if wide > 0.0 { "Infinity" } else { "-Infinity" });
    } else if wide == 0.0 || (1e-3..1e7).contains(&wide.abs()) {
        write!(out, "{value:?}").expect("a string takes all that is written");
    } else {
        let text = format!("{value:E}");
        match text.split_once('E') {
            Some((digits, exponent)) if !digits.contains('.') => show(out, format_args!("{digits}.0E{exponent}")),
            _ => out.push_str(&text),
        }
    }
}

/// `BigDecimal.toString`: plain, unless the first digit stands more than six places after the point.
fn write_decimal<T: DecimalType>(out: &mut String, array: &dyn Array, row: usize, scale: i8)
where
    T::Native: Display,
{
    let value = array.as_primitive::<T>().value(row);
    let unscaled = value.to_string();
    let (sign, digits) = unscaled.strip_prefix('-').map_or(("", unscaled.as_str()), |digits| ("-", digits));
    let exponent = digits.len() as i64 - 1 - i64::from(scale);
    if scale >= 0 && exponent >= -6 {
        return out.push_str(&T::format_decimal(value, T::MAX_PRECISION, scale));
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    show(out, format_args!("{sign}{first}{point}{rest}E{exponent:+}"));
}

/// Java's bytes are signed.
fn write_bytes(out: &mut String, bytes: &[u8]) {
    out.push('[');
    for (i, byte) in bytes.iter().enumerate() {
        separate(out, i);
        show(out, byte.cast_signed());
    }
    out.push(']');
}

fn write_list(out: &mut String, items: &dyn Array) -> Result<()> {
    out.push('[');
    for i in 0..items.len() {
        separate(out, i);
        write_cell(out, items, i)?;
    }
    out.push(']');
    Ok(())
}

fn write_map(out: &mut String, array: &dyn Array, row: usize) -> Result<()> {
    let entries = array.as_map().value(row);
    out.push('{');
    for i in 0..entries.len() {
        separate(out, i);
        write_cell(out, entries.column(0), i)?;
        out.push('=');
        write_cell(out, entries.column(1), i)?;
    }
    out.push('}');
    Ok(())
}

fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push_str(", ");
    }
}

fn show(out: &mut String, value: impl Display) {
    write!(out, "{value}").expect("a string takes all that is written");
}

#[cfg(test)]
mod tests;
