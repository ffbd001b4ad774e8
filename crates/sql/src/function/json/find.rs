//! What a path leads to in a value.

use std::borrow::Cow;

use super::path::{JsonPath, Step};
use super::value::{Json, Object};

/// A path to one value leads to none, and is strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotFound;

/// The value that the path leads to, or the list of them; `None` where it is lax and there is none.
pub(super) fn find<'v, 'a>(root: &'v Json<'a>, path: &JsonPath) -> Result<Option<Cow<'v, Json<'a>>>, NotFound> {
    let mut found = vec![];
    match walk(root, &path.steps, true, &mut found) {
        Err(NotFound) if !path.lax => return Err(NotFound),
        // Nothing was found before: only a path to one value fails.
        _ => {}
    }
    if !path.is_definite() {
        let all = Json::Array(found.into_iter().map(Cow::into_owned).collect());
        return Ok(Some(Cow::Owned(all)));
    }
    match found.pop() {
        Some(value) if path.length => {
            Ok(length(&value).map(|length| Cow::Owned(Json::Number(length.to_string().into()))))
        }
        Some(value) => Ok(Some(value)),
        None if path.lax => Ok(None),
        None => Err(NotFound),
    }
}

fn length(value: &Json<'_>) -> Option<usize> {
    match value {
        Json::Array(elements) => Some(elements.len()),
        Json::Object(object) => Some(object.members().len()),
        _ => None,
    }
}

/// Adds all that the steps lead to. While there is one value (`definite`), what is missing fails; of many, those that
/// lack it are passed over.
fn walk<'v, 'a>(
    value: &'v Json<'a>,
    steps: &[Step],
    definite: bool,
    found: &mut Vec<Cow<'v, Json<'a>>>,
) -> Result<(), NotFound> {
    let Some((step, rest)) = steps.split_first() else {
        found.push(Cow::Borrowed(value));
        return Ok(());
    };
    let missing = if definite { Err(NotFound) } else { Ok(()) };
    match (step, value) {
        (Step::Name(name), Json::Object(object)) => match object.get(name) {
            Some(member) => walk(member, rest, definite, found),
            None => missing,
        },
        (Step::Names(names), Json::Object(object)) => {
            let members = names.iter().filter_map(|name| object.get(name).map(|member| (name, member)));
            if rest.is_empty() {
                let chosen = members.map(|(name, member)| (name.clone().into(), member.clone()));
                found.push(Cow::Owned(Json::Object(Object(chosen.collect()))));
                return Ok(());
            }
            each(members.map(|(_, member)| member), rest, found)
        }
        (Step::Index(index), Json::Array(elements)) => match at(elements, *index) {
            Some(element) => walk(element, rest, definite, found),
            // Found out too late to fail, as in Flink: `$[9].list[*]` is an empty list.
            None => Ok(()),
        },
        (Step::Indices(indices), Json::Array(elements)) => {
            each(indices.iter().filter_map(|index| at(elements, *index)), rest, found)
        }
        (Step::Slice { from, to }, Json::Array(elements)) => each(slice(elements, *from, *to), rest, found),
        (Step::All, _) => each(children(value), rest, found),
        (Step::Below, _) => below(value, rest, found),
        _ => missing,
    }
}

fn each<'v, 'a: 'v>(
    values: impl IntoIterator<Item = &'v Json<'a>>,
    rest: &[Step],
    found: &mut Vec<Cow<'v, Json<'a>>>,
) -> Result<(), NotFound> {
    values.into_iter().try_for_each(|value| walk(value, rest, false, found))
}

/// The elements, or the values of the members.
fn children<'v, 'a>(value: &'v Json<'a>) -> Vec<&'v Json<'a>> {
    match value {
        Json::Array(elements) => elements.iter().collect(),
        Json::Object(object) => object.members().into_iter().map(|(_, value)| value).collect(),
        _ => vec![],
    }
}

/// Takes the steps from here, and then from each value below.
fn below<'v, 'a>(value: &'v Json<'a>, steps: &[Step], found: &mut Vec<Cow<'v, Json<'a>>>) -> Result<(), NotFound> {
    walk(value, steps, false, found)?;
    for child in children(value) {
        below(child, steps, found)?;
    }
    Ok(())
}

/// The element; from the end where the index is negative.
fn at<'v, 'a>(elements: &'v [Json<'a>], index: i64) -> Option<&'v Json<'a>> {
    let length = i64::try_from(elements.len()).ok()?;
    elements.get(usize::try_from(if index < 0 { length + index } else { index }).ok()?)
}

/// As Jayway cuts: a begin below zero counts from the end only where there is no end, and an end only where there is no
/// begin. With both, each index between is taken by itself.
fn slice<'v, 'a>(elements: &'v [Json<'a>], from: Option<i64>, to: Option<i64>) -> Vec<&'v Json<'a>> {
    let length = i64::try_from(elements.len()).unwrap_or(i64::MAX);
    let from_end = |index: i64| if index < 0 { (length + index).max(0) } else { index };
    let range = match (from, to) {
        (Some(from), None) => from_end(from)..length,
        (None, Some(to)) => 0..from_end(to).min(length),
        (from, to) => from.unwrap_or(0)..to.unwrap_or(length).min(length),
    };
    // An index further before the begin than there are elements takes none.
    (range.start.max(-length)..range.end).filter_map(|index| at(elements, index)).collect()
}
