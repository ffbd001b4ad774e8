//! What the tests share: schemas in a line, decoding in a line.

mod cuts;
mod damage;
mod encoding;
mod options;
mod oracle;
mod records;
mod values;

use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use tidemill_runtime::connector::{DecodeError, Decoded, Options};

use super::{CsvDecoder, CsvEncoder, CsvOptions};

const MILLISECONDS: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);

/// Nullable columns.
fn schema(columns: &[(&str, DataType)]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(|(name, t)| Field::new(*name, t.clone(), true)).collect::<Vec<_>>()))
}

/// Columns `a`, `b`, ... of strings.
fn strings(count: usize) -> SchemaRef {
    let names: Vec<String> = (0..count).map(|i| char::from(b'a' + i as u8).to_string()).collect();
    schema(&names.iter().map(|name| (name.as_str(), DataType::Utf8View)).collect::<Vec<_>>())
}

/// Options by the ends of their keys.
fn options(set: &[(&str, &str)]) -> CsvOptions {
    let mut options = Options::default();
    for (key, value) in set {
        options.set(format!("csv.{key}"), *value, None);
    }
    CsvOptions::from_options(&options).expect("options that are right")
}

fn decode(schema: &SchemaRef, options: &CsvOptions, text: &[u8]) -> Result<Decoded, DecodeError> {
    let decoder = CsvDecoder::new(schema.clone(), schema, options.clone()).expect("types that CSV has");
    let decoded = decoder.decode(&Buffer::from(text.to_vec()), true)?;
    check(&decoded.rows);
    Ok(decoded)
}

/// Views are made without a check: checks them.
fn check(rows: &RecordBatch) {
    for column in rows.columns() {
        column.to_data().validate_full().expect("a valid array");
    }
}

/// The rows of good records, in the form of [`shown`].
fn rows(schema: &SchemaRef, options: &CsvOptions, text: &str) -> Vec<String> {
    shown(&decode(schema, options, text.as_bytes()).expect("good records").rows)
}

/// The message and hint of a bad record.
fn refusal(schema: &SchemaRef, options: &CsvOptions, text: &[u8]) -> (String, String) {
    let failed = decode(schema, options, text).expect_err("a bad record");
    (failed.error.message().to_owned(), failed.error.hint_text().unwrap_or_default().to_owned())
}

/// Each row with `|` between its columns, as Arrow shows them; NULL is `~`.
fn shown(rows: &RecordBatch) -> Vec<String> {
    let format = arrow::util::display::FormatOptions::default().with_null("~");
    let columns: Vec<_> = rows.columns().iter().map(|column| column.as_ref()).collect();
    let cell = |column: &&dyn Array, row| {
        if column.data_type() == &DataType::Utf8View && column.is_valid(row) {
            return column.as_string_view().value(row).to_owned();
        }
        let formatter = arrow::util::display::ArrayFormatter::try_new(*column, &format).expect("a known type");
        formatter.value(row).to_string()
    };
    (0..rows.num_rows()).map(|row| columns.iter().map(|c| cell(c, row)).collect::<Vec<_>>().join("|")).collect()
}

/// What the encoder makes of rows.
fn encoded(rows: &RecordBatch, options: &CsvOptions) -> String {
    let mut out = Vec::new();
    let encoder = CsvEncoder::new(rows.schema(), options.clone()).expect("an encoder");
    encoder.encode(rows, None, &mut out).expect("encoded rows");
    String::from_utf8(out).expect("UTF-8")
}

fn row_type(fields: &[(&str, DataType)]) -> DataType {
    DataType::Struct(schema(fields).fields().clone())
}

fn list_type(element: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("element", element, true)))
}
