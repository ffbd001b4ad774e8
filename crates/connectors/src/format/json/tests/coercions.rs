//! What each type makes of each kind of value.

use super::super::TimestampFormat;
use super::*;

/// What a column of the type makes of a value: its JSON, or the end of the message.
fn value(data_type: DataType, value: &str) -> String {
    value_as(data_type, value, JsonOptions::default())
}

fn value_as(data_type: DataType, value: &str, options: JsonOptions) -> String {
    let line = format!("{{\"v\":{value}}}");
    match decode(&schema(&[("v", data_type)]), options.clone(), line.as_bytes()) {
        Ok(decoded) => {
            let text = encoded(&decoded.rows, options);
            text["{\"v\":".len()..text.len() - 2].to_owned()
        }
        Err(failed) => {
            let message = failed.error.message();
            message.split_once("of the line ").map_or(message, |(_, problem)| problem).to_owned()
        }
    }
}

fn check(data_type: DataType, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(value(data_type.clone(), text), *expected, "{text} as {data_type}");
    }
}

#[test]
fn integers() {
    check(
        DataType::Int8,
        &[
            ("127", "127"),
            ("-128", "-128"),
            ("128", "is out of its range"),
            ("\" 12 \"", "12"),
            ("\"+7\"", "7"),
            ("-0", "0"),
        ],
    );
    check(
        DataType::Int64,
        &[
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("9223372036854775808", "is out of its range"),
            ("1e30000000000", "is out of its range"),
            ("0e30000000000", "0"),
            ("12.0", "12"),
            ("1.2e1", "12"),
            ("1200e-2", "12"),
            ("12.5", "has a fraction"),
            ("1e-1", "has a fraction"),
            ("\"\"", "is not a whole number"),
            ("\"1x\"", "is not a whole number"),
            ("true", "is not a whole number"),
            ("[1]", "is not a whole number"),
            ("null", "null"),
        ],
    );
}

#[test]
fn floating_point() {
    check(
        DataType::Float64,
        &[
            ("1", "1.0"),
            ("-0.0", "-0.0"),
            ("0.1", "0.1"),
            ("1e23", "1e23"),
            ("5e-324", "5e-324"),
            ("1e-400", "0.0"),
            ("1e400", "is out of its range"),
            ("\"NaN\"", "\"NaN\""),
            ("\"-Infinity\"", "\"-Infinity\""),
            ("\"inf\"", "is not a number"),
            ("\" 2.5 \"", "2.5"),
            ("false", "is not a number"),
        ],
    );
    check(DataType::Float32, &[("0.1", "0.1"), ("16777217", "16777216.0"), ("1e39", "is out of its range")]);
}

#[test]
fn decimals() {
    check(
        DataType::Decimal128(5, 2),
        &[
            ("12.50", "12.50"),
            ("12.5", "12.50"),
            ("-0.005", "-0.01"),
            ("0.0049999999999999999999999999999999999999999999", "0.00"),
            ("1e2", "100.00"),
            ("12345E-4", "1.23"),
            ("12355E-4", "1.24"),
            ("999.994", "999.99"),
            ("999.995", "null"),
            ("1000", "null"),
            ("1e99999999999", "null"),
            ("1e-99999999999", "0.00"),
            ("0e99999999999", "0.00"),
            ("\"7.1\"", "7.10"),
            ("\"7.1.1\"", "is not a number"),
            ("{}", "is not a number"),
        ],
    );
    let most = "99999999999999999999999999999999999999";
    check(DataType::Decimal128(38, 0), &[(most, most), ("1e37", &format!("1{}", "0".repeat(37))), ("1e38", "null")]);
    check(DataType::Decimal128(38, 38), &[("0.1", &format!("0.1{}", "0".repeat(37))), ("1", "null")]);
}

#[test]
fn booleans() {
    check(
        DataType::Boolean,
        &[
            ("true", "true"),
            ("false", "false"),
            ("\" TRUE\"", "true"),
            ("\"yes\"", "is neither true nor false"),
            ("1", "is neither true nor false"),
        ],
    );
}

