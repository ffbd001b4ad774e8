//! What can be wrong with a line, and how it is told. All of it is cold: no good line comes here.

use std::borrow::Cow;

use arrow::datatypes::DataType;
use memchr::memchr;
use tidemill_core::Error;

use super::scan::Cursor;
use crate::format::text::Misfit;
use crate::format::text::shown::{excerpt, sql_type};

const IGNORE_LINES: &str = "fix the line, or set 'json.ignore-parse-errors' = 'true' to skip such lines";

/// What a fault spoils.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The line is not JSON.
    Line,
    /// The line is JSON, but a value is not one of its column.
    Value,
    /// A column has no value, and must have one.
    Absent,
}

/// Why a line was not decoded; one pointer wide, since it travels through the hot path.
#[derive(Debug)]
pub(super) struct Fault(Box<Inner>);

#[derive(Debug)]
struct Inner {
    scope: Scope,
    /// The byte of the chunk that the fault is at.
    at: usize,
    problem: Cow<'static, str>,
    hint: Option<&'static str>,
    /// The names of the fields around the fault, the innermost first.
    path: Vec<String>,
    sql_type: String,
}

impl Fault {
    #[cold]
    fn new(scope: Scope, at: usize, problem: Cow<'static, str>) -> Self {
        Self(Box::new(Inner { scope, at, problem, hint: None, path: Vec::new(), sql_type: String::new() }))
    }

    /// The line is not JSON.
    #[cold]
    pub(super) fn line(at: usize, problem: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Scope::Line, at, problem.into())
    }

    /// The value is not one of the column: the message reads `<value> <problem>`.
    #[cold]
    pub(super) fn value(problem: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Scope::Value, 0, problem.into())
    }

    /// The column has no value: the message reads `column '<name>' <problem>`.
    #[cold]
    pub(super) fn absent(at: usize, column: &str, problem: &'static str) -> Self {
        let mut fault = Self::new(Scope::Absent, at, Cow::Borrowed(problem));
        fault.0.path.push(column.to_owned());
        fault
    }

    /// Says what to do, where there is something better to say than what holds for all.
    #[cold]
    pub(super) fn hint(mut self, hint: &'static str) -> Self {
        self.0.hint = Some(hint);
        self
    }

    /// Whether the line is JSON, so that reading can go on after the value.
    pub(super) fn spoils_only_the_value(&self) -> bool {
        self.0.scope == Scope::Value
    }

    /// Names the field around the fault, whose value starts at `at`.
    #[cold]
    pub(super) fn within(mut self, name: &str, data_type: &DataType, at: usize) -> Self {
        if self.0.path.is_empty() && self.0.scope == Scope::Value {
            self.0.at = at;
            self.0.sql_type = sql_type(data_type);
        }
        self.0.path.push(name.to_owned());
        self
    }

    /// The error that a person reads; the line starts at `line_start` of `bytes`.
    #[cold]
    pub(super) fn into_error(self, bytes: &[u8], line_start: usize) -> Error {
        let Inner { scope, at, problem, hint, mut path, sql_type } = *self.0;
        let line = &bytes[line_start..line_end(bytes, line_start)];
        let byte = at.saturating_sub(line_start) + 1;
        path.reverse();
        let column = path.join(".");
        match scope {
            Scope::Line => {
                Error::data(format!("not valid JSON: {problem} at byte {byte} of the line: {}", excerpt(line)))
                    .hint(hint.unwrap_or(IGNORE_LINES))
            }
            Scope::Value => {
                let value = excerpt(value_at(bytes, at));
                Error::data(format!(
                    "column '{column}' is {sql_type}, but {value} at byte {byte} of the line {problem}"
                ))
                .hint(hint.unwrap_or(
                    "fix the value, change the column's type, or set 'json.ignore-parse-errors' = 'true' \
                         to read such values as NULL",
                ))
            }
            Scope::Absent => Error::data(format!("column '{column}' {problem}: {}", excerpt(line)))
                .hint(hint.unwrap_or(IGNORE_LINES)),
        }
    }
}

impl From<Misfit> for Fault {
    #[cold]
    fn from(misfit: Misfit) -> Self {
        let (problem, hint) = misfit.into_parts();
        let mut fault = Self::value(problem);
        fault.0.hint = hint;
        fault
    }
}

/// Where the line that starts at `start` ends, its line end left out.
pub(super) fn line_end(bytes: &[u8], start: usize) -> usize {
    memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length)
}

/// The text of the value at `start`, or what is left of the line where it has no end.
fn value_at(bytes: &[u8], start: usize) -> &[u8] {
    let mut cursor = Cursor::new(bytes, false);
    cursor.seek(start);
    let end = match cursor.skip_value() {
        Ok(()) => cursor.pos(),
        Err(_) => line_end(bytes, start),
    };
    &bytes[start..end]
}
