use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};

use super::*;

fn options(format: Option<&str>) -> Options {
    let mut options = Options::default();
    if let Some(format) = format {
        options.set("format", format, None);
    }
    options
}

#[test]
fn the_format_is_found_by_name_or_by_default() {
    assert_eq!(TextFormat::from_options(&options(Some("json")), None).unwrap().extension(), "json");
    assert_eq!(TextFormat::from_options(&options(None), Some("json")).unwrap().extension(), "json");
    let missing = TextFormat::from_options(&options(None), None).unwrap_err();
    assert!(missing.message().contains("'format' is missing"), "{missing}");
}

#[test]
fn an_unsupported_format_names_the_supported_ones() {
    let error = TextFormat::from_options(&options(Some("csv")), None).unwrap_err();
    assert_eq!(error.message(), "the format 'csv' is not supported");
    assert_eq!(error.hint_text(), Some("supported formats: json"));
    let error = TextFormat::from_options(&options(Some("jsno")), None).unwrap_err();
    assert!(error.hint_text().is_some(), "{error}");
}

#[test]
fn every_name_of_the_list_makes_a_decoder_and_an_encoder() {
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
    for name in NAMES {
        let format = TextFormat::from_options(&options(Some(name)), None).unwrap();
        format
            .decoder(&ScanRequest { columns: Arc::clone(&schema), batch_rows: 1, keep_rejected: false, follow: false })
            .unwrap();
        format.encoder(Arc::clone(&schema)).unwrap();
    }
}
