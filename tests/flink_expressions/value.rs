//! A value in the form in which Flink's are recorded: one text for each value, whatever its type prints.

use std::collections::BTreeSet;
use std::fmt::Display;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use chrono::{DateTime, NaiveDateTime};

/// The value of one row.
pub fn value(array: &dyn Array, row: usize) -> String {
    if array.is_null(row) {
        return "NULL".to_owned();
    }
    match array.data_type() {
        DataType::Null => "NULL".to_owned(),
        DataType::Boolean => array.as_boolean().value(row).to_string().to_uppercase(),
        DataType::Int8 => array.as_primitive::<Int8Type>().value(row).to_string(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float32 => number(array.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => number(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::Utf8View => text(array.as_string_view().value(row)),
        DataType::Utf8 => text(array.as_string::<i32>().value(row)),
        DataType::BinaryView => bytes(array.as_binary_view().value(row)),
        DataType::Date32 => {
            let days = array.as_primitive::<arrow::datatypes::Date32Type>().value(row);
            time(DateTime::from_timestamp(i64::from(days) * 86_400, 0).unwrap().naive_utc())[..10].to_owned()
        }
        DataType::Time32(TimeUnit::Millisecond) => {
            let ms = array.as_primitive::<Time32MillisecondType>().value(row);
            time(DateTime::from_timestamp_millis(ms.into()).unwrap().naive_utc())[11..].to_owned()
        }
        DataType::Timestamp(unit, zone) => {
            let utc = match unit {
                TimeUnit::Millisecond => {
                    DateTime::from_timestamp_millis(array.as_primitive::<TimestampMillisecondType>().value(row))
                        .unwrap()
                }
                TimeUnit::Microsecond => {
                    DateTime::from_timestamp_micros(array.as_primitive::<TimestampMicrosecondType>().value(row))
                        .unwrap()
                }
                _ => DateTime::from_timestamp_nanos(array.as_primitive::<TimestampNanosecondType>().value(row)),
            };
            time(utc.naive_utc()) + if zone.is_some() { "Z" } else { "" }
        }
        DataType::List(_) => {
            let elements = array.as_list::<i32>().value(row);
            listed('[', (0..elements.len()).map(|i| value(&elements, i)), ']')
        }
        DataType::Struct(_) => listed('(', array.as_struct().columns().iter().map(|field| value(field, row)), ')'),
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let entry = |i| format!("{}={}", value(entries.column(0), i), value(entries.column(1), i));
            listed('{', (0..entries.len()).map(entry).collect::<BTreeSet<_>>().into_iter(), '}')
        }
        other => panic!("{other} is no type of Flink's"),
    }
}

fn listed(open: char, values: impl Iterator<Item = String>, close: char) -> String {
    format!("{open}{}{close}", values.collect::<Vec<_>>().join(", "))
}

/// Rust prints the shortest digits, without an exponent.
fn number(value: impl Display) -> String {
    match value.to_string().as_str() {
        "inf" => "Infinity".to_owned(),
        "-inf" => "-Infinity".to_owned(),
        other => other.to_owned(),
    }
}

fn text(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n");
    format!("'{}'", escaped.replace('\r', "\\r").replace('\0', "\\0"))
}

fn bytes(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("x'{digits}'")
}

fn time(time: NaiveDateTime) -> String {
    let text = time.format("%Y-%m-%d %H:%M:%S%.9f").to_string();
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
