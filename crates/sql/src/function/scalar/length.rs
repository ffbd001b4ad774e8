//! The lengths of `CHAR(n)`, `VARCHAR(n)`, `BINARY(n)` and `VARBINARY(n)`, which a cast cuts to and fills up to.
//!
//! The parser writes such a cast as one to `STRING` or `BYTES` within a call of these; nobody else can write their names.

use tidemill_core::Error;

use super::{Evaluate as E, Function, Parameter as P, Row};

/// What a cast to `CHAR(n)` calls.
pub(crate) const CHAR: &str = "cast to char";
/// What a cast to `VARCHAR(n)` calls.
pub(crate) const VARCHAR: &str = "cast to varchar";
/// What a cast to `BINARY(n)` calls.
pub(crate) const BINARY: &str = "cast to binary";
/// What a cast to `VARBINARY(n)` calls.
pub(crate) const VARBINARY: &str = "cast to varbinary";

/// The longest value that is filled up, in characters or bytes: more is a mistake, and would take the memory of all.
const LONGEST: usize = 64 << 20;

pub(super) static FUNCTIONS: [Function; 4] = [
    Function::new(
        &[CHAR],
        "CAST(value AS CHAR(n))",
        "as a string of n characters, cut or filled with spaces",
        &[P::Text, P::Int],
        E::TryText(char),
    ),
    Function::new(
        &[VARCHAR],
        "CAST(value AS VARCHAR(n))",
        "as a string of n characters at most, cut",
        &[P::Text, P::Int],
        E::Text(|row| cut(row).map(str::to_owned)),
    ),
    Function::new(
        &[BINARY],
        "CAST(value AS BINARY(n))",
        "as n bytes, cut or filled with zeros",
        &[P::Bytes, P::Int],
        E::TryBytes(binary),
    ),
    Function::new(
        &[VARBINARY],
        "CAST(value AS VARBINARY(n))",
        "as n bytes at most, cut",
        &[P::Bytes, P::Int],
        E::Bytes(|row| cut_bytes(row).map(<[u8]>::to_vec)),
    ),
];

fn length(row: Row<'_>) -> Option<usize> {
    usize::try_from(row.int(1)?).ok()
}

fn cut(row: Row<'_>) -> Option<&str> {
    let (text, length) = (row.text(0)?, length(row)?);
    Some(text.char_indices().nth(length).map_or(text, |(end, _)| &text[..end]))
}

fn char(row: Row<'_>) -> Result<Option<String>, Error> {
    let (Some(text), Some(length)) = (cut(row), length(row)) else { return Ok(None) };
    let missing = length - text.chars().count();
    check("CHAR", missing, length)?;
    Ok(Some(text.to_owned() + &" ".repeat(missing)))
}

fn cut_bytes(row: Row<'_>) -> Option<&[u8]> {
    let (bytes, length) = (row.bytes(0)?, length(row)?);
    Some(&bytes[..bytes.len().min(length)])
}

fn binary(row: Row<'_>) -> Result<Option<Vec<u8>>, Error> {
    let (Some(bytes), Some(length)) = (cut_bytes(row), length(row)) else { return Ok(None) };
    check("BINARY", length - bytes.len(), length)?;
    let mut bytes = bytes.to_vec();
    bytes.resize(length, 0);
    Ok(Some(bytes))
}

fn check(name: &str, missing: usize, length: usize) -> Result<(), Error> {
    if missing <= LONGEST {
        return Ok(());
    }
    Err(Error::data(format!("a {name}({length}) would be filled up with {missing} characters"))
        .hint(format!("write VAR{name}({length}), which is not filled up")))
}
