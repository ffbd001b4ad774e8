//! What `SHOW`, `DESCRIBE` and `EXPLAIN` answer: told once, before the statements of the file run.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema};
use tidemill_core::Result;

use super::PlannedStatement;
use crate::catalog::Table;
use crate::types::flink_type_name;

/// One answer.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Rows of text.
    Rows(RecordBatch),
    /// A statement whose plan is to be shown; it does not run.
    Plan(Box<PlannedStatement>),
}

/// One column of names.
pub(super) fn names(column: &str, names: Vec<String>) -> Result<RecordBatch> {
    rows(&[column], names.into_iter().map(|name| vec![Some(name)]).collect())
}

const DESCRIBED: [&str; 6] = ["name", "type", "null", "key", "extras", "watermark"];

/// The columns of a table, as Flink describes them.
pub(super) fn table_columns(table: &Table) -> Result<RecordBatch> {
    let described = |field: &Arc<Field>| {
        let name = field.name();
        let computed = table.computed.get(name).map(|computed| format!("AS {}", computed.written));
        let event_time = table.event_time.as_ref().filter(|event_time| event_time.name == *name);
        let watermark = event_time.map(|event_time| event_time.written.clone());
        column(field, computed, watermark)
    };
    rows(&DESCRIBED, table.schema().fields().iter().map(described).collect())
}

/// The columns of a view.
pub(super) fn view_columns(schema: &Schema) -> Result<RecordBatch> {
    rows(&DESCRIBED, schema.fields().iter().map(|field| column(field, None, None)).collect())
}

fn column(field: &Field, extras: Option<String>, watermark: Option<String>) -> Vec<Option<String>> {
    let null = if field.is_nullable() { "TRUE" } else { "FALSE" };
    vec![
        Some(field.name().clone()),
        Some(flink_type_name(field.data_type())),
        Some(null.to_owned()),
        None,
        extras,
        watermark,
    ]
}

fn rows(columns: &[&str], rows: Vec<Vec<Option<String>>>) -> Result<RecordBatch> {
    let fields: Vec<Field> = columns.iter().map(|name| Field::new(*name, DataType::Utf8View, true)).collect();
    let column =
        |index: usize| -> ArrayRef { Arc::new(rows.iter().map(|row| row[index].clone()).collect::<StringViewArray>()) };
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), (0..columns.len()).map(column).collect())?)
}
