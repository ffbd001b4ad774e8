//! Which lines hold rows, which fields become columns, and what the options change.

use arrow::datatypes::Field;
use tidemill_runtime::connector::Options;

use super::super::TimestampFormat;
use super::*;

const IGNORE: JsonOptions = JsonOptions {
    timestamp_format: TimestampFormat::Sql,
    ignore_parse_errors: true,
    fail_on_missing_field: false,
    ignore_null_fields: false,
};

fn id() -> SchemaRef {
    schema(&[("id", DataType::Int64)])
}

#[test]
fn blank_lines_hold_no_row_but_count() {
    let decoded = decode(&id(), JsonOptions::default(), b"{\"id\":1}\r\n\n  \r\n{\"id\":2}\n{\"id\":3}").unwrap();
    assert_eq!(encoded(&decoded.rows, JsonOptions::default()), "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n");
    assert_eq!(decoded.offsets, Some(vec![0, 3, 4]));
    assert_eq!(decoded.offset_count, 5);
}

#[test]
fn rows_without_gaps_need_no_offsets() {
    let decoded = decode(&id(), JsonOptions::default(), b"{\"id\":1}\n{\"id\":2}\n").unwrap();
    assert_eq!((decoded.offsets, decoded.offset_count), (None, 2));
    let empty = decode(&id(), JsonOptions::default(), b"").unwrap();
    assert_eq!((empty.rows.num_rows(), empty.offset_count), (0, 0));
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_first_of_a_file_only() {
    let decoder = JsonDecoder::new(id(), JsonOptions::default()).unwrap();
    let lines = Buffer::from(b"\xef\xbb\xbf{\"id\":1}\n".to_vec());
    assert_eq!(decoder.decode(&lines, true).unwrap().rows.num_rows(), 1);
    assert!(decoder.decode(&lines, false).is_err());
}

#[test]
fn no_columns_still_count_rows_and_check_lines() {
    let none = schema(&[]);
    assert_eq!(decode(&none, JsonOptions::default(), b"{\"a\":[1,{}]}\n{}\n").unwrap().rows.num_rows(), 2);
    assert_eq!(decode(&none, JsonOptions::default(), b"{}\n{\"a\":[1,}]}\n").unwrap_err().offset, 1);
}

#[test]
fn fields_come_in_any_order_and_the_last_of_a_name_wins() {
    let columns = [("a", DataType::Int64), ("b", DataType::Utf8View)];
    let lines = "{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\",\"x\":[{\"a\":9}],\"a\":2}\n{\"a\":3,\"A\":4}\n\
                 {\"a\":5,\"b\":\"z\",\"a\":null}\n{\"\\u0061\":null,\"a\":6}\n";
    let expected = "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n{\"a\":3,\"b\":null}\n\
                    {\"a\":null,\"b\":\"z\"}\n{\"a\":6,\"b\":null}\n";
    assert_eq!(through(&columns, lines), expected);
}

#[test]
fn parse_errors_can_be_ignored() {
    let schema =
        schema(&[("id", DataType::Int64), ("r", row_type(&[("x", DataType::Int8), ("y", DataType::Utf8View)]))]);
    let lines = b"{\"id\":\"?\",\"r\":{\"x\":1000,\"y\":\"k\"}}\n{\"id\":2,\"r\":[1]}\nnonsense\n{\"id\":3,\"r\":{\"x\":1\n\xff\n{\"id\":4}\n";
    let decoded = decode(&schema, IGNORE, lines).unwrap();
    let expected = "{\"id\":null,\"r\":{\"x\":null,\"y\":\"k\"}}\n{\"id\":2,\"r\":null}\n{\"id\":4,\"r\":null}\n";
    assert_eq!(encoded(&decoded.rows, IGNORE), expected);
    assert_eq!((decoded.offsets, decoded.offset_count), (Some(vec![0, 1, 5]), 6));
}

#[test]
fn the_first_bad_line_is_named() {
    let failed = decode(&id(), JsonOptions::default(), b"{\"id\":1}\n\n{\"id\":x}\n{\"id\":\"\xff\"}\n").unwrap_err();
    assert_eq!(failed.offset, 2);
    let failed = decode(&id(), JsonOptions::default(), b"{\"id\":1}\n{\"id\":\"\xff\"}\n{\"id\":x}\n").unwrap_err();
    assert_eq!(failed.offset, 1);
    assert!(failed.error.message().contains("a byte that is not UTF-8 at byte 8"), "{}", failed.error);
}

#[test]
fn a_column_that_must_have_a_value_says_so() {
    let nested = Field::new("r", DataType::Struct(vec![Field::new("x", DataType::Int64, false)].into()), true);
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false), nested]));
    for (line, message) in [
        ("{}", "column 'id' is NOT NULL, but has no value in the line: {}"),
        ("{\"id\":null}", "column 'id' is NOT NULL, but has no value in the line: {\"id\":null}"),
        ("{\"id\":1,\"r\":{}}", "column 'r.x' is NOT NULL, but has no value in the line: {\"id\":1,\"r\":{}}"),
    ] {
        assert_eq!(refusal(&schema, line.as_bytes()).0, message);
    }
    assert_eq!(decode(&schema, JsonOptions::default(), b"{\"id\":1,\"r\":null}").unwrap().rows.num_rows(), 1);
    assert_eq!(decode(&schema, IGNORE, b"{\"id\":1}\n{\"id\":null}\n{\"id\":\"x\"}").unwrap().rows.num_rows(), 1);
}

