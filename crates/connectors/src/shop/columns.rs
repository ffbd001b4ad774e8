//! Events as Arrow columns, under the names and types that a table declares.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringViewArray, StructArray,
    TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, Field, Fields, SchemaRef, TimeUnit};
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::TableSpec;

use super::event::Event;
use crate::format::sql_type;

/// The columns that a table can have, in the order in which documents show them.
const NAMES: [&str; 5] = ["event_id", "event_type", "event_time", "user_id", "payload"];

fn column_type(name: &str) -> Option<DataType> {
    Some(match name {
        "event_id" | "user_id" => DataType::Int64,
        "event_type" => DataType::Utf8View,
        "event_time" => DataType::Timestamp(TimeUnit::Millisecond, None),
        "payload" => DataType::Struct(payload_fields()),
        _ => return None,
    })
}

fn payload_fields() -> Fields {
    Fields::from(vec![
        Field::new("product_id", DataType::Utf8View, true),
        Field::new("category", DataType::Utf8View, true),
        Field::new("action", DataType::Utf8View, true),
        Field::new("quantity", DataType::Int32, true),
        Field::new("total_amount", DataType::Decimal128(10, 2), true),
    ])
}

/// Refuses a column that the shop has not, or has in another type.
pub(super) fn check(table: &TableSpec) -> Result<()> {
    for field in table.schema.fields() {
        let (table, name) = (&table.name, field.name());
        let expected = column_type(name).ok_or_else(|| {
            Error::invalid(format!("the shop has no column '{name}' for the table '{table}'"))
                .hint(format!("its columns are: {}", NAMES.join(", ")))
        })?;
        if *field.data_type() != expected {
            let declared = shown(field.data_type());
            return Err(Error::invalid(format!(
                "the column '{name}' of the table '{table}' is declared as {declared}"
            ))
            .hint(format!("the shop gives it as {}", shown(&expected))));
        }
    }
    Ok(())
}

/// A type with its fields: of a ROW they are what is wrong.
fn shown(data_type: &DataType) -> String {
    let DataType::Struct(fields) = data_type else { return sql_type(data_type) };
    let fields = fields.iter().map(|field| format!("{} {}", field.name(), shown(field.data_type())));
    format!("ROW<{}>", fields.collect::<Vec<_>>().join(", "))
}

/// The columns of `schema`, whose names and types [`check`] has seen.
pub(super) fn rows(schema: &SchemaRef, events: &[Event]) -> Result<RecordBatch> {
    let columns = schema.fields().iter().map(|field| column(field.name(), events)).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(events.len()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

fn column(name: &str, events: &[Event]) -> Result<ArrayRef> {
    Ok(match name {
        "event_id" => Arc::new(events.iter().map(|e| Some(e.event_id)).collect::<Int64Array>()),
        "user_id" => Arc::new(events.iter().map(|e| Some(e.user_id)).collect::<Int64Array>()),
        "event_type" => text(events, |e| Some(e.event_type)),
        "event_time" => Arc::new(events.iter().map(|e| Some(e.event_time_ms)).collect::<TimestampMillisecondArray>()),
        "payload" => Arc::new(StructArray::try_new(payload_fields(), payload(events)?, None)?),
        other => return Err(Error::internal(format!("the column '{other}' was not refused"))),
    })
}

fn payload(events: &[Event]) -> Result<Vec<ArrayRef>> {
    let amounts = events.iter().map(|e| e.total_amount_cents.map(i128::from)).collect::<Decimal128Array>();
    Ok(vec![
        text(events, |e| e.product_id),
        text(events, |e| Some(e.category)),
        text(events, |e| Some(e.action)),
        Arc::new(events.iter().map(|e| e.quantity).collect::<Int32Array>()),
        Arc::new(amounts.with_precision_and_scale(10, 2)?),
    ])
}

fn text(events: &[Event], of: impl Fn(&Event) -> Option<&'static str>) -> ArrayRef {
    Arc::new(events.iter().map(of).collect::<StringViewArray>())
}