#[test]
fn strings() {
    check(
        DataType::Utf8View,
        &[
            ("\"\"", "\"\""),
            ("1.50", "\"1.50\""),
            ("true", "\"true\""),
            ("{ \"a b\" : [ 1, \"\\\" {\" ] }", r#""{\"a b\":[1,\"\\\" {\"]}""#),
            (r#""\u00e9\ud83d\ude00\/\b""#, "\"é😀/\\b\""),
            (r#""\ud83d""#, "\"\u{fffd}\""),
            (r#""\ud83dx\ude00\ud83d\u0041""#, "\"\u{fffd}x\u{fffd}\u{fffd}A\""),
            (r#""\u0000""#, "\"\\u0000\""),
        ],
    );
}

#[test]
fn bytes() {
    check(
        DataType::BinaryView,
        &[
            ("\"\"", "\"\""),
            ("\"AAEC/w==\"", "\"AAEC/w==\""),
            ("\"VGhpcnRlZW4gYnl0ZQ==\"", "\"VGhpcnRlZW4gYnl0ZQ==\""),
            ("12", "is not a string in base64"),
        ],
    );
    assert!(value(DataType::BinaryView, "\"?\"").starts_with("is not base64"));
}

#[test]
fn dates_and_times() {
    const NOT_A_DATE: &str = "is not a date like 2026-11-29";
    check(
        DataType::Date32,
        &[
            ("\"2024-02-29\"", "\"2024-02-29\""),
            ("\"1900-02-29\"", NOT_A_DATE),
            ("\"2000-02-29\"", "\"2000-02-29\""),
            ("\"0001-01-01\"", "\"0001-01-01\""),
            ("\"2026-13-01\"", NOT_A_DATE),
            ("\"2026-1-01\"", NOT_A_DATE),
            ("20260101", NOT_A_DATE),
        ],
    );
    const NOT_A_TIME: &str = "is not a time like 10:00:00";
    check(
        DataType::Time32(TimeUnit::Millisecond),
        &[
            ("\"23:59:59.9999\"", "\"23:59:59.999\""),
            ("\"10:00:00\"", "\"10:00:00.000\""),
            ("\"24:00:00\"", NOT_A_TIME),
            ("\"10:00\"", NOT_A_TIME),
        ],
    );
}

#[test]
fn timestamps_in_sql_format() {
    const NOT_A_TIME: &str = "is not a time like 2026-11-29 10:00:00.000";
    check(
        MILLISECONDS,
        &[
            ("\"2026-11-29 10:00:00\"", "\"2026-11-29 10:00:00.000\""),
            ("\"1969-12-31 23:59:59.9999\"", "\"1969-12-31 23:59:59.999\""),
            ("\"2026-11-29 10:00:00.1234567891\"", NOT_A_TIME),
            ("\"2026-11-29 10:00\"", NOT_A_TIME),
            ("\"2026-11-29 10:00:60\"", NOT_A_TIME),
            ("\"2026-11-29\"", NOT_A_TIME),
            ("\"2026-11-é0 10:00:00\"", NOT_A_TIME),
            ("1795946400000", NOT_A_TIME),
        ],
    );
    check(
        zoned(TimeUnit::Nanosecond),
        &[
            ("\"2026-11-29 10:00:00.123456789Z\"", "\"2026-11-29 10:00:00.123456789Z\""),
            ("\"2026-11-29 10:00:00\"", "is not a time like 2026-11-29 10:00:00.000Z"),
            ("\"2626-11-29 10:00:00Z\"", "is out of its range"),
        ],
    );
}

#[test]
fn timestamps_in_iso_format() {
    let iso = || JsonOptions { timestamp_format: TimestampFormat::Iso8601, ..JsonOptions::default() };
    for (text, expected) in [
        ("\"2026-11-29T10:00:00.5\"", "\"2026-11-29T10:00:00.500000\""),
        ("\"2026-11-29T10:00\"", "\"2026-11-29T10:00:00.000000\""),
        ("\"2026-11-29 10:00:00\"", "is not a time like 2026-11-29T10:00:00.000"),
        ("\"2026-11-29T10:00:00Z\"", "is not a time like 2026-11-29T10:00:00.000"),
    ] {
        assert_eq!(value_as(DataType::Timestamp(TimeUnit::Microsecond, None), text, iso()), expected, "{text}");
    }
    let text = "\"2026-11-29T10:00:00.000Z\"";
    assert_eq!(value_as(zoned(TimeUnit::Millisecond), text, iso()), text);
}

#[test]
fn the_hint_of_a_timestamp_names_the_other_form() {
    let hint =
        |data_type, text: &str| refusal(&schema(&[("ts", data_type)]), format!("{{\"ts\":\"{text}\"}}").as_bytes()).1;
    assert!(hint(MILLISECONDS, "2026-11-29T10:00:00").contains("'json.timestamp-format.standard' = 'ISO-8601'"));
    assert!(hint(MILLISECONDS, "2026-11-29 10:00:00Z").contains("TIMESTAMP_LTZ"));
    assert!(hint(zoned(TimeUnit::Millisecond), "2026-11-29 10:00:00").contains("declare the column TIMESTAMP,"));
}

#[test]
fn nested_types() {
    check(
        list_type(DataType::Int32),
        &[
            ("[]", "[]"),
            ("[1, null ,\"3\"]", "[1,null,3]"),
            ("{}", "is not an array"),
            ("[1,[]]", "is not a whole number"),
        ],
    );
    check(
        map_type(list_type(DataType::Utf8View)),
        &[
            ("{}", "{}"),
            ("{ \"b\" : [\"x\"], \"a\":null }", "{\"b\":[\"x\"],\"a\":null}"),
            ("{\"a\":[\"1\"],\"b\":null,\"\\u0061\":[\"2\"]}", "{\"b\":null,\"a\":[\"2\"]}"),
            ("[]", "is not an object"),
        ],
    );
    check(
        row_type(&[("x", DataType::Int32), ("y", row_type(&[("z", DataType::Boolean)]))]),
        &[
            ("{}", "{\"x\":null,\"y\":null}"),
            ("{\"y\":{\"z\":true},\"u\":{\"x\":1}}", "{\"x\":null,\"y\":{\"z\":true}}"),
            ("7", "is not an object"),
        ],
    );
}
