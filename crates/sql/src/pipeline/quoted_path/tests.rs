//! Names for paths, and declarations that read back.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema};

use super::*;
use crate::parse::ColumnKind;

#[test]
fn a_table_has_the_name_of_its_file() {
    let mut paths = QuotedPaths::default();
    for (path, name) in [
        ("events.jsonl.gz", "events"),
        ("/data/2026-11/Page Views.csv", "page_views"),
        ("logs/", "logs"),
        ("logs/*.json", "logs"),
        ("logs/**/*", "logs"),
        ("2026.parquet", "t_2026"),
        ("*", "input"),
    ] {
        assert_eq!(paths.name_for(path), name, "{path}");
    }
    paths.names.insert("a/events.csv".to_owned(), "events".to_owned());
    paths.declared.insert("events_2".to_owned());
    assert_eq!(paths.name_for("b/events.csv"), "events_3");
}

#[test]
fn a_declaration_reads_back_whatever_the_names() {
    let row = DataType::Struct(Fields::from(vec![
        Field::new("a b", DataType::Int64, true),
        Field::new("SELECT", DataType::new_list(DataType::Utf8View, true), true),
    ]));
    let columns = [("order", DataType::Float64), ("o'clock", DataType::Date32), ("back`tick", row)];
    let fields: Vec<Field> =
        columns.iter().map(|(name, data_type)| Field::new(*name, data_type.clone(), true)).collect();
    let inferred = Inferred {
        columns: Arc::new(Schema::new(fields)),
        partitioned_by: vec!["order".to_owned(), "o'clock".to_owned()],
        options: vec![("path".to_owned(), "it's.json".to_owned())],
        advice: String::new(),
    };
    let text = SqlText::new("test", declaration("group", &inferred));
    let statements = parse(&text).unwrap();
    let [Statement::CreateTable(create)] = statements.as_slice() else { panic!("{statements:?}") };
    assert_eq!(create.name.value, "group");
    assert_eq!(create.options[0].1, "it's.json");
    assert_eq!(create.partitioned_by.iter().map(|name| name.value.as_str()).collect::<Vec<_>>(), ["order", "o'clock"]);
    for (column, (name, data_type)) in create.columns.iter().zip(&columns) {
        assert_eq!(column.name.value, *name);
        assert!(
            matches!(&column.kind, ColumnKind::Physical { data_type: read, .. } if read == data_type),
            "{column:?}"
        );
    }
}
