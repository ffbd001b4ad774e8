//! The functions of JSON, whose clauses the parser turns into arguments (`parse/json_call.rs`).
//!
//! A text is read whole, as Flink does: whether it is JSON does not depend on the path. Numbers keep their digits.

mod build;
mod find;
mod path;
mod path_call;
mod read;
#[cfg(test)]
mod tests;
mod value;
mod write;

use datafusion::logical_expr::ScalarUDF;

use super::scalar::{Evaluate as E, Function, Parameter as P, Returns, Row};
use arrow::datatypes::DataType;
pub(crate) use build::has_json_form;
pub(crate) use path::JsonPath;
use path_call::PathCall;
use read::{NotJson, read, unescaped};
use tidemill_core::Error;
use value::Json;
use write::{quote_ascii, write};

/// The name in the plan of `text IS JSON`; its second argument is what the text shall be.
pub(crate) const IS_JSON: &str = "is json";

/// The name in the plan of `JSON(text)`, which stands in `JSON_OBJECT` and `JSON_ARRAY`.
pub(crate) const RAW: &str = "json raw";

/// The names in the plan of the parts of `JSON_ARRAYAGG` and `JSON_OBJECTAGG`, and of what makes a whole of their list.
pub(crate) const ELEMENT: &str = "json element";
pub(crate) const LIST: &str = "json list";
pub(crate) const MEMBER: &str = "json member";
pub(crate) const MEMBERS: &str = "json members";

/// What can be called by its name, and how.
pub(super) const USAGES: [(&str, &str, &str); 11] = [
    (
        "JSON_EXISTS(text, path[ TRUE | FALSE | UNKNOWN | ERROR ON ERROR])",
        "whether the path leads to anything but null",
        PATH,
    ),
    (
        "JSON_VALUE(text, path[ RETURNING type][ NULL | ERROR | DEFAULT value ON EMPTY][ ... ON ERROR])",
        "the scalar at the path, as STRING, BOOLEAN, INT or DOUBLE",
        "a value that is not of the type to return is an error, which ON ERROR answers; Flink's job fails of it",
    ),
    (
        "JSON_QUERY(text, path[ RETURNING type][ WITH[ CONDITIONAL] WRAPPER][ NULL | EMPTY ARRAY | EMPTY OBJECT | ERROR \
         ON EMPTY][ ... ON ERROR])",
        "the array or the object at the path, as STRING or ARRAY<STRING>",
        PATH,
    ),
    ("text IS[ NOT] JSON[ VALUE | SCALAR | ARRAY | OBJECT]", "whether it is; FALSE for NULL", ""),
    (
        "JSON_OBJECT([KEY] name VALUE value, ...[ NULL | ABSENT ON NULL])",
        "an object, its members in the order of their names; a value JSON(text) is taken for JSON",
        "",
    ),
    ("JSON_ARRAY(value, ...[ NULL | ABSENT ON NULL])", "an array; without NULLs if nothing is said", ""),
    (
        "JSON_OBJECTAGG([KEY] name VALUE value[ NULL | ABSENT ON NULL])",
        "an object of all rows; of a name that comes twice the last counts",
        IN_ORDER,
    ),
    (
        "JSON_ARRAYAGG(value[ NULL | ABSENT ON NULL])",
        "an array of all rows; without NULLs if nothing is said",
        IN_ORDER,
    ),
    ("JSON_STRING(value)", "the value as JSON", "not for fields of ROW(...), which have other names"),
    ("JSON_QUOTE(string)", "in quotes and escaped, also what is not ASCII", ""),
    ("JSON_UNQUOTE(string)", "without the quotes and the escapes; as it is if it is not in quotes", ""),
];

/// What is said of all functions of a path.
const PATH: &str = "a constant path that is none is refused before the run; \
                    of the functions in a path there is length() only";

/// What is said of the aggregates.
const IN_ORDER: &str = "in the order of event time, partition and offset; Flink takes the rows as they come";

/// The names that a text can call.
pub(super) const NAMES: [&str; 10] = [
    "json_exists",
    "json_value",
    "json_query",
    "json_object",
    "json_array",
    "json_string",
    "json_quote",
    "json_unquote",
    "json_objectagg",
    "json_arrayagg",
];

/// The functions by their names in the plan.
pub(super) fn functions() -> impl Iterator<Item = ScalarUDF> {
    let of_paths = PathCall::ALL.into_iter().map(ScalarUDF::from);
    of_paths.chain(FUNCTIONS.iter().cloned().map(ScalarUDF::from))
}

/// What stands in [`USAGES`] is not told here again.
const fn function(name: &'static [&'static str], parameters: &'static [P], evaluate: E) -> Function {
    Function::new(name, "", "", parameters, evaluate)
}

const TEXT: Returns = Returns::Type(|| DataType::Utf8View);

static FUNCTIONS: [Function; 11] = [
    function(&["json_object"], &[P::Json], E::Arrays(build::object)).repeats().returns(TEXT),
    function(&["json_array"], &[P::Json], E::Arrays(build::array)).repeats().returns(TEXT),
    function(&["json_string"], &[P::Json], E::Arrays(build::string)).returns(TEXT),
    function(&[ELEMENT], &[P::Text, P::Json, P::Any], E::Arrays(build::element)).returns(TEXT),
    function(&[LIST], &[P::Any], E::Arrays(build::list)).returns(TEXT),
    function(&[MEMBER], &[P::Text, P::Text, P::Json, P::Any], E::Arrays(build::member)).returns(TEXT),
    function(&[MEMBERS], &[P::Any], E::Arrays(build::members)).returns(TEXT),
    function(&[RAW], &[P::Text], E::TryText(raw)),
    function(&[IS_JSON], &[P::Text, P::Text], E::Boolean(is_json)),
    function(&["json_quote"], &[P::Text], E::Text(|row| row.text(0).map(quote_ascii))),
    function(&["json_unquote"], &[P::Text], E::Text(|row| row.text(0).map(unquoted))),
];

/// The text, which is JSON, in the form that all JSON has here.
fn raw(row: Row<'_>) -> Result<Option<String>, Error> {
    let Some(text) = row.text(0) else { return Ok(None) };
    match read(text) {
        Ok(value) => Ok(Some(write(&value))),
        Err(NotJson(byte)) => {
            let message = format!("JSON('{}'): the text is not JSON from byte {byte} on", shown(text, byte));
            Err(Error::data(message).hint("filter such texts out with IS JSON, or pass them as strings"))
        }
    }
}

/// The text around a byte, for a message: it may be long.
fn shown(text: &str, byte: usize) -> String {
    const BEFORE: usize = 40;
    const BEHIND: usize = 20;
    let start = text.floor_char_boundary(if byte > 2 * BEFORE { byte - BEFORE } else { 0 });
    let end = text.ceil_char_boundary(byte.saturating_add(BEHIND).min(text.len()));
    let dots = |cut: bool| if cut { "..." } else { "" };
    format!("{}{}{}", dots(start > 0), &text[start..end], dots(end < text.len()))
}

fn is_json(row: Row<'_>) -> Option<bool> {
    let value = row.text(0).and_then(|text| read(text).ok());
    Some(match row.text(1)? {
        "SCALAR" => value.is_some_and(|value| value.is_scalar()),
        "ARRAY" => matches!(value, Some(Json::Array(_))),
        "OBJECT" => matches!(value, Some(Json::Object(_))),
        _ => value.is_some(),
    })
}

/// What is not in quotes, or has escapes that are none, stays as it is.
fn unquoted(text: &str) -> String {
    let inside = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.and_then(unescaped).unwrap_or_else(|| text.to_owned())
}
