//! What can be wrong with a record, and how it is told. All of it is cold: no good record comes here.

use std::borrow::Cow;

use arrow::datatypes::Field as Column;
use memchr::memchr_iter;
use tidemill_core::Error;

use super::split::Damage;
use crate::format::text::Misfit;
use crate::format::text::shown::{excerpt, sql_type};

const SKIP: &str = "fix the record, or set 'csv.ignore-parse-errors' = 'true' to skip such records";

/// Whether a record is several, whose ends are carriage returns: it has no line end, and such stand in it outside of quotes.
pub(super) fn ends_with_returns(record: &[u8]) -> bool {
    let within = record.trim_ascii_end();
    within.contains(&b'\r') && !record.iter().any(|byte| matches!(byte, b'\n' | b'"'))
}

/// Lines end as they did on the first Macintosh.
pub(super) fn returns_alone() -> Error {
    Error::data("its lines end with a carriage return alone")
        .hint("convert the file first, for example: tr '\\r' '\\n' < old.csv > new.csv")
}

/// Why a record was not decoded; one pointer wide, since it travels through the hot path.
#[derive(Debug)]
pub(super) struct Fault(Box<Inner>);

#[derive(Debug)]
struct Inner {
    /// The message, but for the record itself.
    problem: String,
    /// Where in the chunk it is, if the message names no column.
    at: Option<usize>,
    /// Whether the record is wrong as a whole, and its values perhaps only for that reason.
    whole: bool,
    hint: Cow<'static, str>,
    /// Where the quote stands that the input does not close.
    opening: Option<usize>,
}

impl Fault {
    fn new(problem: String, hint: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner { problem, at: None, whole: false, hint: hint.into(), opening: None }))
    }

    /// A fault of the whole record.
    fn of_record(problem: String, at: Option<usize>, hint: impl Into<Cow<'static, str>>) -> Self {
        let mut fault = Self::new(problem, hint);
        fault.0.at = at;
        fault.0.whole = true;
        fault
    }

    /// This fault, or the one that was `known` before it if that weighs as much: where a delimiter too many shifts all
    /// values, the delimiter is to be told.
    #[cold]
    pub(super) fn or_heavier(self, known: Option<Self>) -> Self {
        match known {
            Some(known) if known.0.whole || !self.0.whole => known,
            _ => self,
        }
    }

    /// The field is not one that CSV has.
    #[cold]
    pub(super) fn damaged(damage: Damage) -> Self {
        let (at, problem, hint) = match damage {
            Damage::Unclosed(at) => (
                at,
                "a quote is opened and never closed",
                "close the quote, or set 'csv.disable-quote-character' = 'true' if quotes have no meaning in the input",
            ),
            Damage::AfterQuote(at) => {
                (at, "something follows a closing quote", "double the quotes that are part of a field")
            }
            Damage::EscapedEnd(at) => (at, "the input ends with an escape character", SKIP),
        };
        let mut fault = Self::of_record(problem.to_owned(), Some(at), hint);
        if let Damage::Unclosed(at) = damage {
            fault.0.opening = Some(at);
        }
        fault
    }

    /// A byte of the record is not UTF-8.
    #[cold]
    pub(super) fn not_utf8(at: usize) -> Self {
        let hint = "convert the input to UTF-8, or set 'csv.ignore-parse-errors' = 'true' to skip such records";
        Self::of_record("a byte that is not UTF-8".to_owned(), Some(at), hint)
    }

    /// The record has too few fields.
    #[cold]
    pub(super) fn too_few(fields: usize, columns: usize) -> Self {
        let hint = "fix the record, or set 'csv.ignore-parse-errors' = 'true' to read what is missing as NULL";
        Self::of_record(
            format!("the record has {}, but the table {}", count(fields, "field"), count(columns, "column")),
            None,
            hint,
        )
    }

    /// The record has more fields than the table has columns.
    #[cold]
    pub(super) fn too_many(columns: usize) -> Self {
        let hint = "put a field that holds delimiters in quotes, or set 'csv.ignore-parse-errors' = 'true' to skip \
                    such records";
        Self::of_record(
            format!("the record has more fields than the {} of the table", count(columns, "column")),
            None,
            hint,
        )
    }

    /// The text of the field is no value of its column.
    #[cold]
    pub(super) fn value(misfit: Misfit, column: &Column, text: &[u8], number: usize) -> Self {
        let (problem, hint) = misfit.into_parts();
        let name = column.name();
        let hint = match hint {
            Some(hint) => Cow::Borrowed(hint),
            None if text.eq_ignore_ascii_case(name.as_bytes()) => {
                "if this is a header, set 'csv.ignore-first-line' = 'true' to skip it".into()
            }
            None if text.is_empty() => "set 'csv.null-literal' = '' to read empty fields as NULL".into(),
            None => "fix the value, change the column's type, or set 'csv.ignore-parse-errors' = 'true' to read such \
                     values as NULL"
                .into(),
        };
        let (sql_type, text) = (sql_type(column.data_type()), excerpt(text));
        Self::new(format!("column '{name}' is {sql_type}, but '{text}' in field {number} {problem}"), hint)
    }

    /// A column that must have a value has none.
    #[cold]
    pub(super) fn absent(column: &Column) -> Self {
        let hint = "fix the record, or drop NOT NULL from the column's type";
        Self::new(format!("column '{}' is NOT NULL, but has no value in the record", column.name()), hint)
    }

    /// How many lines after the first of the record the fault is, which starts at `start`, where another line is to be
    /// named than the first.
    pub(super) fn line(&self, bytes: &[u8], start: usize) -> u64 {
        self.0.opening.map_or(0, |at| memchr_iter(b'\n', &bytes[start..at]).count() as u64)
    }

    /// The error that a person reads, of the record that is `bytes[start..end]`.
    #[cold]
    pub(super) fn into_error(self, bytes: &[u8], start: usize, end: usize) -> Error {
        let Inner { problem, at, hint, .. } = *self.0;
        let record = excerpt(&bytes[start..end]);
        let message = match at {
            Some(at) => format!("not valid CSV: {problem} at byte {} of the record: {record}", at - start + 1),
            None => format!("{problem}: {record}"),
        };
        Error::data(message).hint(hint)
    }
}

fn count(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}
