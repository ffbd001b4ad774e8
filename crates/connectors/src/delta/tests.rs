//! What is refused before anything runs.

use std::path::PathBuf;

use arrow::datatypes::{DataType, Field, Schema};
use tidemill_core::ErrorKind;
use tidemill_runtime::connector::Options;

use super::*;

fn table(options: &[(&str, &str)]) -> TableSpec {
    let mut table = TableSpec {
        name: "t".into(),
        partitioned_by: vec![],
        schema: Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)])),
        options: Options::default(),
        folder: PathBuf::from("/base"),
    };
    options.iter().for_each(|(key, value)| table.options.set(*key, *value, None));
    table
}

#[test]
fn a_delta_table_is_written_and_not_read() {
    let error = DeltaConnector.source(&table(&[(TABLE_PATH, "x")])).err().unwrap();
    assert_eq!(error.message(), "the table 't' can't be read: 'delta' is a sink");
}

#[test]
fn the_path_is_that_of_a_folder_of_this_machine() {
    let path = |written: &str| options::table_path(&table(&[(TABLE_PATH, written)]));
    for written in ["x/y", "file:x/y", "/base/x/y", "file:///base/x/y"] {
        assert_eq!(path(written).unwrap().folder, PathBuf::from("/base/x/y"), "{written}");
    }
    for (written, message) in [
        ("", "the option 'table-path' is empty"),
        ("file://host/x", "the URL 'file://host/x' names a host"),
        ("a%20b", "the path of a Delta table can't have '%': '/base/a%20b'"),
        ("s3://bucket/x", "Delta tables are not written to the file system 's3'"),
    ] {
        let error = path(written).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Invalid, message));
    }
    assert_eq!(options::table_path(&table(&[])).unwrap_err().message(), "the option 'table-path' is missing");
}
