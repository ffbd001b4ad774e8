//! Texts that parse, with what they say; mistakes, with what is said about them; noise that must not panic.

mod forms;
mod json;
mod mistakes;
mod noise;
mod statements;
mod windows;

use datafusion::sql::sqlparser::ast::Query;
use tidemill_core::{Error, Result};

use super::{SqlText, Statement};

pub(super) fn parse(text: &str) -> Result<Vec<Statement>> {
    super::parse(&SqlText::new("test.sql", text))
}

/// The statements of a text that must parse.
pub(super) fn parsed(text: &str) -> Vec<Statement> {
    parse(text).unwrap_or_else(|e| panic!("{text}\n{}", show(&e)))
}

/// The one query of a text.
pub(super) fn query(text: &str) -> Query {
    match parsed(text).as_slice() {
        [Statement::Query { query, .. }] => (**query).clone(),
        other => panic!("not one query: {other:?}"),
    }
}

/// `message | text under the caret | hint`
pub(super) fn show(error: &Error) -> String {
    let under = error.excerpt().map_or("no place", |e| &e.text[e.span.clone()]);
    format!("{} | {} | {}", error.message(), under, error.hint_text().unwrap_or("no hint"))
}
