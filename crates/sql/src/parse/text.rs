//! The SQL text and the places in it: sqlparser counts lines and characters, a caret needs bytes.

use std::{ops::Range, sync::Arc};

use datafusion::sql::sqlparser::tokenizer::{Location, Span};
use tidemill_core::{Error, Excerpt};

/// An SQL text with its name.
#[derive(Debug, Clone)]
pub struct SqlText {
    /// The name of the text: a file's path, or `<command line>`.
    pub origin: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
}

impl SqlText {
    /// A text and the name under which messages show it.
    pub fn new(origin: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { origin: origin.into(), text: text.into() }
    }

    /// The place of a span. A span without a place is the end of the text.
    #[must_use]
    pub fn excerpt(&self, span: Span) -> Excerpt {
        if span.start.line == 0 {
            let end = self.text.trim_end().len();
            return self.excerpt_of_bytes(end..end);
        }
        let start = self.offset(span.start);
        self.excerpt_of_bytes(start..self.offset(span.end).max(start))
    }

    /// The place of a range of bytes.
    #[must_use]
    pub fn excerpt_of_bytes(&self, span: Range<usize>) -> Excerpt {
        Excerpt { origin: Arc::clone(&self.origin), text: Arc::clone(&self.text), span }
    }

    /// An error about the user's SQL, with its place.
    pub fn error_at(&self, span: Span, message: impl Into<String>) -> Error {
        Error::invalid(message).at(self.excerpt(span))
    }

    /// The part of the text that is SQL: all but a byte order mark at its head.
    pub(super) fn body(&self) -> &str {
        self.text.strip_prefix('\u{feff}').unwrap_or(&self.text)
    }

    /// The byte at which a location lies: its line and column count from 1, the column in
    /// characters. A location outside of the text is its end.
    fn offset(&self, at: Location) -> usize {
        let body = self.body();
        let line_start = match at.line {
            0 | 1 => Some(0),
            line => body.match_indices('\n').nth(line as usize - 2).map(|(newline, _)| newline + 1),
        };
        let column = (at.column as usize).saturating_sub(1);
        let in_body = line_start.map_or(body.len(), |start| {
            body[start..].char_indices().nth(column).map_or(body.len(), |(byte, _)| start + byte)
        });
        self.text.len() - body.len() + in_body
    }
}
