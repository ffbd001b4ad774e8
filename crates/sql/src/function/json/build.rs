//! JSON made of values: `JSON_OBJECT`, `JSON_ARRAY` and `JSON_STRING`.
//!
//! The parser writes what stands between the values as arguments: whether a NULL is left out, the names, and for each
//! value whether it is JSON already.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringViewBuilder};
use arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chrono::{DateTime, Timelike, Utc};
use datafusion::common::{Result, internal_datafusion_err, plan_err};
use datafusion::error::DataFusionError;
use tidemill_core::Error;

use super::read::read;
use super::write::{number, quote, separate, utf16_order, write};
use crate::function::cast::float;
use crate::types::flink_type_name;

/// A value of a JSON text, in the arguments of all rows.
struct Value<'a> {
    values: &'a ArrayRef,
    /// The texts are JSON.
    raw: bool,
}

impl<'a> Value<'a> {
    fn of(arguments: &'a [ArrayRef]) -> Result<Self> {
        let [values, raw] = arguments else { return Err(malformed()) };
        Ok(Self { values, raw: raw.as_boolean_opt().is_some_and(|raw| !raw.is_empty() && raw.value(0)) })
    }

    /// A column of the type of a bare NULL says that all of its values are valid.
    fn is_there(&self, row: usize) -> bool {
        *self.values.data_type() != DataType::Null && self.values.is_valid(row)
    }

    fn append(&self, row: usize, out: &mut String) -> Result<()> {
        if self.raw && self.is_there(row) {
            out.push_str(self.values.as_string_view().value(row));
            return Ok(());
        }
        append(self.values, row, out)
    }
}

/// A name and its value.
fn named(arguments: &[ArrayRef]) -> Result<(&str, Value<'_>)> {
    let [name, value @ ..] = arguments else { return Err(malformed()) };
    Ok((constant(name)?, Value::of(value)?))
}

fn malformed() -> DataFusionError {
    internal_datafusion_err!("the arguments of a JSON function")
}

/// What the parser writes: a constant text.
fn constant(argument: &ArrayRef) -> Result<&str> {
    let texts = argument.as_string_view_opt().filter(|texts| !texts.is_empty() && texts.is_valid(0));
    texts.map(|texts| texts.value(0)).ok_or_else(malformed)
}

/// `JSON_STRING(value)`
pub(super) fn string(arguments: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let values = &arguments[0];
    each_row(values.len(), |row, out| {
        append(values, row, out)?;
        Ok(values.is_valid(row))
    })
}

/// `JSON_ARRAY(value, ...)`: NULL or ABSENT, then each value and whether it is JSON.
pub(super) fn array(arguments: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [nulls, rest @ ..] = arguments else { return Err(malformed()) };
    if nulls.is_empty() {
        return each_row(0, |_, _| Ok(true));
    }
    let absent = constant(nulls)? == "ABSENT";
    let values = rest.chunks(2).map(Value::of).collect::<Result<Vec<_>>>()?;
    each_row(nulls.len(), |row, out| {
        out.push('[');
        let present = values.iter().filter(|value| !absent || value.is_there(row));
        for (index, value) in present.enumerate() {
            separate(index, out);
            value.append(row, out)?;
        }
        out.push(']');
        Ok(true)
    })
}

/// `JSON_OBJECT(name VALUE value, ...)`: NULL or ABSENT, then each name, its value, and whether that is JSON.
pub(super) fn object(arguments: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [nulls, rest @ ..] = arguments else { return Err(malformed()) };
    if nulls.is_empty() {
        return each_row(0, |_, _| Ok(true));
    }
    let absent = constant(nulls)? == "ABSENT";
    let mut members = rest.chunks(3).map(named).collect::<Result<Vec<_>>>()?;
    members.sort_by(|(a, _), (b, _)| utf16_order(a, b));
    each_row(nulls.len(), |row, out| {
        out.push('{');
        let mut written = 0;
        for named in members.chunk_by(|(a, _), (b, _)| a == b) {
            // Of several with one name the last that is there counts.
            let present = named.iter().rev().find(|(_, value)| !absent || value.is_there(row));
            if let Some((name, value)) = present {
                separate(written, out);
                written += 1;
                quote(name, out);
                out.push(':');
                value.append(row, out)?;
            }
        }
        out.push('}');
        Ok(true)
    })
}

