//! What could not be decoded, as rows.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, BinaryViewArray, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tidemill_core::{EventBatch, Result};

use crate::connector::Rejected;

/// The columns of what could not be decoded: `record`, its text (what is not UTF-8 as U+FFFD);
/// `record_bytes`, its bytes; `error`, what is wrong with it; `source_partition` and
/// `source_offset`, where it stands.
#[must_use]
pub fn rejected_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let field = |name: &str, data_type| Field::new(name, data_type, true);
        Arc::new(Schema::new(vec![
            field("record", DataType::Utf8View),
            field("record_bytes", DataType::BinaryView),
            field("error", DataType::Utf8View),
            field("source_partition", DataType::Utf8View),
            field("source_offset", DataType::Int64),
        ]))
    });
    Arc::clone(&SCHEMA)
}

/// Rows of [`rejected_schema`], for a chunk of `partition` that begins at `first_offset`.
pub(crate) fn rejected_rows(rejected: &[Rejected], partition: &str, first_offset: u64) -> Result<EventBatch> {
    let text = |r: &Rejected| String::from_utf8_lossy(&r.record).into_owned();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringViewArray::from_iter_values(rejected.iter().map(text))),
        Arc::new(BinaryViewArray::from_iter_values(rejected.iter().map(|r| &r.record))),
        Arc::new(StringViewArray::from_iter_values(rejected.iter().map(|r| r.error.message()))),
        Arc::new(StringViewArray::from_iter_values(rejected.iter().map(|_| partition))),
        Arc::new(Int64Array::from_iter_values(rejected.iter().map(|r| (first_offset + r.offset).cast_signed()))),
    ];
    Ok(EventBatch::append(RecordBatch::try_new(rejected_schema(), columns)?))
}
