//! Values as texts, in the forms that Flink's casts write.

use std::fmt::LowerExp;

use arrow::array::{Array, ArrayRef, AsArray, StringViewArray, StringViewBuilder};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use chrono::{DateTime, Utc};
use datafusion::common::{Result, internal_err};
use datafusion::error::DataFusionError;
use tidemill_core::Error;

/// The text of each value; NULL stays NULL.
pub(super) fn texts(values: &ArrayRef) -> Result<StringViewArray> {
    let mut texts = StringViewBuilder::with_capacity(values.len());
    let mut text = String::new();
    for row in 0..values.len() {
        if is_null(values, row) {
            texts.append_null();
            continue;
        }
        text.clear();
        write(values, row, &mut text)?;
        texts.append_value(&text);
    }
    Ok(texts.finish())
}

/// A column of the type of a bare NULL says that none of its values is.
fn is_null(values: &dyn Array, row: usize) -> bool {
    *values.data_type() == DataType::Null || values.is_null(row)
}

fn write(values: &dyn Array, row: usize, text: &mut String) -> Result<()> {
    if is_null(values, row) {
        text.push_str("NULL");
        return Ok(());
    }
    match values.data_type() {
        DataType::Boolean => text.push_str(if values.as_boolean().value(row) { "TRUE" } else { "FALSE" }),
        DataType::Int8 => *text += &values.as_primitive::<Int8Type>().value(row).to_string(),
        DataType::Int16 => *text += &values.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::Int32 => *text += &values.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => *text += &values.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float32 => float(values.as_primitive::<Float32Type>().value(row), text)?,
        DataType::Float64 => float(values.as_primitive::<Float64Type>().value(row), text)?,
        DataType::Decimal128(..) => text.push_str(&values.as_primitive::<Decimal128Type>().value_as_string(row)),
        DataType::Utf8View => text.push_str(values.as_string_view().value(row)),
        DataType::Utf8 => text.push_str(values.as_string::<i32>().value(row)),
        DataType::BinaryView => text.push_str(&String::from_utf8_lossy(values.as_binary_view().value(row))),
        DataType::Date32 => {
            let days = i64::from(values.as_primitive::<Date32Type>().value(row));
            time(DateTime::from_timestamp(days * 86_400, 0), "%Y-%m-%d", text)?;
        }
        DataType::Time32(TimeUnit::Millisecond) => {
            let ms = i64::from(values.as_primitive::<Time32MillisecondType>().value(row));
            let format = if ms % 1_000 == 0 { "%H:%M:%S" } else { "%H:%M:%S%.3f" };
            time(DateTime::from_timestamp_millis(ms), format, text)?;
        }
        DataType::Timestamp(TimeUnit::Millisecond, None) => {
            let ms = values.as_primitive::<TimestampMillisecondType>().value(row);
            time(DateTime::from_timestamp_millis(ms), "%Y-%m-%d %H:%M:%S%.3f", text)?;
        }
        DataType::Timestamp(TimeUnit::Microsecond, None) => {
            let us = values.as_primitive::<TimestampMicrosecondType>().value(row);
            time(DateTime::from_timestamp_micros(us), "%Y-%m-%d %H:%M:%S%.6f", text)?;
        }
        DataType::Timestamp(TimeUnit::Nanosecond, None) => {
            let ns = values.as_primitive::<TimestampNanosecondType>().value(row);
            time(Some(DateTime::from_timestamp_nanos(ns)), "%Y-%m-%d %H:%M:%S%.9f", text)?;
        }
        DataType::List(_) => {
            let elements = values.as_list::<i32>().value(row);
            listed(('[', ']'), elements.len(), text, |i, text| write(&elements, i, text))?;
        }
        DataType::Struct(fields) => {
            let columns = values.as_struct().columns();
            listed(('(', ')'), fields.len(), text, |i, text| write(&columns[i], row, text))?;
        }
        DataType::Map(..) => {
            let entries = values.as_map().value(row);
            listed(('{', '}'), entries.len(), text, |i, text| {
                write(entries.column(0), i, text)?;
                text.push('=');
                write(entries.column(1), i, text)
            })?;
        }
        other => return internal_err!("{other} becomes a text"),
    }
    Ok(())
}

fn listed(
    (open, close): (char, char),
    length: usize,
    text: &mut String,
    mut write: impl FnMut(usize, &mut String) -> Result<()>,
) -> Result<()> {
    text.push(open);
    for i in 0..length {
        if i > 0 {
            text.push_str(", ");
        }
        write(i, text)?;
    }
    text.push(close);
    Ok(())
}

fn time(time: Option<DateTime<Utc>>, format: &str, text: &mut String) -> Result<()> {
    let Some(time) = time else {
        let error = Error::data("a time beyond the year 262142 has no text").hint("filter such times out");
        return Err(DataFusionError::External(Box::new(error)));
    };
    *text += &time.format(format).to_string();
    Ok(())
}

/// The shortest digits, with one at least behind the point, and an exponent below 0.001 and from ten million on.
pub(in crate::function) fn float<F: LowerExp + Into<f64> + Copy>(value: F, text: &mut String) -> Result<()> {
    let size: f64 = value.into();
    if !size.is_finite() {
        text.push_str(if size.is_nan() {
            "NaN"
        } else if size > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        });
        return Ok(());
    }
    let shortest = format!("{value:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    text.push_str(sign);
    if size != 0.0 && !(-3..7).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        *text += &format!("{first}.{rest}E{exponent}");
        return Ok(());
    }
    match usize::try_from(exponent) {
        Err(_) => *text += &format!("0.{}{digits}", "0".repeat(usize::try_from(-exponent - 1).unwrap_or(0))),
        Ok(exponent) => {
            let padded = format!("{digits:0<width$}", width = exponent + 2);
            let (whole, behind) = padded.split_at(exponent + 1);
            *text += &format!("{whole}.{behind}");
        }
    }
    Ok(())
}