#[test]
fn a_missing_field_can_be_an_error() {
    let options = JsonOptions { fail_on_missing_field: true, ..JsonOptions::default() };
    assert!(decode(&id(), options.clone(), b"{\"id\":null}").is_ok());
    let failed = decode(&id(), options, b"{\"x\":1}").unwrap_err();
    assert_eq!(failed.error.message(), "column 'id' has no field in the line: {\"x\":1}");
}

#[test]
fn a_type_that_json_does_not_have_is_refused() {
    let columns = schema(&[("d", row_type(&[("e", DataType::Utf8)]))]);
    let error = JsonDecoder::new(columns.clone(), JsonOptions::default()).unwrap_err();
    assert_eq!(error.message(), "the format 'json' does not have the type Utf8 of the column 'e'");
    assert!(JsonEncoder::new(columns, JsonOptions::default()).is_err());
}

#[test]
fn options_are_read_by_their_flink_names() {
    let mut options = Options::default();
    assert_eq!(JsonOptions::from_options(&options).unwrap(), JsonOptions::default());
    options.set("json.timestamp-format.standard", "ISO-8601", None);
    options.set("json.ignore-parse-errors", "true", None);
    let read = JsonOptions::from_options(&options).unwrap();
    assert_eq!((read.timestamp_format, read.ignore_parse_errors), (TimestampFormat::Iso8601, true));
    options.set("json.fail-on-missing-field", "true", None);
    assert!(JsonOptions::from_options(&options).unwrap_err().message().contains("can't both be 'true'"));
}

#[test]
fn a_decoder_is_shared_by_workers() {
    fn shared<T: Send + Sync>() {}
    shared::<JsonDecoder>();
    shared::<JsonEncoder>();
}

#[test]
fn short_strings_do_not_keep_the_chunk() {
    let batch = rows(&[("s", DataType::Utf8View)], "{\"s\":\"twelve bytes\"}\n{\"s\":\"\\u00e9\"}\n");
    assert!(batch.column(0).to_data().buffers().len() == 1, "views alone");
    let batch = rows(&[("s", DataType::Utf8View)], "{\"s\":\"thirteen byte\"}\n{\"s\":\"thirteen\\nbyte\"}\n");
    assert_eq!(encoded(&batch, JsonOptions::default()), "{\"s\":\"thirteen byte\"}\n{\"s\":\"thirteen\\nbyte\"}\n");
}
