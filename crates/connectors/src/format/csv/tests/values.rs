//! What each type makes of a field.

use super::*;

/// What a column of the type makes of a field: its value, or the end of the message.
fn value(data_type: DataType, field: &str, set: &[(&str, &str)]) -> String {
    let columns = schema(&[("v", data_type), ("rest", DataType::Utf8View)]);
    match decode(&columns, &options(set), format!("{field},\n").as_bytes()) {
        Ok(decoded) => shown(&decoded.rows)[0].trim_end_matches('|').to_owned(),
        Err(failed) => {
            let message = failed.error.message();
            let problem = message.split_once("in field 1 ").map_or(message, |(_, problem)| problem);
            problem.rsplit_once(": ").map_or(problem, |(problem, _)| problem).to_owned()
        }
    }
}

fn check(data_type: DataType, cases: &[(&str, &str)]) {
    for (field, expected) in cases {
        assert_eq!(value(data_type.clone(), field, &[]), *expected, "{field} as {data_type}");
    }
}

#[test]
fn numbers() {
    let whole = "is not a whole number";
    check(DataType::Int8, &[("127", "127"), (" -128 ", "-128"), ("128", "is out of its range"), ("+7", "7")]);
    check(DataType::Int64, &[("007", "7"), ("12.0", "12"), ("12.5", "has a fraction"), ("", whole), ("1x", whole)]);
    check(DataType::Int64, &[("9223372036854775807", "9223372036854775807"), ("\"42\"", "42"), ("1 2", whole)]);
    let number = "is not a number";
    check(DataType::Float64, &[("1", "1.0"), (" 2.5e3 ", "2500.0"), ("NaN", "NaN"), ("inf", number), ("", number)]);
    check(DataType::Float64, &[("-Infinity", "-inf"), ("1e400", "is out of its range")]);
    check(DataType::Decimal128(5, 2), &[("12.5", "12.50"), (" -0.005", "-0.01"), ("1E+2", "100.00"), ("1000", "~")]);
    check(DataType::Decimal128(5, 2), &[("ten", number), ("", number)]);
}

#[test]
fn booleans() {
    let problem = "is neither true nor false";
    check(DataType::Boolean, &[("true", "true"), (" FALSE ", "false"), ("1", problem), ("", problem)]);
}

#[test]
fn dates_and_times() {
    check(DataType::Date32, &[("2024-02-29", "2024-02-29"), ("2026-02-29", "is not a date like 2026-11-29")]);
    check(DataType::Date32, &[("2026-1-5", "2026-01-05"), ("1969-12-1", "1969-12-01")]);
    for malformed in ["26-1-5", "2026-1", "2026-1-5-1", "2026-001-5", "2026--5", "2026-2-30", "2026-1-x", "-2026-1-5"] {
        check(DataType::Date32, &[(malformed, "is not a date like 2026-11-29")]);
    }
    let time = DataType::Time32(TimeUnit::Millisecond);
    check(time, &[("10:00:00", "10:00:00"), ("10:00", "10:00:00"), ("10:00:00.5", "10:00:00.500")]);
    check(
        MILLISECONDS,
        &[("2026-11-29 10:00:00.123", "2026-11-29T10:00:00.123"), (" 1969-12-31 23:59:59 ", "1969-12-31T23:59:59")],
    );
    let zoned = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    check(zoned, &[("2026-11-29 10:00:00Z", "2026-11-29T10:00:00Z")]);
    let columns = schema(&[("ts", MILLISECONDS)]);
    let hint = |text: &[u8]| refusal(&columns, &options(&[]), text).1;
    assert_eq!(hint(b"2026-11-29T10:00:00\n"), "write a space between date and time, not a 'T'");
    assert!(hint(b"2026-11-29 10:00:00Z\n").contains("TIMESTAMP_LTZ"));
}

#[test]
fn bytes() {
    check(DataType::BinaryView, &[("AAEC", "000102"), ("", "")]);
    assert!(value(DataType::BinaryView, "?", &[]).starts_with("is not base64"));
}

#[test]
fn arrays() {
    check(list_type(DataType::Int32), &[("1;2;3", "[1, 2, 3]"), ("", "[]"), (" ", "[]"), ("7", "[7]")]);
    check(list_type(DataType::Utf8View), &[("a;;b", "[a, , b]"), ("\";\"", "[, ]"), ("\"x;\"\"y\"\"\"", "[x, \"y\"]")]);
    check(list_type(DataType::Int8), &[("1;x", "has 'x' for 'element', which is not a whole number")]);
    let null = &[("null-literal", "null")];
    assert_eq!(value(list_type(DataType::Int8), "12;4;null", null), "[12, 4, ~]");
    assert_eq!(value(list_type(DataType::Int8), "null", null), "[~]");
    assert_eq!(value(list_type(DataType::Int8), "1;x;3", &[("ignore-parse-errors", "true")]), "[1, ~, 3]");
    let set = &[("array-element-delimiter", ":")];
    assert_eq!(value(list_type(DataType::Int8), "1:2", set), "[1, 2]");
}

#[test]
fn rows_within_a_field() {
    let row = || row_type(&[("x", DataType::Utf8View), ("y", DataType::Int8), ("z", DataType::Boolean)]);
    check(row(), &[("Hello;42;false", "{x: Hello, y: 42, z: false}"), ("", "~"), ("  ", "~")]);
    check(row(), &[("a;b;true", "has 'b' for 'y', which is not a whole number")]);
    let wrong = "does not have the 3 parts of the ROW";
    check(row(), &[("a;1", wrong), ("a;1;true;", wrong)]);
    let ignore = &[("ignore-parse-errors", "true")];
    assert_eq!(value(row(), "a;b", ignore), "{x: a, y: ~, z: ~}");
    assert_eq!(value(row(), "a;1;true;more", ignore), "{x: a, y: 1, z: true}");
    assert_eq!(value(row(), "null", &[("null-literal", "null")]), "~");
    assert_eq!(value(row(), "null;1;null", &[("null-literal", "null")]), "{x: ~, y: 1, z: ~}");
}

#[test]
fn a_nested_value_that_may_not_be_null() {
    let fields = vec![Field::new("x", DataType::Int64, false), Field::new("y", DataType::Int64, true)];
    let columns = Arc::new(Schema::new(vec![Field::new("r", DataType::Struct(fields.into()), true)]));
    let null = options(&[("null-literal", "-")]);
    assert_eq!(rows(&columns, &null, "\n-\n1;-\n"), ["~", "~", "{x: 1, y: ~}"]);
    let (message, _) = refusal(&columns, &null, b"-;1\n");
    assert!(message.contains("'-;1' in field 1 has no value for 'x', which is NOT NULL"), "{message}");
    let element = Field::new("element", DataType::Int64, false);
    let columns = Arc::new(Schema::new(vec![Field::new("l", DataType::List(Arc::new(element)), true)]));
    assert!(refusal(&columns, &null, b"1;-\n").0.contains("has no value for 'element'"));
}

#[test]
fn types_that_csv_does_not_have_are_refused() {
    for data_type in
        [list_type(list_type(DataType::Int8)), row_type(&[("x", list_type(DataType::Int8))]), DataType::Utf8]
    {
        let columns = schema(&[("v", data_type)]);
        let error = CsvDecoder::new(columns.clone(), &columns, CsvOptions::default()).unwrap_err();
        assert!(error.message().starts_with("the format 'csv' does not have the type"), "{error}");
        assert!(CsvEncoder::new(columns, CsvOptions::default()).is_err());
    }
}
