//! What all functions have in common.

use super::{document, names};

#[test]
fn functions_are_named_once_and_as_they_are_called() {
    let names = names();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for name in ["json_value", "sum", "variance", "year", "if", "ceil", "current_watermark"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')), "{names:?}");
}

/// A name that the document does not have would be one that nobody has compared with Flink.
#[test]
fn every_function_is_in_the_document() {
    let document = document().to_uppercase();
    let words: Vec<&str> = document.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for name in names() {
        assert!(words.contains(&name.to_uppercase().as_str()), "{name}");
    }
}
