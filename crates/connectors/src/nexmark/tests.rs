use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Fields, Int32Type, Int64Type, Schema, SchemaRef, TimestampMillisecondType};
use tidemill_runtime::connector::Options;

use super::record::TIME;
use super::*;
use crate::synthetic::Recipe;

mod distributions;
mod independence;
mod mistakes;

/// The columns of the Nexmark project's table, and `dateTime`.
fn schema() -> SchemaRef {
    let row = |fields: &str| {
        let field = |declared: &str| {
            let (name, data_type) = declared.split_once(' ').unwrap();
            let data_type = match data_type {
                "BIGINT" => DataType::Int64,
                "STRING" => DataType::Utf8View,
                _ => TIME,
            };
            Field::new(name, data_type, true)
        };
        DataType::Struct(fields.split(", ").map(field).collect::<Fields>())
    };
    let person = "id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING, \
                  dateTime TIME, extra STRING";
    let auction = "id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, dateTime TIME, \
                   expires TIME, seller BIGINT, category BIGINT, extra STRING";
    let bid = "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIME, extra STRING";
    Arc::new(Schema::new(vec![
        Field::new("event_type", DataType::Int32, true),
        Field::new("person", row(person), true),
        Field::new("auction", row(auction), true),
        Field::new("bid", row(bid), true),
        Field::new("dateTime", TIME, true),
    ]))
}

fn table(schema: SchemaRef, options: &[(&str, &str)]) -> TableSpec {
    let mut table = TableSpec {
        name: "events".into(),
        schema,
        partitioned_by: vec![],
        options: Options::default(),
        folder: PathBuf::new(),
    };
    for (key, value) in options {
        table.options.set(*key, *value, None);
    }
    table
}

fn recipe(options: &[(&str, &str)]) -> Nexmark {
    Nexmark::new(NexmarkOptions::from_table(&table(schema(), options)).unwrap().model)
}

fn events_of(options: &[(&str, &str)], numbers: Range<u64>) -> RecordBatch {
    recipe(options).generate(&schema(), numbers).unwrap()
}

/// A field of a record, where there is one.
fn longs(events: &RecordBatch, record: &str, field: &str) -> Vec<Option<i64>> {
    let column = field_of(events, record, field);
    match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().iter().collect(),
        _ => column.as_primitive::<TimestampMillisecondType>().iter().collect(),
    }
}

fn texts(events: &RecordBatch, record: &str, field: &str) -> Vec<String> {
    field_of(events, record, field).as_string_view().iter().flatten().map(str::to_owned).collect()
}

fn field_of(events: &RecordBatch, record: &str, field: &str) -> ArrayRef {
    Arc::clone(events.column_by_name(record).unwrap().as_struct().column_by_name(field).unwrap())
}
