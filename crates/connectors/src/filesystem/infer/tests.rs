//! Declarations that are found out, and that they read what they were found in.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Int32Array, Int64Array, IntervalYearMonthArray, NullArray, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow::datatypes::{DataType, TimeUnit};
use tempfile::TempDir;
use tidemill_core::ErrorKind;

use super::*;
use crate::format::sql_type;

const INFERENCE: FileInference = FileInference { sample_rows: 100, format: None, header: None };

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// `name TYPE, ...`
fn columns(inferred: &Inferred) -> String {
    let columns = inferred.columns.fields().iter();
    columns.map(|f| format!("{} {}", f.name(), sql_type(f.data_type()))).collect::<Vec<_>>().join(", ")
}

/// The options of the format: `key=value, ...`
fn options(inferred: &Inferred) -> String {
    inferred.options[3..].iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
}

fn csv(text: &str, header: Option<bool>) -> (String, String) {
    let folder = folder(&[("t.csv", text)]);
    let inferred = FileInference { header, ..INFERENCE }.infer("t.csv", folder.path()).unwrap();
    (columns(&inferred), options(&inferred))
}

#[test]
fn columns_of_json_are_as_wide_as_their_values() {
    let folder = folder(&[(
        "t.jsonl",
        "\u{feff}{\"id\":1,\"amount\":2,\"tags\":[],\"user\":{\"name\":\"Ada\"},\"at\":\"2026-01-01T10:00:00Z\",\"x\":null}\n\n\
         {\"amount\":2.5,\"id\":18446744073709551615,\"tags\":[\"a\"],\"user\":{\"age\":36},\"at\":\"2026-01-01T10:00:00.5Z\"}\n\
         not an object\n\
         {\"mixed\":1,\"day\":\"2026-01-01\"}\n{\"mixed\":\"a\",\"day\":\"2026-02-01\",\"local\":\"2026-01-01 10:00:00\"}\n",
    )]);
    let inferred = INFERENCE.infer("t.jsonl", folder.path()).unwrap();
    assert_eq!(
        columns(&inferred),
        "id DECIMAL(38, 0), amount DOUBLE, tags ARRAY<STRING>, user ROW, \
         at TIMESTAMP_LTZ(3), x STRING, mixed STRING, day DATE, local STRING"
    );
    let DataType::Struct(user) = inferred.columns.field(3).data_type() else { panic!("{inferred:?}") };
    let user: Vec<_> = user.iter().map(|field| (field.name().as_str(), field.data_type())).collect();
    assert_eq!(user, [("name", &DataType::Utf8View), ("age", &DataType::Int64)]);
    assert_eq!(options(&inferred), "json.timestamp-format.standard=ISO-8601");
    assert_eq!(inferred.options[1], ("path".to_owned(), "t.jsonl".to_owned()));
    assert!(inferred.columns.fields().iter().all(|field| field.is_nullable()));
}

#[test]
fn a_header_is_a_first_record_of_different_texts() {
    let text = "id,at,zip\n1,2026-01-01 10:00:00,01234\n2,,\n";
    let header = "csv.null-literal=, csv.ignore-first-line=true";
    assert_eq!(csv(text, None), ("id BIGINT, at TIMESTAMP(3), zip STRING".to_owned(), header.to_owned()));
    assert_eq!(csv("1,a\n2,b\n", None), ("f0 BIGINT, f1 STRING".to_owned(), "csv.null-literal=".to_owned()));
    assert_eq!(csv("a,a\nb,c\n", None).0, "f0 STRING, f1 STRING");
    assert_eq!(csv("a,b\n", Some(false)).0, "f0 STRING, f1 STRING");
    assert_eq!(csv("1, ,1\n2,3,4\n", Some(true)).0, "1 BIGINT, f1 BIGINT, 1_2 BIGINT");
    let delimited = format!("{header}, csv.field-delimiter=\\t");
    assert_eq!(
        csv("a b\tc,d\te\n1\t\"x\ty\"\t2.5\n", None),
        ("a b BIGINT, c,d STRING, e DOUBLE".to_owned(), delimited)
    );
    assert!(csv("a;b\n1;2,5\n", None).1.ends_with("csv.field-delimiter=;"));
}

#[test]
fn blank_lines_before_the_first_record_say_nothing() {
    let (columns, options) = csv("\n\r\nid;name\n1;a\n", None);
    assert_eq!(columns, "id BIGINT, name STRING");
    assert_eq!(options, "csv.null-literal=, csv.ignore-first-line=true, csv.field-delimiter=;");
}

