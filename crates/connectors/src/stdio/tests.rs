use std::path::PathBuf;

use arrow::datatypes::{DataType, Field, Schema};
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
