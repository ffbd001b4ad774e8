use std::sync::Arc;

use arrow::array::Int64Array;
use arrow::datatypes::{DataType, Field, Schema};

use tidemill_runtime::connector::Options;

use super::*;

fn format(pairs: &[(&str, &str)]) -> Result<FileFormat> {
    let mut options = Options::default();
    for (key, value) in pairs {
        options.set(*key, *value, None);
    }
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
    FileFormat::from_table(&TableSpec { name: "t".into(), schema, partitioned_by: vec![], options, folder: "".into() })
}

#[test]
fn every_name_makes_a_writer_whose_bytes_come_before_the_end_or_at_it() {
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
    let rows = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(Int64Array::from(vec![1, 2]))]).unwrap();
    for name in names() {
        let format = format(&[("format", name)]).unwrap();
        assert!(name.ends_with(format.extension()));
        let (mut writer, mut bytes) = (format.writer(Arc::clone(&schema)).unwrap(), vec![]);
        writer.write(&rows, None, &mut bytes).unwrap();
        let held = writer.held_bytes();
        writer.release(&mut bytes).unwrap();
        assert_eq!(writer.held_bytes(), 0, "{name} held {held}");
        writer.finish(&mut bytes).unwrap();
        assert!(!bytes.is_empty(), "{name}");
    }
}

#[test]
fn an_unknown_format_names_those_of_files() {
    let error = format(&[("format", "avro")]).unwrap_err();
    assert!(error.hint_text().unwrap().ends_with("parquet"), "{error}");
    assert_eq!(format(&[("format", "parket")]).unwrap_err().hint_text(), Some("did you mean 'parquet'?"));
}

#[test]
fn an_option_of_another_format_is_refused() {
    let error = format(&[("format", "json"), ("parquet.compression", "ZSTD")]).unwrap_err();
    assert_eq!(error.message(), "'parquet.compression' is an option of the format 'parquet', and the table has 'json'");
    assert!(format(&[("format", "parquet"), ("json.ignore-parse-errors", "true")]).is_err());
}

#[test]
fn an_unknown_compression_names_the_known_ones() {
    let error = format(&[("format", "parquet"), ("parquet.compression", "LZO")]).unwrap_err();
    assert_eq!(error.hint_text(), Some("use one of: SNAPPY, ZSTD, GZIP, UNCOMPRESSED"));
}
