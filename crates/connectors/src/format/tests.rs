use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};

use super::*;

fn table(format: Option<&str>) -> TableSpec {
    let mut options = Options::default();
    if let Some(format) = format {
        options.set("format", format, None);
    }
    let columns = vec![Field::new("a", DataType::Int64, true), Field::new("day", DataType::Utf8View, true)];
    TableSpec {
        name: "t".into(),
        schema: Arc::new(Schema::new(columns)),
        partitioned_by: vec![],
        options,
        folder: "".into(),
    }
}

fn request(table: &TableSpec, column: usize) -> ScanRequest {
    let columns = Arc::new(Schema::new(vec![table.schema.field(column).clone()]));
    ScanRequest { columns, batch_rows: 1, keep_rejected: false, follow: false, resume: Arc::new([]) }
}

#[test]
fn the_format_is_found_by_name_or_by_default() {
    assert_eq!(TextFormat::from_table(&table(Some("json")), None).unwrap().extension(), "json");
    assert_eq!(TextFormat::from_table(&table(Some("csv")), None).unwrap().extension(), "csv");
    assert_eq!(TextFormat::from_table(&table(None), Some("json")).unwrap().extension(), "json");
    let missing = TextFormat::from_table(&table(None), None).unwrap_err();
    assert!(missing.message().contains("'format' is missing"), "{missing}");
}

#[test]
fn an_unsupported_format_names_the_supported_ones() {
    let error = TextFormat::from_table(&table(Some("protobuf")), None).unwrap_err();
    assert_eq!(error.message(), "the format 'protobuf' is not supported");
    assert_eq!(error.hint_text(), Some("supported formats: csv, debezium-json, json"));
    let error = TextFormat::from_table(&table(Some("jsno")), None).unwrap_err();
    assert!(error.hint_text().is_some(), "{error}");
}

#[test]
fn every_name_of_the_list_makes_a_decoder_and_an_encoder() {
    for name in NAMES {
        let table = table(Some(name));
        let format = TextFormat::from_table(&table, None).unwrap();
        match format.check_readable(&table.options) {
            Ok(()) => drop(format.decoder(&request(&table, 0)).unwrap()),
            Err(error) => assert_eq!(format.decoder(&request(&table, 0)).err().unwrap().message(), error.message()),
        }
        format.encoder(Arc::clone(&table.schema)).unwrap();
    }
}

#[test]
fn a_partition_column_has_no_place_in_a_csv_record() {
    let mut table = table(Some("csv"));
    let decode = |table: &TableSpec, column| {
        let decoder = TextFormat::from_table(table, None).unwrap().decoder(&request(table, column)).unwrap();
        decoder.decode(&Buffer::from(b"1\n".to_vec()), true)
    };
    assert!(decode(&table, 0).unwrap_err().error.message().contains("2 columns"));
    table.partitioned_by = vec!["day".into()];
    assert_eq!(decode(&table, 0).unwrap().rows.num_rows(), 1);
    table.partitioned_by = vec!["a".into()];
    assert_eq!(decode(&table, 1).unwrap().rows.num_rows(), 1);
}

#[test]
fn csv_refuses_a_type_that_it_does_not_have_before_anything_runs() {
    let mut table = table(Some("csv"));
    let entries = vec![Field::new("key", DataType::Utf8View, false), Field::new("value", DataType::Int64, true)];
    let entries = Field::new("entries", DataType::Struct(entries.into()), false);
    table.schema = Arc::new(Schema::new(vec![Field::new("m", DataType::Map(Arc::new(entries), false), true)]));
    let error = TextFormat::from_table(&table, None).unwrap_err();
    assert_eq!(error.message(), "the format 'csv' does not have the type MAP of the column 'm'");
}
