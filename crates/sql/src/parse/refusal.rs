//! A refusal that knows its span, before it meets the text that it is about.

use datafusion::sql::sqlparser::tokenizer::Span;
use tidemill_core::Error;

use super::text::SqlText;

/// What is wrong, where, and what to do.
#[derive(Debug)]
pub(super) struct Refusal {
    message: String,
    hint: Option<String>,
    span: Span,
}

impl Refusal {
    pub(super) fn new(message: impl Into<String>, span: Span) -> Self {
        Self { message: message.into(), hint: None, span }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The error, with its place in the text if it has one.
    pub(super) fn at(self, sql: &SqlText) -> Error {
        let excerpt = (self.span != Span::empty()).then(|| sql.excerpt(self.span));
        let error = Error::from(self);
        match excerpt {
            Some(excerpt) => error.at(excerpt),
            None => error,
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let error = Self::invalid(refusal.message);
        match refusal.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}
