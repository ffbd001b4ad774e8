//! Regular expressions, and what `LIKE` and `SIMILAR TO` become where their pattern is no constant.
//!
//! What is no regular expression matches nothing, as in Flink; and so does what takes too many steps to tell.

use super::regex_cache::compiled;
use super::{Evaluate as E, Function, Parameter as P, Row};

const NOT_JAVA: &str = "the syntax of Rust's regex with look-around and back-references, which is nearly Java's";

pub(super) static FUNCTIONS: [Function; 7] = [
    Function::new(
        &["regexp"],
        "REGEXP(string, regex)",
        "whether a part of it matches; FALSE where the regex is empty or none",
        &[P::Text, P::Text],
        E::Boolean(|row| {
            let (text, pattern) = (row.text(0)?, row.text(1)?);
            Some(!pattern.is_empty() && compiled(pattern).is_some_and(|regex| regex.is_match(text).unwrap_or(false)))
        }),
    )
    .differs(NOT_JAVA),
    Function::new(
        &["regexp_extract"],
        "REGEXP_EXTRACT(string, regex[, group])",
        "the first match, or this group of it",
        &[P::Text, P::Text, P::Int],
        E::Text(|row| {
            let (text, pattern, group) = (row.text(0)?, row.text(1)?, usize::try_from(row.int_or(2, 0)?).ok()?);
            let captures = compiled(pattern)?.captures(text).ok()??;
            captures.get(group).map(|found| found.as_str().to_owned())
        }),
    )
    .required(2)
    .differs(NOT_JAVA),
    Function::new(
        &["regexp_extract_all"],
        "REGEXP_EXTRACT_ALL(string, regex[, group])",
        "all matches, or this group (1) of each, as an array",
        &[P::Text, P::Text, P::Int],
        E::Texts(|row| {
            let (text, pattern, group) = (row.text(0)?, row.text(1)?, usize::try_from(row.int_or(2, 1)?).ok()?);
            let regex = compiled(pattern)?;
            if group >= regex.captures_len() {
                return None;
            }
            let found =
                |captures: fancy_regex::Captures<'_>| captures.get(group).map(|found| found.as_str().to_owned());
            regex.captures_iter(text).map(|captures| captures.ok().map(|c| found(c).unwrap_or_default())).collect()
        }),
    )
    .required(2)
    .differs(NOT_JAVA),
    Function::new(
        &["regexp_replace"],
        "REGEXP_REPLACE(string, regex, replacement)",
        "with every match replaced; the replacement stands for itself",
        &[P::Text, P::Text, P::Text],
        E::Text(|row| {
            let (text, pattern, by) = (row.text(0)?, row.text(1)?, row.text(2)?);
            let regex = compiled(pattern)?;
            replaced(text, &regex, by)
        }),
    )
    .differs(NOT_JAVA),
    Function::new(
        &["regexp_count"],
        "REGEXP_COUNT(string, regex)",
        "the number of matches",
        &[P::Text, P::Text],
        E::Int(|row| {
            let (text, regex) = (row.text(0)?, compiled(row.text(1)?)?);
            i32::try_from(regex.find_iter(text).collect::<Result<Vec<_>, _>>().ok()?.len()).ok()
        }),
    )
    .differs(NOT_JAVA),
    Function::new(
        &["regexp_substr"],
        "REGEXP_SUBSTR(string, regex)",
        "the first match",
        &[P::Text, P::Text],
        E::Text(|row| {
            let (text, regex) = (row.text(0)?, compiled(row.text(1)?)?);
            Some(regex.find(text).ok()??.as_str().to_owned())
        }),
    )
    .differs(NOT_JAVA),
    Function::new(
        &["regexp_instr"],
        "REGEXP_INSTR(string, regex)",
        "the position of the first match, or 0",
        &[P::Text, P::Text],
        E::Int(|row| {
            let (text, regex) = (row.text(0)?, compiled(row.text(1)?)?);
            let found = regex.find(text).ok()?;
            i32::try_from(found.map_or(0, |found| text[..found.start()].chars().count() + 1)).ok()
        }),
    )
    .differs(NOT_JAVA),
];

/// `None` where finding a match takes too many steps.
fn replaced(text: &str, regex: &fancy_regex::Regex, by: &str) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut copied = 0;
    for found in regex.find_iter(text) {
        let found = found.ok()?;
        result.push_str(&text[copied..found.start()]);
        result.push_str(by);
        copied = found.end();
    }
    result.push_str(&text[copied..]);
    Some(result)
}

/// `LIKE`, where the pattern differs from row to row; the third argument is the escape character, or empty.
pub(crate) static LIKE: Function = Function::new(
    &["like"],
    "string LIKE pattern ESCAPE character",
    "whether it matches whole: % is any text, _ any character",
    &[P::Text, P::Text, P::Text],
    E::Boolean(|row| matches_whole(row, true)),
);

/// `SIMILAR TO`; the third argument is the escape character, or empty.
pub(crate) static SIMILAR_TO: Function = Function::new(
    &["similar_to"],
    "string SIMILAR TO pattern ESCAPE character",
    "whether it matches whole: as LIKE, and a regular expression else",
    &[P::Text, P::Text, P::Text],
    E::Boolean(|row| matches_whole(row, false)),
);

/// `plain`: all but `%` and `_` stands for itself.
fn matches_whole(row: Row<'_>, plain: bool) -> Option<bool> {
    let (text, pattern, escape) = (row.text(0)?, row.text(1)?, row.text(2)?.chars().next());
    let mut regex = String::from("(?s)^(?:");
    let mut characters = pattern.chars();
    let mut literal = String::new();
    while let Some(c) = characters.next() {
        if Some(c) == escape {
            literal.extend(characters.next());
            continue;
        }
        match c {
            '%' | '_' => {
                regex += &fancy_regex::escape(&std::mem::take(&mut literal));
                regex += if c == '%' { ".*" } else { "." };
            }
            _ if plain => literal.push(c),
            _ => {
                regex += &fancy_regex::escape(&std::mem::take(&mut literal));
                regex.push(c);
            }
        }
    }
    regex += &fancy_regex::escape(&literal);
    regex += ")$";
    // The classes of SIMILAR TO are written in upper case, those of regular expressions in lower.
    let regex = if plain { regex } else { with_classes(&regex) };
    Some(compiled(&regex)?.is_match(text).unwrap_or(false))
}

fn with_classes(regex: &str) -> String {
    const CLASSES: [&str; 7] = ["ALPHA", "UPPER", "LOWER", "DIGIT", "SPACE", "ALNUM", "WHITESPACE"];
    CLASSES.iter().fold(regex.to_owned(), |regex, class| {
        let name = if *class == "WHITESPACE" { "space".to_owned() } else { class.to_lowercase() };
        regex.replace(&format!("[:{class}:]"), &format!("[:{name}:]"))
    })
}
