//! What all functions have in common.

use super::names;

#[test]
fn functions_are_named_once_and_as_they_are_called() {
    let names = names();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for name in ["json_value", "sum", "variance", "year", "if", "ceil", "current_watermark"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')), "{names:?}");
}
