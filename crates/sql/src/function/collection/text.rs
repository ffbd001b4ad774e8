//! Between texts and collections: `ARRAY_JOIN` and `STR_TO_MAP`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringViewArray, StringViewBuilder};
use arrow::datatypes::DataType;
use datafusion::common::Result;

use super::data_error;
use super::map::maps;
use super::pool::Pool;
use crate::function::scalar::{Evaluate as E, Function, Parameter as P, Returns, compiled};
use crate::types::map_type;

pub(super) static FUNCTIONS: [Function; 2] = [
    Function::new(
        &["array_join"],
        "ARRAY_JOIN(array, separator[, null])",
        "its strings with the separator between them; NULLs are left out, or written as the last argument",
        &[P::Texts, P::Text, P::Text],
        E::Arrays(array_join),
    )
    .required(2)
    .returns(Returns::Type(|| DataType::Utf8View)),
    Function::new(
        &["str_to_map"],
        "STR_TO_MAP(string[, between_entries, behind_key])",
        "the entries of a string; the delimiters are regular expressions, ',' and '=' by themselves",
        &[P::Text, P::Text, P::Text],
        E::Arrays(str_to_map),
    )
    .required(1)
    .returns(Returns::Type(|| map_type(DataType::Utf8View, DataType::Utf8View))),
];

/// The text of an argument in a row, or what is taken where it is left out; `None` where it is NULL.
fn text<'a>(given: &'a [ArrayRef], index: usize, row: usize, default: Option<&'static str>) -> Option<&'a str> {
    match given.get(index) {
        Some(texts) => texts.is_valid(row).then(|| texts.as_string_view().value(row)),
        None => default,
    }
}

fn array_join(given: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let pool = Pool::of_arrays(&given[..1])?;
    let texts: &StringViewArray = pool.values.as_string_view();
    let joined = |row: usize| {
        let (elements, separator) = (pool.elements(0, row)?, text(given, 1, row, None)?);
        let null = text(given, 2, row, None);
        if given.len() > 2 && null.is_none() {
            return None;
        }
        let shown = |element: usize| if texts.is_valid(element) { Some(texts.value(element)) } else { null };
        Some(elements.filter_map(shown).collect::<Vec<_>>().join(separator))
    };
    Ok(Arc::new((0..given[0].len()).map(joined).collect::<StringViewArray>()))
}

fn str_to_map(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let (mut keys, mut values, mut ends) = (StringViewBuilder::new(), StringViewBuilder::new(), vec![]);
    let mut count = 0;
    for row in 0..given[0].len() {
        let arguments = (text(given, 0, row, None), text(given, 1, row, Some(",")), text(given, 2, row, Some("=")));
        let valid = match arguments {
            (Some(text), Some(between), Some(behind)) => {
                let entries = if text.is_empty() { vec![] } else { parts(text, between, usize::MAX)? };
                for entry in entries {
                    let mut pair = parts(entry, behind, 2)?.into_iter();
                    keys.append_value(pair.next().unwrap_or_default());
                    values.append_option(pair.next());
                    count += 1;
                }
                true
            }
            _ => false,
        };
        ends.push((valid, count));
    }
    let (keys, values): (ArrayRef, ArrayRef) = (Arc::new(keys.finish()), Arc::new(values.finish()));
    maps(&keys, &values, output, ends.len(), |row, picked| {
        let (valid, end) = ends[row];
        let start = row.checked_sub(1).map_or(0, |before| ends[before].1);
        picked.extend((start..end).map(|i| (i, i)));
        valid.then_some(())
    })
}

/// The parts between the matches, so many at most. As in Java, an empty text before the first character is none, and
/// unless there is a limit, neither are empty ones at the end.
fn parts<'a>(text: &'a str, delimiter: &str, limit: usize) -> Result<Vec<&'a str>> {
    let Some(regex) = compiled(delimiter) else {
        return Err(data_error(
            format!("the delimiter '{delimiter}' is no regular expression"),
            "write a backslash before a character that has a meaning in one",
        ));
    };
    let (mut parts, mut start) = (vec![], 0);
    for found in regex.find_iter(text) {
        let found = found.map_err(|e| {
            data_error(format!("the delimiter '{delimiter}' can't be looked for: {e}"), "make it simpler")
        })?;
        if found.end() == 0 {
            continue;
        }
        if parts.len() + 1 == limit {
            break;
        }
        parts.push(&text[start..found.start()]);
        start = found.end();
    }
    parts.push(&text[start..]);
    while limit == usize::MAX && parts.len() > 1 && parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    Ok(parts)
}