/// What `JSON_ARRAYAGG` keeps of a row: NULL or ABSENT, the value, and whether it is JSON.
pub(super) fn element(arguments: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [nulls, value @ ..] = arguments else { return Err(malformed()) };
    let value = Value::of(value)?;
    let absent = !nulls.is_empty() && constant(nulls)? == "ABSENT";
    each_row(nulls.len(), |row, out| {
        value.append(row, out)?;
        Ok(!absent || value.is_there(row))
    })
}

/// What `JSON_OBJECTAGG` keeps of a row: NULL or ABSENT, the name, the value, and whether that is JSON.
pub(super) fn member(arguments: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [nulls, names, value @ ..] = arguments else { return Err(malformed()) };
    let (names, value) = (names.as_string_view(), Value::of(value)?);
    let absent = !nulls.is_empty() && constant(nulls)? == "ABSENT";
    each_row(nulls.len(), |row, out| {
        if names.is_null(row) {
            let error = Error::data("JSON_OBJECTAGG: the name of a member is NULL");
            return Err(DataFusionError::External(Box::new(error.hint("leave such rows out with FILTER (WHERE ...)"))));
        }
        quote(names.value(row), out);
        out.push(':');
        value.append(row, out)?;
        Ok(!absent || value.is_there(row))
    })
}

/// An array of the kept elements; without rows there is no list of them.
pub(super) fn list(arguments: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    each_list(&arguments[0], |parts, out| {
        *out = format!("[{}]", parts.join(","));
        Ok(())
    })
}

/// An object of the kept members, each name once.
pub(super) fn members(arguments: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    each_list(&arguments[0], |parts, out| {
        let text = format!("{{{}}}", parts.join(","));
        *out = write(&read(&text).map_err(|_| malformed())?);
        Ok(())
    })
}

fn each_list(lists: &ArrayRef, whole: impl Fn(&[&str], &mut String) -> Result<()>) -> Result<ArrayRef> {
    let lists = lists.as_list_opt::<i32>().ok_or_else(malformed)?;
    each_row(lists.len(), |row, out| {
        let parts = if lists.is_valid(row) { lists.value(row) } else { lists.values().slice(0, 0) };
        let parts: Vec<&str> = parts.as_string_view_opt().ok_or_else(malformed)?.iter().flatten().collect();
        whole(&parts, out).map(|()| true)
    })
}

/// A text for each row for which `write` says that there is one.
fn each_row(rows: usize, mut write: impl FnMut(usize, &mut String) -> Result<bool>) -> Result<ArrayRef> {
    let mut texts = StringViewBuilder::with_capacity(rows);
    let mut text = String::new();
    for row in 0..rows {
        text.clear();
        let there = write(row, &mut text)?;
        texts.append_option(there.then_some(&text));
    }
    Ok(Arc::new(texts.finish()))
}

