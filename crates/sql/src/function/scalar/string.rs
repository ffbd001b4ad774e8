//! Functions that make a text of texts. Lengths and positions count characters (code points), from 1.

use tidemill_core::Error;

use super::{Evaluate as E, Function, Parameter as P, Returns, Row};

pub(super) static FUNCTIONS: [Function; 24] = [
    Function::new(
        &["concat"],
        "CONCAT(string, ...)",
        "all strings in a row; NULL if one is NULL",
        &[P::Text],
        E::Text(concat),
    )
    .repeats(),
    Function::new(
        &["concat_ws"],
        "CONCAT_WS(separator, string, ...)",
        "the strings that are not NULL, with the separator between them",
        &[P::Text, P::Text],
        E::Text(concat_ws),
    )
    .required(1)
    .repeats(),
    Function::new(
        &["upper"],
        "UPPER(string)",
        "in upper case",
        &[P::Text],
        E::Text(|row| row.text(0).map(str::to_uppercase)),
    ),
    Function::new(
        &["lower"],
        "LOWER(string)",
        "in lower case",
        &[P::Text],
        E::Text(|row| row.text(0).map(str::to_lowercase)),
    ),
    Function::new(
        &["btrim"],
        "BTRIM(string[, characters])",
        "without these characters (spaces) at both ends; also TRIM(BOTH characters FROM string)",
        &[P::Text, P::Text],
        E::Text(|row| trimmed(row, |text, set| text.trim_matches(set))),
    )
    .required(1),
    Function::new(
        &["ltrim"],
        "LTRIM(string[, characters])",
        "without these characters (spaces) at its start; also TRIM(LEADING characters FROM string)",
        &[P::Text, P::Text],
        E::Text(|row| trimmed(row, |text, set| text.trim_start_matches(set))),
    )
    .required(1),
    Function::new(
        &["rtrim"],
        "RTRIM(string[, characters])",
        "without these characters (spaces) at its end; also TRIM(TRAILING characters FROM string)",
        &[P::Text, P::Text],
        E::Text(|row| trimmed(row, |text, set| text.trim_end_matches(set))),
    )
    .required(1),
    Function::new(
        &["lpad"],
        "LPAD(string, length, pad)",
        "of this length, filled with the pad at its start or cut at its end",
        &[P::Text, P::Int, P::Text],
        E::TryText(|row| Ok(padded("LPAD", row)?.map(|(text, pad)| pad + text))),
    ),
    Function::new(
        &["rpad"],
        "RPAD(string, length, pad)",
        "of this length, filled with the pad at its end or cut",
        &[P::Text, P::Int, P::Text],
        E::TryText(|row| Ok(padded("RPAD", row)?.map(|(text, pad)| text.to_owned() + &pad))),
    ),
    Function::new(
        &["replace"],
        "REPLACE(string, from, to)",
        "with every `from` replaced",
        &[P::Text, P::Text, P::Text],
        E::Text(|row| Some(row.text(0)?.replace(row.text(1)?, row.text(2)?))),
    ),
    Function::new(
        &["translate"],
        "TRANSLATE(string, from, to)",
        "each character of `from` replaced by the one at its place in `to`, or dropped",
        &[P::Text, P::Text, P::Text],
        E::Text(translate),
    ),
    Function::new(
        &["initcap"],
        "INITCAP(string)",
        "each word with a capital",
        &[P::Text],
        E::Text(|row| row.text(0).map(initcap)),
    )
    .differs("letters beyond ASCII belong to words here too"),
    Function::new(
        &["reverse"],
        "REVERSE(string)",
        "backwards",
        &[P::Text],
        E::Text(|row| row.text(0).map(|text| text.chars().rev().collect())),
    ),
    Function::new(&["repeat"], "REPEAT(string, count)", "so many times", &[P::Text, P::Int], E::TryText(repeat)),
    Function::new(
        &["char_length", "character_length"],
        "CHAR_LENGTH(string)",
        "the number of characters; also CHARACTER_LENGTH",
        &[P::Text],
        E::Int(|row| i32::try_from(row.text(0)?.chars().count()).ok()),
    ),
    Function::new(
        &["ascii"],
        "ASCII(string)",
        "the first byte of its UTF-8, signed; 0 if it is empty",
        &[P::Text],
        E::Int(|row| Some(row.text(0)?.bytes().next().map_or(0, |byte| i32::from(byte.cast_signed())))),
    ),
    Function::new(
        &["chr"],
        "CHR(number)",
        "the character with this code, modulo 256; empty below 0",
        &[P::BigInt],
        E::Text(|row| {
            let code = row.bigint(0)?;
            let byte = (code >= 0).then(|| u8::try_from(code & 0xFF).ok()).flatten();
            Some(byte.map(|byte| char::from(byte).to_string()).unwrap_or_default())
        }),
    ),
    Function::new(
        &["startswith"],
        "STARTSWITH(string, start)",
        "whether it begins so; also BYTES",
        &[P::TextOrBytes, P::TextOrBytes],
        E::Boolean(|row| Some(row.bytes_of(0)?.starts_with(row.bytes_of(1)?))),
    ),
    Function::new(
        &["endswith"],
        "ENDSWITH(string, end)",
        "whether it ends so; also BYTES",
        &[P::TextOrBytes, P::TextOrBytes],
        E::Boolean(|row| Some(row.bytes_of(0)?.ends_with(row.bytes_of(1)?))),
    ),
    Function::new(
        &["elt"],
        "ELT(index, string, ...)",
        "the string at this place, from 1; NULL where there is none",
        &[P::Int, P::Text],
        E::Text(|row| {
            let index = usize::try_from(row.int(0)?).ok().filter(|&index| index > 0)?;
            row.text(index).map(str::to_owned)
        }),
    )
    .required(2)
    .repeats()
    .returns(Returns::Type(|| arrow::datatypes::DataType::Utf8View))
    .differs("a negative constant gives NULL; Flink refuses it"),
    Function::new(
        &["is_alpha"],
        "IS_ALPHA(string)",
        "whether it has letters only, and one at least; FALSE for NULL",
        &[P::Text],
        E::Boolean(|row| {
            Some(row.text(0).is_some_and(|text| !text.is_empty() && text.chars().all(char::is_alphabetic)))
        }),
    ),
    Function::new(
        &["is_digit"],
        "IS_DIGIT(string)",
        "whether it has digits only, and one at least; FALSE for NULL",
        &[P::Text],
        E::Boolean(|row| {
            Some(row.text(0).is_some_and(|text| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())))
        }),
    )
    .differs("the digits 0 to 9; Flink takes those of other scripts too"),
    Function::new(
        &["is_decimal"],
        "IS_DECIMAL(string)",
        "whether it can be read as a number; FALSE for NULL",
        &[P::Text],
        E::Boolean(|row| Some(row.text(0).is_some_and(is_decimal))),
    ),
    Function::new(
        &["split"],
        "SPLIT(string, delimiter)",
        "its parts as an array; the characters where the delimiter is empty",
        &[P::Text, P::Text],
        E::Texts(split),
    ),
];

