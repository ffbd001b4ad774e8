use std::path::PathBuf;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use tidemill_core::EventBatch;
use tidemill_runtime::connector::{ChangelogMode, Options};

use super::*;

fn table(options: &[(&str, &str)]) -> TableSpec {
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
    let mut table = TableSpec {
        name: "t".into(),
        partitioned_by: vec![],
        schema,
        options: Options::default(),
        folder: PathBuf::new(),
    };
    for (key, value) in options {
        table.options.set(*key, *value, None);
    }
    table
}

#[test]
fn the_format_is_json_unless_said_otherwise() {
    for options in [&[][..], &[("format", "json")]] {
        assert!(StdioConnector.source(&table(options)).unwrap().bounded());
        assert_eq!(StdioConnector.sink(&table(options), WriteMode::Append).unwrap().changelog(), ChangelogMode::Append);
    }
    let changes = table(&[("format", "debezium-json")]);
    assert_eq!(StdioConnector.sink(&changes, WriteMode::Append).unwrap().changelog(), ChangelogMode::Retract);
    assert!(StdioConnector.source(&changes).err().unwrap().message().contains("can't be read yet"));
    let error = StdioConnector.source(&table(&[("format", "protobuf")])).err().unwrap();
    assert_eq!(error.hint_text(), Some("supported formats: csv, debezium-json, json"));
}

#[tokio::test]
async fn null_in_a_column_that_is_not_null_is_not_written() {
    let mut table = table(&[]);
    table.schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, false)]));
    let mut sink = StdioConnector.sink(&table, WriteMode::Append).unwrap().open().unwrap();
    let column: ArrayRef = Arc::new(Int64Array::from(vec![None]));
    let rows = RecordBatch::try_from_iter_with_nullable([("a", column, true)]).unwrap();
    let error = sink.write(&EventBatch::append(rows)).await.unwrap_err();
    assert_eq!(error.message(), "the column 'a' is NOT NULL, and a row has NULL there");
}
