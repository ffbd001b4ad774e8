//! Reading and writing against `serde_json`, and paths against a search that knows no steps.

use proptest::prelude::*;
use serde_json::{Map, Number, Value};

use super::find::find;
use super::path::JsonPath;
use super::read::{NotJson, read};
use super::unquoted;
use super::value::Json;
use super::write::{number, quote, quote_ascii, write};

/// What serde_json makes of it, with its numbers as they are written.
fn value() -> impl Strategy<Value = Value> {
    let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,2})?";
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(|text| Value::Number(text.parse::<Number>().unwrap())),
        any::<String>().prop_map(Value::String),
    ];
    scalar.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec(("[a-c]|é|\u{e000}|\u{10000}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_the_value_that_was_read(value in value()) {
        let text = value.to_string();
        let written = write(&read(&text).unwrap());
        prop_assert!(same(&serde_json::from_str(&written).unwrap(), &value), "{written}");
        // Written once more, it stays the same text.
        prop_assert_eq!(&write(&read(&written).unwrap()), &written);
    }

    #[test]
    fn a_text_is_json_where_serde_json_takes_it(text in "[\\[\\]{}:,\"\\\\tn01.eE+\\- ]{0,12}") {
        let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        // serde_json leaves out the check that a word or a number ends; behind the value anything may stand.
        if let (Some(Ok(_)), Ok(_)) | (Some(Err(_)) | None, Err(_)) = (values.next(), read(&text)) {
            return Ok(());
        }
        prop_assert!(read(&text).is_err() && text.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-'), "{text}");
    }

    #[test]
    fn a_path_leads_where_its_steps_lead(value in value(), steps in prop::collection::vec(step(), 0..4)) {
        let path: String = steps.iter().map(Hop::text).collect();
        let text = value.to_string();
        let root = read(&text).unwrap();
        let found = find(&root, &JsonPath::parse(&format!("lax ${path}")).unwrap()).unwrap();
        let expected = steps.iter().try_fold(&value, |value, step| step.of(value));
        match (found, expected) {
            (Some(found), Some(expected)) => {
                let found: Value = serde_json::from_str(&write(&found)).unwrap();
                prop_assert!(same(&found, expected), "{path} in {text}");
            }
            (found, expected) => prop_assert_eq!(found.is_some(), expected.is_some(), "{} in {}", path, text),
        }
        // Strict, what is missing is an error.
        let strict = find(&root, &JsonPath::parse(&format!("${path}")).unwrap());
        prop_assert_eq!(strict.is_ok(), expected.is_some());
    }

    #[test]
    fn all_below_is_every_value(value in value()) {
        let text = value.to_string();
        let root = read(&text).unwrap();
        let found = find(&root, &JsonPath::parse("$..*").unwrap()).unwrap().unwrap().into_owned();
        let Json::Array(found) = found else { panic!("a list") };
        prop_assert_eq!(found.len(), size(&value) - 1);
    }

    #[test]
    fn quotes_are_taken_away_again(text in any::<String>()) {
        prop_assert_eq!(unquoted(&quote_ascii(&text)), text.clone());
        let mut quoted = String::new();
        quote(&text, &mut quoted);
        prop_assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
    }
}

/// Numbers are the same that have the same value, as far as a double tells.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.to_string().parse::<f64>().unwrap(), b.to_string().parse::<f64>().unwrap());
            a == b || (a - b).abs() <= a.abs() * 1e-15
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// A step to one value.
#[derive(Debug, Clone)]
enum Hop {
    Member(&'static str),
    Element(i64),
}

fn step() -> impl Strategy<Value = Hop> {
    prop_oneof![
        prop::sample::select(vec!["a", "b", "c", "é"]).prop_map(Hop::Member),
        (-3_i64..3).prop_map(Hop::Element)
    ]
}

impl Hop {
    fn text(&self) -> String {
        match self {
            Self::Member(name) => format!("['{name}']"),
            Self::Element(index) => format!("[{index}]"),
        }
    }

    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Member(name) => value.as_object()?.get(*name),
            Self::Element(index) => {
                let elements = value.as_array()?;
                let index = if *index < 0 { index + elements.len() as i64 } else { *index };
                elements.get(usize::try_from(index).ok()?)
            }
        }
    }
}

/// The value and all in it.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(size).sum::<usize>(),
        Value::Object(members) => members.values().map(size).sum(),
        _ => 0,
    }
}

#[test]
fn a_name_that_comes_twice_has_its_last_value_at_its_first_place() {
    let root = read(r#"{"a": 1, "b": 2, "a": 3}"#).unwrap();
    let all = find(&root, &JsonPath::parse("$.*").unwrap()).unwrap().unwrap();
    assert_eq!(write(&all), "[3,2]");
}

#[test]
fn numbers_are_written_as_java_writes_them() {
    for (given, wanted) in [
        ("-0", "0"),
        ("-0.00", "0.00"),
        ("0.0000012", "0.0000012"),
        ("0.00000012", "1.2E-7"),
        ("12.50e1", "125.0"),
        ("12.5e-1", "1.25"),
        ("1e2", "1E+2"),
        ("-15e2147483647", "-1.5E+2147483648"),
        ("1e-2147483647", "1E-2147483647"),
    ] {
        assert_eq!(number(given), wanted, "{given}");
    }
}

#[test]
fn values_are_nested_a_thousand_deep_and_no_deeper() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let (deep, deeper) = (nested(1_000), nested(1_001));
    assert_eq!(write(&read(&deep).unwrap()), deep);
    assert_eq!(read(&deeper), Err(NotJson(1_000)));
}

#[test]
fn paths_that_are_none_say_why() {
    for (path, why) in [
        ("", "it is empty"),
        ("$a", "'.' or '[' must stand before 'a'"),
        ("$.", "a name is missing"),
        ("$.a b", "'a b' must stand in brackets and quotes"),
        ("$[", "a bracket is not closed"),
        ("$['a", "a quote is not closed"),
        ("$['a'", "a bracket is not closed"),
        ("$[x]", "'[x]' is no index"),
        ("$[:]", "a slice has a begin or an end"),
        ("$[?(@.a)]", "filters are not supported, as in Flink"),
        ("$.a.sum()", "the function sum() is not supported"),
        ("$.a[*].length()", "length() stands at the end, behind a path to one value"),
        ("$..", "a name is missing"),
    ] {
        let error = JsonPath::parse(path).unwrap_err();
        assert_eq!(error.message(), format!("'{path}' is not a path into JSON: {why}"));
    }
}

#[test]
fn a_long_text_that_is_not_json_is_shown_where_it_is_wrong() {
    let text = format!("[{}x{}]", "1,".repeat(5_000), "é".repeat(5_000));
    let shown = super::shown(&text, 10_001);
    assert!(shown.len() < 100 && shown.starts_with("...") && shown.ends_with("..."), "{shown}");
    assert!(shown.contains(",xé"), "{shown}");
    assert_eq!(super::shown("{x", 1), "{x");
}