fn concat(row: Row<'_>) -> Option<String> {
    (0..row.count()).map(|i| row.text(i)).collect()
}

fn concat_ws(row: Row<'_>) -> Option<String> {
    let separator = row.text(0)?;
    let parts: Vec<&str> = (1..row.count()).filter_map(|i| row.text(i)).collect();
    Some(parts.join(separator))
}

fn trimmed(row: Row<'_>, trim: for<'a> fn(&'a str, &[char]) -> &'a str) -> Option<String> {
    let text = row.text(0)?;
    let characters: Vec<char> = if row.count() > 1 { row.text(1)?.chars().collect() } else { vec![' '] };
    Some(trim(text, &characters).to_owned())
}

/// The part of the text that is kept, and what fills the rest; `None` where the length is negative or nothing fills.
fn padded<'a>(name: &str, row: Row<'a>) -> Result<Option<(&'a str, String)>, Error> {
    let (Some(text), Some(length), Some(pad)) = (row.text(0), row.int(1), row.text(2)) else { return Ok(None) };
    let Ok(length) = usize::try_from(length) else { return Ok(None) };
    if pad.is_empty() {
        return Ok(None);
    }
    let end = text.char_indices().nth(length).map_or(text.len(), |(at, _)| at);
    let missing = length.saturating_sub(text.chars().count());
    let characters = pad.chars().count();
    let rest: usize = pad.chars().take(missing % characters).map(char::len_utf8).sum();
    let bytes = (missing / characters).saturating_mul(pad.len()).saturating_add(rest).saturating_add(end);
    if bytes > LONGEST {
        return Err(Error::data(format!("{name} to {length} characters is longer than 64 MiB"))
            .hint("fill it up to fewer characters"));
    }
    Ok(Some((&text[..end], pad.chars().cycle().take(missing).collect())))
}

/// A `from` that is NULL leaves the text as it is.
fn translate(row: Row<'_>) -> Option<String> {
    let text = row.text(0)?;
    let Some(from) = row.text(1) else { return Some(text.to_owned()) };
    let (from, to): (Vec<char>, Vec<char>) =
        (from.chars().collect(), row.text(2).unwrap_or_default().chars().collect());
    let translated = |c| match from.iter().position(|&f| f == c) {
        Some(at) => to.get(at).copied(),
        None => Some(c),
    };
    Some(text.chars().filter_map(translated).collect())
}

fn initcap(text: &str) -> String {
    let mut within = false;
    let mut words = String::with_capacity(text.len());
    for c in text.chars() {
        if within {
            words.extend(c.to_lowercase())
        } else {
            words.extend(c.to_uppercase())
        }
        within = c.is_alphanumeric();
    }
    words
}

/// The longest text that REPEAT, LPAD and RPAD make, in bytes: more is a mistake, and would take the memory of all.
const LONGEST: usize = 64 << 20;

fn repeat(row: Row<'_>) -> Result<Option<String>, Error> {
    let (Some(text), Some(count)) = (row.text(0), row.int(1)) else { return Ok(None) };
    let count = usize::try_from(count).unwrap_or(0);
    match text.len().checked_mul(count) {
        Some(..=LONGEST) => Ok(Some(text.repeat(count))),
        _ => Err(Error::data(format!("REPEAT of {} bytes {count} times is longer than 64 MiB", text.len()))
            .hint("repeat it fewer times")),
    }
}

fn is_decimal(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E'))
        && text.parse::<f64>().is_ok()
}

fn split(row: Row<'_>) -> Option<Vec<String>> {
    let (text, delimiter) = (row.text(0)?, row.text(1)?);
    Some(match (text.is_empty(), delimiter.is_empty()) {
        (true, _) => vec![],
        (false, true) => text.chars().map(String::from).collect(),
        (false, false) => text.split(delimiter).map(str::to_owned).collect(),
    })
}
