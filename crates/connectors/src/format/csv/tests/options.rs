//! The options by their names, and those that are refused.

use super::super::split::Dialect;
use super::*;

fn refused(set: &[(&str, &str)]) -> String {
    let mut options = Options::default();
    for (key, value) in set {
        options.set(format!("csv.{key}"), *value, None);
    }
    CsvOptions::from_options(&options).unwrap_err().message().to_owned()
}

#[test]
fn options_are_read_by_their_flink_names() {
    assert_eq!(options(&[]), CsvOptions::default());
    let set = [
        ("field-delimiter", "\\t"),
        ("quote-character", "'"),
        ("escape-character", "\\"),
        ("allow-comments", "true"),
        ("ignore-parse-errors", "true"),
        ("ignore-first-line", "true"),
        ("array-element-delimiter", "|"),
        ("null-literal", "n/a"),
        ("write-bigdecimal-in-scientific-notation", "false"),
    ];
    let expected = CsvOptions {
        dialect: Dialect { delimiter: b'\t', quote: Some(b'\''), escape: Some(b'\\'), comments: true },
        element_delimiter: b'|',
        null_literal: Some("n/a".into()),
        ignore_parse_errors: true,
        ignore_first_line: true,
        scientific_notation: false,
    };
    assert_eq!(options(&set), expected);
    let keys = super::super::OPTIONS.iter().map(|spec| spec.key);
    assert!(set.iter().all(|(key, _)| keys.clone().any(|known| known == format!("csv.{key}"))));
}

#[test]
fn a_field_delimiter_may_be_written_with_an_escape() {
    for (written, meant) in [("\\t", b'\t'), ("\\u0001", 1), ("\\\\", b'\\'), ("\\|", b'|'), ("|", b'|')] {
        assert_eq!(options(&[("field-delimiter", written)]).dialect.delimiter, meant, "{written}");
    }
    for written in ["", ",,", "é", "\\u00", "\\", "\\u00e9"] {
        let message = format!("the option 'csv.field-delimiter' takes a single ASCII character, not '{written}'");
        assert_eq!(refused(&[("field-delimiter", written)]), message);
    }
    assert_eq!(refused(&[("field-delimiter", "\\n")]), "the option 'csv.field-delimiter' is a line end");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let both = refused(&[("disable-quote-character", "true"), ("quote-character", "'")]);
    assert_eq!(both, "'csv.quote-character' is set, but 'csv.disable-quote-character' is 'true'");
    let same = refused(&[("escape-character", ",")]);
    assert_eq!(same, "'csv.escape-character' and 'csv.field-delimiter' are the same character");
    assert!(refused(&[("quote-character", "|"), ("field-delimiter", "|")]).contains("the same character"));
}

#[test]
fn a_quote_that_is_its_own_escape_is_doubled() {
    assert_eq!(rows(&strings(1), &options(&[("escape-character", "\"")]), "\"a\"\"b\"\n"), ["a\"b"]);
}

#[test]
fn a_decoder_is_shared_by_workers() {
    fn shared<T: Send + Sync>() {}
    shared::<CsvDecoder>();
    shared::<CsvEncoder>();
}