#[test]
fn the_header_of_a_file_that_is_not_in_the_sample_is_looked_at_too() {
    let others: Vec<(String, &str)> = (0..40).map(|n| (format!("{n:02}.csv"), "a,b\n1,x\n")).collect();
    // Of 40 files the sample has 00 to 03, and 05.
    let inferred = |text: &str, header: Option<bool>| {
        let mut files: Vec<(&str, &str)> = others.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        files[4].1 = text;
        FileInference { header, ..INFERENCE }.infer("*.csv", folder(&files).path())
    };
    for text in ["b,a\nx,1\n", "1,x\n", "\nb,a\n"] {
        let error = inferred(text, None).unwrap_err();
        let message = "'04.csv' does not have the header of '00.csv': columns are found by position";
        assert_eq!((error.message(), error.kind()), (message, ErrorKind::Data));
        assert!(inferred(text, Some(false)).is_ok(), "where there is no header, nothing is compared");
    }
    for text in ["a,b\ntext,x\n", "\na,b\n", ""] {
        assert_eq!(columns(&inferred(text, None).unwrap()), "a BIGINT, b STRING", "its rows are not in the sample");
    }
}

#[test]
fn files_of_a_folder_are_looked_at_together() {
    let files = folder(&[("d/a.json", "{\"a\":1}\n"), ("d/b.ndjson", "{\"b\":true}\n"), ("d/_c.csv", "x")]);
    assert_eq!(columns(&INFERENCE.infer("d", files.path()).unwrap()), "a BIGINT, b BOOLEAN");
    let many: Vec<(String, String)> = (0..100).map(|n| (format!("{n:02}.json"), format!("{{\"c{n}\":1}}\n"))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let spread = folder(&many);
    let inferred = INFERENCE.infer("*.json", spread.path()).unwrap();
    assert_eq!(inferred.columns.fields().len(), MAX_FILES);
    assert!(inferred.columns.field_with_name("c96").is_ok());
}

#[test]
fn folders_that_say_a_value_are_columns() {
    let row = "{\"a\":1}\n";
    let files = folder(&[
        ("d/day=2026-01-01/hour=1/x.json", row),
        ("d/day=2026-01-02/hour=__DEFAULT_PARTITION__/x.json", row),
        ("e/day=1/x.json", row),
        ("e/day=a%2Fb/x.json", "{\"day\":5,\"b\":2}\n"),
    ]);
    let inferred = |path: &str| {
        let inferred = INFERENCE.infer(path, files.path()).unwrap();
        (columns(&inferred), inferred.partitioned_by.join(", "))
    };
    let named = |columns: &str, partitioned_by: &str| (columns.to_owned(), partitioned_by.to_owned());
    assert_eq!(inferred("d"), named("a BIGINT, day DATE, hour BIGINT", "day, hour"));
    assert_eq!(inferred("d/day=2026-01-01"), named("a BIGINT, day DATE, hour BIGINT", "day, hour"));
    assert_eq!(inferred("e"), named("a BIGINT, b BIGINT, day STRING", "day"));
}

#[test]
fn a_file_beside_the_folders_is_named() {
    let row = "{\"a\":1}\n";
    let files = folder(&[
        ("f/day=1/x.json", row),
        ("f/x.json", row),
        ("g/day=1/hour=2/x.json", row),
        ("g/day=1/x.json", row),
        ("h/day=1/hour=2/x.json", row),
        ("h/hour=2/day=1/x.json", row),
        ("i/0.json", row),
        ("i/day=1/x.json", row),
        ("k/day=1/day=2/x.json", row),
    ]);
    for (path, message) in [
        ("f", "'f' holds files in folders 'day=...', and 'f/x.json' is in none"),
        ("g", "'g' holds files in folders 'hour=...', and 'g/day=1/x.json' is in none"),
        (
            "h",
            "the folders of 'h/day=1/hour=2/x.json' and 'h/hour=2/day=1/x.json' are not of the same columns in order",
        ),
        ("i", "'i' holds files in folders 'day=...', and 'i/0.json' is in none"),
        ("k", "'k/day=1/day=2/x.json' stands in two folders that say the column 'day'"),
    ] {
        let error = INFERENCE.infer(path, files.path()).unwrap_err();
        assert_eq!((error.message(), error.kind()), (message, ErrorKind::Invalid));
    }
    assert_eq!(columns(&INFERENCE.infer("f/*=*/*", files.path()).unwrap()), "a BIGINT, day BIGINT");
}

#[test]
fn the_sample_ends() {
    let rows: String = (0..150).map(|n| if n < 100 { "{\"a\":1}\n" } else { "{\"a\":\"x\"}\n" }).collect();
    let files = folder(&[("t.json", &rows)]);
    assert_eq!(columns(&INFERENCE.infer("t.json", files.path()).unwrap()), "a BIGINT");
    let more = FileInference { sample_rows: 101, ..INFERENCE };
    assert_eq!(columns(&more.infer("t.json", files.path()).unwrap()), "a STRING");
}

#[test]
fn compressed_text_is_read_as_text() {
    let files = folder(&[]);
    let path = files.path().join("t.csv.gz");
    let mut gzip = flate2::write::GzEncoder::new(fs::File::create(path).unwrap(), flate2::Compression::fast());
    gzip.write_all(b"a,b\n1,x\n").unwrap();
    gzip.finish().unwrap();
    assert_eq!(columns(&INFERENCE.infer("t.csv.gz", files.path()).unwrap()), "a BIGINT, b STRING");
}

fn parquet_file(path: PathBuf, columns: Vec<(&str, ArrayRef)>) {
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ::parquet::arrow::ArrowWriter::try_new(fs::File::create(path).unwrap(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
}

#[test]
fn parquet_has_its_own_columns() {
    let files = folder(&[]);
    let text = || -> ArrayRef { Arc::new(StringArray::from(vec!["x"])) };
    let moment = TimestampNanosecondArray::from(vec![0]).with_timezone("Europe/Berlin");
    let first = vec![("id", Arc::new(Int32Array::from(vec![1])) as _), ("at", Arc::new(moment) as _)];
    parquet_file(files.path().join("a.parquet"), first);
    parquet_file(files.path().join("b.parquet"), vec![("id", Arc::new(Int64Array::from(vec![1])) as _), ("s", text())]);
    let inferred = INFERENCE.infer("*.parquet", files.path()).unwrap();
    assert_eq!(columns(&inferred), "id BIGINT, at TIMESTAMP_LTZ(9), s STRING");
    assert_eq!(
        *inferred.columns.field(1).data_type(),
        DataType::Timestamp(TimeUnit::Nanosecond, Some("+00:00".into()))
    );

    parquet_file(files.path().join("c.parquet"), vec![("id", text())]);
    let error = INFERENCE.infer("*.parquet", files.path()).unwrap_err();
    assert_eq!(error.message(), "c.parquet: the column 'id' is Int64 in one file and Utf8 in another");
    parquet_file(files.path().join("d.parquet"), vec![("n", Arc::new(UInt64Array::from(vec![1])) as _)]);
    assert_eq!(columns(&INFERENCE.infer("d.parquet", files.path()).unwrap()), "n DECIMAL(20, 0)");
    let gaps = Arc::new(IntervalYearMonthArray::from(vec![1]));
    parquet_file(files.path().join("e.parquet"), vec![("gap", gaps as _), ("n", Arc::new(NullArray::new(1)) as _)]);
    assert_eq!(columns(&INFERENCE.infer("e.parquet", files.path()).unwrap()), "gap STRING, n STRING");
}

#[test]
fn what_can_not_be_told_is_said() {
    let files = folder(&[
        ("t.log", "x"),
        ("mixed/a.csv", "x"),
        ("mixed/b.json", "{}"),
        ("array.json", "[{\"a\":1}]"),
        ("text.json", "hello\n"),
        ("empty.csv", ""),
        ("headers/a.csv", "a,b\n"),
        ("headers/b.csv", "b,a\n"),
        ("hidden/_a.csv", ""),
        ("bad.parquet", "x"),
        ("returns.csv", "a,b\r1,2\r"),
    ]);
    fs::write(files.path().join("latin.csv"), b"n\xe9,b\n1,2\n").unwrap();
    for (path, kind, message) in [
        ("t.log", ErrorKind::Invalid, "the name of 't.log' does not tell its format"),
        ("mixed", ErrorKind::Invalid, "'mixed' holds files of several formats: 'mixed/a.csv' and 'mixed/b.json'"),
        ("array.json", ErrorKind::Data, "array.json: it is one JSON array, and must have one object a line"),
        ("text.json", ErrorKind::Data, "text.json: no line of the sample is a JSON object; the first is: hello"),
        ("returns.csv", ErrorKind::Data, "returns.csv: its lines end with a carriage return alone"),
        ("latin.csv", ErrorKind::Data, "latin.csv: the first record is not UTF-8 from its byte 2 on"),
        ("empty.csv", ErrorKind::Data, "empty.csv: there is no record that would show the columns"),
        (
            "headers",
            ErrorKind::Data,
            "'headers/b.csv' does not have the header of 'headers/a.csv': columns are found by position",
        ),
        ("hidden", ErrorKind::Unavailable, "there is no file in 'hidden'"),
        ("s3x://bucket/a.csv", ErrorKind::Invalid, "the file system 's3x' is not supported"),
    ] {
        let error = INFERENCE.infer(path, files.path()).unwrap_err();
        assert_eq!((error.message(), error.kind()), (message, kind));
    }
    let error = INFERENCE.infer("bad.parquet", files.path()).unwrap_err();
    assert!(error.message().starts_with("bad.parquet: this is not a whole Parquet file"), "{error}");
    let told = FileInference { format: Some(InferredFormat::Csv), ..INFERENCE };
    assert_eq!(columns(&told.infer("t.log", files.path()).unwrap()), "x STRING");
}
