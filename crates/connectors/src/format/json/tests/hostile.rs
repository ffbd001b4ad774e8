//! Lines that are not JSON, and what is said about them.

use super::*;

#[test]
fn each_kind_of_damage_has_its_message() {
    let schema = schema(&[("id", DataType::Int64), ("s", DataType::Utf8View)]);
    let cases: &[(&[u8], &str)] = &[
        (b"[1]", "an object must stand at byte 1"),
        (b"null", "an object must stand at byte 1"),
        (b"{", "the line ends where a '\"' must stand at byte 2"),
        (b"{\"id\"", "the line ends where a ':' must stand at byte 6"),
        (b"{\"id\":", "the line ends where a value must stand at byte 7"),
        (b"{\"id\":1", "the line ends where ',' or '}' must stand at byte 8"),
        (b"{\"id\":1,}", "a '\"' must stand at byte 9"),
        (b"{\"id\":1 \"s\":2}", "',' or '}' must stand at byte 9"),
        (b"{\"id\":1}{\"id\":2}", "something follows the object at byte 9"),
        (b"{\"id\":1} x", "something follows the object at byte 10"),
        (b"{\"s\":\"abc", "the line ends within a string at byte 10"),
        (b"{\"s\":\"abc\\", "the line ends within a string at byte 10"),
        (b"{\"s\":\"a\\x\"}", "an escape that JSON does not have at byte 8"),
        (b"{\"s\":\"\\u12g4\"}", "a '\\u' without four hexadecimal digits at byte 7"),
        (b"{\"s\":\"a\tb\"}", "a raw control character (0x09) in a string at byte 8"),
        (b"{\"s\":\"a\0b\"}", "a raw control character (0x00) in a string at byte 8"),
        (b"{\"s\":\"\xff\"}", "a byte that is not UTF-8 at byte 7"),
        (b"{\"s\":\"\xed\xa0\x80\"}", "a byte that is not UTF-8 at byte 7"),
        (b"{\"id\":012}", "a number with a leading zero at byte 7"),
        (b"{\"x\":-}", "a digit must stand at byte 7"),
        (b"{\"x\":1.}", "a digit must stand at byte 8"),
        (b"{\"x\":1e+}", "a digit must stand at byte 9"),
        (b"{\"x\":.5}", "a value must stand at byte 6"),
        (b"{\"x\":+1}", "a value must stand at byte 6"),
        (b"{\"x\":NaN}", "NaN and Infinity are no JSON numbers; a value must stand at byte 6"),
        (b"{\"x\":-Infinity}", "NaN and Infinity are no JSON numbers; a digit must stand at byte 7"),
        (b"{\"x\":tru}", "a value must stand at byte 6"),
        (b"{\"x\":truex}", "',' or '}' must stand at byte 10"),
        (b"{\"x\":[1,]}", "a value must stand at byte 9"),
        (b"{\"x\":[1}", "',' or ']' must stand at byte 8"),
        (b"{\"x\":{\"y\":[{]}}", "a '\"' must stand at byte 13"),
        (b"{'id':1}", "a '\"' must stand at byte 2"),
        (b"{\"x\":1,\0}", "a '\"' must stand at byte 8"),
    ];
    for (line, expected) in cases {
        let (message, hint) = refusal(&schema, line);
        let line = String::from_utf8_lossy(line);
        assert!(message.starts_with(&format!("not valid JSON: {expected} of the line: ")), "{line}: {message}");
        assert!(hint.contains("'json.ignore-parse-errors' = 'true'"), "{line}: {hint}");
    }
}

#[test]
fn a_value_of_another_type_is_shown_with_its_column() {
    let schema = schema(&[("u", row_type(&[("age", DataType::Int64)])), ("tags", list_type(DataType::Int8))]);
    let (message, hint) = refusal(&schema, b"{\"u\":{\"age\":\"ten\"}}");
    assert_eq!(message, "column 'u.age' is BIGINT, but \"ten\" at byte 13 of the line is not a whole number");
    assert!(hint.starts_with("fix the value, change the column's type, or set 'json.ignore-parse-errors'"));
    let (message, _) = refusal(&schema, b"{\"tags\":[1,300]}");
    assert_eq!(message, "column 'tags.element' is TINYINT, but 300 at byte 12 of the line is out of its range");
}

#[test]
fn nesting_has_a_limit_and_no_stack_to_overflow() {
    let line = |depth: usize| format!("{{\"x\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    let skipped = schema(&[]);
    assert!(decode(&skipped, JsonOptions::default(), line(127).as_bytes()).is_ok());
    let (message, _) = refusal(&skipped, line(128).as_bytes());
    assert!(message.contains("nest deeper than 128"), "{message}");
    assert!(refusal(&skipped, line(1_000_000).as_bytes()).0.contains("nest deeper than 128"));
    let text = schema(&[("x", DataType::Utf8View)]);
    assert!(refusal(&text, line(1_000_000).as_bytes()).0.contains("nest deeper than 128"));
}

#[test]
fn a_long_line_is_shown_in_part() {
    let line = format!("{{\"s\":\"{}", "é".repeat(500));
    let (message, _) = refusal(&schema(&[]), line.as_bytes());
    assert!(message.ends_with('…') && message.chars().count() < 160, "{message}");
}

#[test]
fn every_cut_of_a_line_is_refused() {
    let columns =
        schema(&[("id", DataType::Int64), ("m", map_type(list_type(DataType::Utf8View))), ("t", MILLISECONDS)]);
    let line =
        r#"{"id":-12,"m":{"k\u00e9":["a","b\n"],"l":null},"t":"2026-11-29 10:00:00.000","x":[true,{"y":1.5e3}]}"#;
    assert!(decode(&columns, JsonOptions::default(), line.as_bytes()).is_ok());
    for end in 1..line.len() {
        assert!(decode(&columns, JsonOptions::default(), &line.as_bytes()[..end]).is_err(), "{}", &line[..end]);
    }
}
