//! Records that are not CSV, and what is said about them.

use proptest::prelude::*;

use super::*;

#[test]
fn each_kind_of_damage_has_its_message() {
    let cases: &[(&[u8], &str)] = &[
        (b"\"abc,d", "a quote is opened and never closed at byte 1 of the record: \"abc,d"),
        (b"a,\"", "a quote is opened and never closed at byte 3 of the record: a,\""),
        (b"\"a\"b,c\n", "something follows a closing quote at byte 4 of the record: \"a\"b,c"),
        (b"a,\"b\" \"\n", "something follows a closing quote at byte 7 of the record: a,\"b\" \""),
        (b"a,b\\", "the input ends with an escape character at byte 4 of the record: a,b\\"),
        (b"a,\"b\\", "a quote is opened and never closed at byte 3 of the record: a,\"b\\"),
        (b"a,\xff\n", "a byte that is not UTF-8 at byte 3 of the record: a,\u{fffd}"),
        (b"\xed\xa0\x80,a\n", "a byte that is not UTF-8 at byte 1 of the record: \u{fffd}\u{fffd}\u{fffd},a"),
    ];
    for (text, expected) in cases {
        let (message, hint) = refusal(&strings(2), &options(&[("escape-character", "\\")]), text);
        assert_eq!(message, format!("not valid CSV: {expected}"));
        assert!(!hint.is_empty());
    }
}

#[test]
fn a_quote_that_is_not_closed_is_told_by_the_line_where_it_opens() {
    let failed = decode(&strings(2), &options(&[]), b"a,b\n\"x\ny\",\"z\n1,2\n3,4\n").unwrap_err();
    assert_eq!(failed.offset, 2);
    assert!(failed.error.message().contains("a quote is opened and never closed at byte 7"), "{}", failed.error);
}

#[test]
fn the_first_bad_record_is_told() {
    let columns = schema(&[("id", DataType::Int64)]);
    let failed = decode(&columns, &options(&[]), b"1\nx\n\xff\n").unwrap_err();
    assert_eq!(failed.offset, 1);
    assert_eq!(failed.error.message(), "column 'id' is BIGINT, but 'x' in field 1 is not a whole number: x");
    assert_eq!(decode(&columns, &options(&[]), b"1\n\xff\nx\n").unwrap_err().offset, 1);
    // A byte that is not UTF-8 spoils a column that is not asked for too, and a record of several lines.
    let decoder = CsvDecoder::new(strings(1), &strings(2), CsvOptions::default()).unwrap();
    assert!(decoder.decode(&Buffer::from(b"a,\xff\n".to_vec()), true).is_err());
    assert!(decoder.decode(&Buffer::from(b"\"a\nb\n\xff\",c\n".to_vec()), true).is_err());
}

#[test]
fn a_wrong_number_of_fields_weighs_more_than_the_values_that_it_shifts() {
    let columns = schema(&[("a", DataType::Int64), ("b", DataType::Int64)]);
    let message = |text: &[u8]| refusal(&columns, &options(&[]), text).0;
    assert_eq!(message(b"x,1,2\n"), "the record has more fields than the 2 columns of the table: x,1,2");
    assert_eq!(message(b"x\n"), "the record has 1 field, but the table 2 columns: x");
    assert!(message(b"x,\"y\"z\n").starts_with("not valid CSV: something follows"));
    assert!(message(b"x,y\n").starts_with("column 'a'"));
    assert!(message(b"\"a\"b,1,2,3\n").starts_with("not valid CSV: something follows"));
}

#[test]
fn hints_name_the_likely_cause() {
    let columns = schema(&[("id", DataType::Int64)]);
    let hint = |text: &[u8]| refusal(&columns, &options(&[]), text).1;
    assert!(hint(b"ID\n1\n").contains("'csv.ignore-first-line' = 'true'"));
    assert!(hint(b"\n").contains("'csv.null-literal' = ''"));
    assert!(hint(b"x\n").contains("'csv.ignore-parse-errors' = 'true'"));
}

#[test]
fn a_long_record_is_shown_in_part() {
    let (message, _) = refusal(&strings(2), &options(&[]), "é".repeat(500).as_bytes());
    assert!(message.ends_with('…') && message.chars().count() < 160, "{message}");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200), ignore in any::<bool>()) {
        let columns = schema(&[
            ("a", DataType::Int64),
            ("b", list_type(DataType::Utf8View)),
            ("c", row_type(&[("x", DataType::Float64), ("y", MILLISECONDS)])),
        ]);
        let ignore = if ignore { "true" } else { "false" };
        let set = [("ignore-parse-errors", ignore), ("escape-character", "\\"), ("allow-comments", ignore)];
        if let Ok(decoded) = decode(&columns, &options(&set), &text) {
            // A record that the end of the input cuts off within quotes counts as if it went on.
            let lines = text.split_inclusive(|byte| *byte == b'\n').count() as u64;
            prop_assert!((lines..=lines + 1).contains(&decoded.offset_count));
        }
    }
}
