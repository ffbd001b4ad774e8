//! Parts of a text and places in it. Positions count characters (code points), from 1; a negative one counts from the
//! end.

use tidemill_core::Error;

use super::{Evaluate as E, Function, Parameter as P, Row};

pub(super) static FUNCTIONS: [Function; 8] = [
    Function::new(
        &["substring", "substr"],
        "SUBSTRING(string, start[, length])",
        "from this position on; also SUBSTR, SUBSTRING(string FROM start FOR length)",
        &[P::Text, P::Int, P::Int],
        E::Text(substring),
    )
    .required(2),
    Function::new(
        &["left"],
        "LEFT(string, length)",
        "its first characters",
        &[P::Text, P::Int],
        E::Text(|row| {
            let (text, length) = (row.text(0)?, usize::try_from(row.int(1)?).unwrap_or(0));
            Some(text.chars().take(length).collect())
        }),
    ),
    Function::new(
        &["right"],
        "RIGHT(string, length)",
        "its last characters",
        &[P::Text, P::Int],
        E::Text(|row| {
            let (text, length) = (row.text(0)?, usize::try_from(row.int(1)?).unwrap_or(0));
            Some(text.chars().skip(text.chars().count().saturating_sub(length)).collect())
        }),
    ),
    Function::new(
        &["position"],
        "POSITION(part IN string)",
        "where it is first found, or 0",
        &[P::Text, P::Text],
        E::Int(|row| found(row.text(1)?, row.text(0)?, 0)),
    ),
    Function::new(
        &["locate"],
        "LOCATE(part, string[, start])",
        "where it is first found from this position on, or 0",
        &[P::Text, P::Text, P::Int],
        E::Int(|row| {
            let (part, text, start) = (row.text(0)?, row.text(1)?, row.int_or(2, 1)?);
            if part.is_empty() { Some(1) } else { found(text, part, usize::try_from(start - 1).unwrap_or(0)) }
        }),
    )
    .required(2),
    Function::new(
        &["instr"],
        "INSTR(string, part[, start[, occurrence]])",
        "where it is found from this position on (1) for so many a time (1), or 0; backwards from the end where the start \
         is below 0",
        &[P::Text, P::Text, P::Int, P::Int],
        E::TryInt(instr),
    )
    .required(2),
    Function::new(
        &["overlay"],
        "OVERLAY(string PLACING part FROM start[ FOR length])",
        "with the part in the place of so many characters (as many as it has); as it is where it starts outside",
        &[P::Text, P::Text, P::Int, P::Int],
        E::Text(overlay),
    )
    .required(3),
    Function::new(
        &["split_index"],
        "SPLIT_INDEX(string, delimiter, index)",
        "the part with this index, from 0; NULL where there is none",
        &[P::Text, P::TextOrInt, P::Int],
        E::Text(split_index),
    ),
];

fn substring(row: Row<'_>) -> Option<String> {
    let (text, start) = (row.text(0)?, i64::from(row.int(1)?));
    let length = usize::try_from(row.int_or(2, i32::MAX)?).ok()?;
    let characters = i64::try_from(text.chars().count()).ok()?;
    let skipped = match start {
        1.. => start - 1,
        0 => 0,
        _ => characters + start,
    };
    // A start before the first character leaves nothing.
    let Ok(skipped) = usize::try_from(skipped) else { return Some(String::new()) };
    Some(text.chars().skip(skipped).take(length).collect())
}

/// The position of the part behind so many characters; 0 where it is not.
fn found(text: &str, part: &str, skipped: usize) -> Option<i32> {
    let Some((start, _)) = text.char_indices().nth(skipped).or((skipped == 0).then_some((0, ' '))) else {
        return Some(0);
    };
    let at = text[start..].find(part).map(|at| text[..start + at].chars().count() + 1);
    i32::try_from(at.unwrap_or(0)).ok()
}

fn instr(row: Row<'_>) -> Result<Option<i32>, Error> {
    let (Some(text), Some(part)) = (row.text(0), row.text(1)) else { return Ok(None) };
    let (Some(start), Some(occurrence)) = (row.int_or(2, 1), row.int_or(3, 1)) else { return Ok(None) };
    match usize::try_from(occurrence) {
        Ok(occurrence @ 1..) => Ok(i32::try_from(occurrence_of(text, part, start, occurrence)).ok()),
        _ => Err(Error::data(format!("INSTR counts occurrences from 1, and {occurrence} is asked for"))),
    }
}

/// The position of the occurrence; 0 where it is not.
fn occurrence_of(text: &str, part: &str, start: i32, occurrence: usize) -> usize {
    let (text, part): (Vec<char>, Vec<char>) = (text.chars().collect(), part.chars().collect());
    let distance = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
    if part.is_empty() {
        // It is everywhere, and found where the search might begin at all.
        return match start {
            0 => 0,
            1.. => 1,
            _ => text.len() + 1,
        };
    }
    let matches = |at: &usize| text[*at..].starts_with(&part);
    let found = match start {
        0 => None,
        1.. => (distance - 1..text.len()).filter(matches).nth(occurrence - 1),
        _ => (0..(text.len() + 1).saturating_sub(distance)).rev().filter(matches).nth(occurrence - 1),
    };
    found.map_or(0, |at| at + 1)
}

fn overlay(row: Row<'_>) -> Option<String> {
    let (text, part, start) = (row.text(0)?, row.text(1)?, row.int(2)?);
    let width = i32::try_from(part.chars().count()).ok()?;
    let length = row.int_or(3, width)?;
    let characters: Vec<char> = text.chars().collect();
    let Some(before) = usize::try_from(start).ok().filter(|&s| s > 0 && s <= characters.len()).map(|s| s - 1) else {
        return Some(text.to_owned());
    };
    let mut result: String = characters[..before].iter().collect();
    result.push_str(part);
    // Nothing to replace takes all that follows, as Flink has it.
    let after = match usize::try_from(length) {
        Ok(length @ 1..) => characters.get(before + length..).unwrap_or_default(),
        _ => &[],
    };
    result.extend(after);
    Some(result)
}

/// The delimiter is a text, or the code of one character.
fn split_index(row: Row<'_>) -> Option<String> {
    let (text, index) = (row.text(0)?, usize::try_from(row.int(2)?).ok()?);
    let code = || row.int(1).and_then(|code| char::from_u32(code.cast_unsigned()));
    let delimiter = row.text(1).map(str::to_owned).or_else(|| code().map(String::from))?;
    match (text.is_empty(), delimiter.is_empty()) {
        (true, _) => None,
        (false, true) => (index == 0).then(|| text.to_owned()),
        (false, false) => text.split(&delimiter).nth(index).map(str::to_owned),
    }
}
