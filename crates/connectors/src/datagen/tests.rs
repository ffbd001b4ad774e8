use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Decimal128Type, Field, Float32Type, Float64Type, Int8Type, Int32Type, Int64Type, Schema, SchemaRef,
    TimeUnit, TimestampMillisecondType,
};
use tidemill_runtime::connector::Options;

use super::*;
use crate::synthetic::Recipe;

mod independence;
mod mistakes;
mod random;
mod sequences;

fn table(columns: &[(&str, DataType)], options: &[(&str, &str)]) -> TableSpec {
    let fields: Vec<Field> =
        columns.iter().map(|(name, data_type)| Field::new(*name, data_type.clone(), true)).collect();
    let mut table = TableSpec {
        name: "t".into(),
        schema: Arc::new(Schema::new(fields)),
        partitioned_by: vec![],
        options: Options::default(),
        folder: PathBuf::new(),
    };
    for (key, value) in options {
        table.options.set(*key, *value, None);
    }
    table
}

fn rows(table: &TableSpec, count: u64) -> RecordBatch {
    let columns = Columns::new(table, &DatagenOptions::from_table(table).unwrap()).unwrap();
    columns.generate(&table.schema, 0..count).unwrap()
}

/// The values of a column `a` of this type.
fn column(data_type: DataType, options: &[(&str, &str)], count: u64) -> ArrayRef {
    Arc::clone(rows(&table(&[("a", data_type)], options), count).column(0))
}

fn list_of(element: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", element, true)))
}

fn map_of(key: DataType, value: DataType) -> DataType {
    let entries = vec![Field::new("keys", key, false), Field::new("values", value, true)];
    DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries.into()), false)), false)
}

fn row_of(fields: &[(&str, DataType)]) -> DataType {
    DataType::Struct(fields.iter().map(|(name, data_type)| Field::new(*name, data_type.clone(), true)).collect())
}

/// Every type that a table can have.
fn every_type() -> Vec<(&'static str, DataType)> {
    vec![
        ("flag", DataType::Boolean),
        ("tiny", DataType::Int8),
        ("small", DataType::Int16),
        ("int", DataType::Int32),
        ("big", DataType::Int64),
        ("float", DataType::Float32),
        ("double", DataType::Float64),
        ("money", DataType::Decimal128(10, 2)),
        ("wide", DataType::Decimal128(38, 0)),
        ("text", DataType::Utf8View),
        ("bytes", DataType::BinaryView),
        ("date", DataType::Date32),
        ("time", DataType::Time32(TimeUnit::Millisecond)),
        ("ms", DataType::Timestamp(TimeUnit::Millisecond, None)),
        ("us", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))),
        ("ns", DataType::Timestamp(TimeUnit::Nanosecond, None)),
        ("list", list_of(list_of(DataType::Int32))),
        ("map", map_of(DataType::Int8, row_of(&[("x", DataType::Utf8View)]))),
        ("row", row_of(&[("x", DataType::Int64), ("y", list_of(DataType::Date32))])),
    ]
}
