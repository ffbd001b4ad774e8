//! What the tests share: schemas in a line, decoding in a line.

mod coercions;
mod hostile;
mod lines;
mod oracle;
mod round_trip;

use std::sync::Arc;

use arrow::array::{Array, RecordBatch};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use tidemill_runtime::connector::{DecodeError, Decoded};

use super::{JsonDecoder, JsonEncoder, JsonOptions};

/// Nullable columns.
fn schema(columns: &[(&str, DataType)]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(|(name, t)| Field::new(*name, t.clone(), true)).collect::<Vec<_>>()))
}

fn decode(schema: &SchemaRef, options: JsonOptions, lines: &[u8]) -> Result<Decoded, DecodeError> {
    let decoder = JsonDecoder::new(schema.clone(), options).expect("the schema is one that JSON has");
    let decoded = decoder.decode(&Buffer::from(lines.to_vec()), false)?;
    // Views are made without a check: check them here.
    for column in decoded.rows.columns() {
        column.to_data().validate_full().expect("a valid array");
    }
    Ok(decoded)
}

/// The rows of good lines.
fn rows(columns: &[(&str, DataType)], lines: &str) -> RecordBatch {
    decode(&schema(columns), JsonOptions::default(), lines.as_bytes()).expect("good lines").rows
}

/// The message and hint of a bad line.
fn refusal(schema: &SchemaRef, line: &[u8]) -> (String, String) {
    let failed = decode(schema, JsonOptions::default(), line).expect_err("a bad line");
    (failed.error.message().to_owned(), failed.error.hint_text().unwrap_or_default().to_owned())
}

/// What the encoder makes of rows, without `op`.
fn encoded(rows: &RecordBatch, options: JsonOptions) -> String {
    let mut out = Vec::new();
    JsonEncoder::new(rows.schema(), options).expect("an encoder").encode(rows, None, &mut out).expect("encoded rows");
    String::from_utf8(out).expect("UTF-8")
}

/// Decodes the lines and encodes them again.
fn through(columns: &[(&str, DataType)], lines: &str) -> String {
    encoded(&rows(columns, lines), JsonOptions::default())
}

const MILLISECONDS: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);

fn zoned(unit: TimeUnit) -> DataType {
    DataType::Timestamp(unit, Some("UTC".into()))
}

fn row_type(fields: &[(&str, DataType)]) -> DataType {
    DataType::Struct(schema(fields).fields().clone())
}

fn list_type(element: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("element", element, true)))
}

fn map_type(value: DataType) -> DataType {
    let entries = vec![Field::new("key", DataType::Utf8View, false), Field::new("value", value, true)];
    DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries.into()), false)), false)
}
