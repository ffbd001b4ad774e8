use std::path::PathBuf;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, IntervalUnit, Schema};
use tidemill_core::{EventBatch, RowKind};
use tidemill_runtime::connector::{ChangelogMode, Options};

use super::*;

fn table(options: &[(&str, &str)], columns: Vec<Field>) -> TableSpec {
    let mut table = TableSpec {
        name: "shown".into(),
        schema: Arc::new(Schema::new(columns)),
        partitioned_by: vec![],
        options: Options::default(),
        folder: PathBuf::new(),
    };
    for (key, value) in options {
        table.options.set(*key, *value, None);
    }
    table
}

#[test]
fn every_row_is_a_line_with_its_kind() {
    let columns: [(&str, ArrayRef); 3] = [
        ("a", Arc::new(Int64Array::from(vec![1, 1]))),
        ("b", Arc::new(StringArray::from(vec!["Ada", "Bob"]))),
        ("c", Arc::new(StringArray::from(vec![None, Some("x")]))),
    ];
    let mut batch = EventBatch::append(RecordBatch::try_from_iter(columns).unwrap());
    let mut out = String::new();
    sink::write_rows(&mut out, "", &batch).unwrap();
    assert_eq!(out, "+I[1, Ada, null]\n+I[1, Bob, x]\n");

    batch.kinds = Some([RowKind::UpdateBefore, RowKind::UpdateAfter].into());
    out.clear();
    sink::write_rows(&mut out, "orders> ", &batch).unwrap();
    assert_eq!(out, "orders> -U[1, Ada, null]\norders> +U[1, Bob, x]\n");
}

#[test]
fn it_takes_changes_and_gives_nothing() {
    let table = table(&[("print-identifier", "x"), ("standard-error", "TRUE")], vec![]);
    assert_eq!(PrintConnector.sink(&table, WriteMode::Append).unwrap().changelog(), ChangelogMode::Retract);
    assert!(PrintConnector.source(&table).is_err());
}

#[test]
fn a_wrong_option_or_column_is_refused() {
    assert!(PrintConnector.sink(&table(&[("standard-error", "yes")], vec![]), WriteMode::Append).is_err());
    let column = Field::new("gap", DataType::Interval(IntervalUnit::DayTime), true);
    let error = PrintConnector.sink(&table(&[], vec![column]), WriteMode::Append).err().unwrap();
    assert!(error.message().contains("'gap'"), "{error}");
}