/// Adds a value as JSON.
fn append(values: &dyn Array, row: usize, out: &mut String) -> Result<()> {
    if values.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    match values.data_type() {
        DataType::Null => out.push_str("null"),
        DataType::Boolean => out.push_str(if values.as_boolean().value(row) { "true" } else { "false" }),
        DataType::Int8 => *out += &values.as_primitive::<Int8Type>().value(row).to_string(),
        DataType::Int16 => *out += &values.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::Int32 => *out += &values.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => *out += &values.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Decimal128(..) => *out += &number(&values.as_primitive::<Decimal128Type>().value_as_string(row)),
        DataType::Float32 => append_float(values.as_primitive::<Float32Type>().value(row).into(), out)?,
        DataType::Float64 => append_float(values.as_primitive::<Float64Type>().value(row), out)?,
        DataType::Utf8 => quote(values.as_string::<i32>().value(row), out),
        DataType::Utf8View => quote(values.as_string_view().value(row), out),
        DataType::BinaryView => quote(&BASE64_STANDARD.encode(values.as_binary_view().value(row)), out),
        DataType::Timestamp(unit, zone) => append_time(values, row, (*unit, zone.is_some()), out)?,
        DataType::List(_) => {
            let elements = values.as_list::<i32>().value(row);
            out.push('[');
            for index in 0..elements.len() {
                separate(index, out);
                append(&elements, index, out)?;
            }
            out.push(']');
        }
        DataType::Struct(fields) => {
            let columns = values.as_struct().columns();
            let members = fields.iter().zip(columns).map(|(field, column)| (field.name().as_str(), column, row));
            append_members(members.collect(), out)?;
        }
        DataType::Map(entries, _) if has_names(entries.data_type()) => {
            let entries = values.as_map().value(row);
            let names = entries.column(0).as_string_view();
            let members = (0..entries.len()).map(|index| (names.value(index), entries.column(1), index));
            append_members(members.collect(), out)?;
        }
        other => return plan_err!("a {} has no form in JSON; CAST it to STRING", flink_type_name(other)),
    }
    Ok(())
}

/// Whether [`append`] writes values of the type.
pub(crate) fn has_json_form(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null
        | DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Decimal128(..)
        | DataType::Float32
        | DataType::Float64
        | DataType::Utf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::BinaryView
        | DataType::Timestamp(..) => true,
        DataType::List(element) => has_json_form(element.data_type()),
        DataType::Struct(fields) => fields.iter().all(|field| has_json_form(field.data_type())),
        DataType::Map(entries, _) => match entries.data_type() {
            // While a text is planned, its keys are not yet texts of our kind.
            DataType::Struct(fields) => {
                fields.first().is_some_and(|key| key.data_type().is_string())
                    && fields.iter().all(|field| has_json_form(field.data_type()))
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether the keys of these entries are texts.
fn has_names(entries: &DataType) -> bool {
    matches!(entries, DataType::Struct(fields) if fields.first().is_some_and(|key| *key.data_type() == DataType::Utf8View))
}

fn append_members(mut members: Vec<(&str, &ArrayRef, usize)>, out: &mut String) -> Result<()> {
    members.sort_by(|(a, ..), (b, ..)| utf16_order(a, b));
    out.push('{');
    for (index, (name, values, row)) in members.into_iter().enumerate() {
        separate(index, out);
        quote(name, out);
        out.push(':');
        append(values, row, out)?;
    }
    out.push('}');
    Ok(())
}

/// What is no number in JSON stands in quotes. A FLOAT has the digits of a DOUBLE, as in Flink.
fn append_float(value: f64, out: &mut String) -> Result<()> {
    let mut text = String::new();
    float(value, &mut text)?;
    if value.is_finite() {
        out.push_str(&number(&text));
    } else {
        quote(&text, out);
    }
    Ok(())
}

fn append_time(values: &dyn Array, row: usize, (unit, instant): (TimeUnit, bool), out: &mut String) -> Result<()> {
    let time: Option<DateTime<Utc>> = match unit {
        TimeUnit::Millisecond => {
            DateTime::from_timestamp_millis(values.as_primitive::<TimestampMillisecondType>().value(row))
        }
        TimeUnit::Microsecond => {
            DateTime::from_timestamp_micros(values.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        _ => Some(DateTime::from_timestamp_nanos(values.as_primitive::<TimestampNanosecondType>().value(row))),
    };
    let Some(time) = time else { return plan_err!("a time beyond the year 262142 has no text") };
    let zone = if instant { "Z" } else { "" };
    quote(&format!("{}{}{zone}", time.format("%Y-%m-%dT%H:%M:%S"), fraction(time.nanosecond())), out);
    Ok(())
}

/// The digits behind the second, as many as are needed.
fn fraction(nanoseconds: u32) -> String {
    if nanoseconds == 0 {
        return String::new();
    }
    format!(".{nanoseconds:09}").trim_end_matches('0').to_owned()
}
