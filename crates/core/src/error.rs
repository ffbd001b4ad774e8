//! The one error that a person reads: what, where, and what to do.

use std::{error::Error as StdError, fmt, ops::Range, sync::Arc};

/// The result of everything that a user's input can make fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the caller does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The SQL, an option or an argument is wrong: fix it and run again.
    Invalid,
    /// Stored or incoming bytes are wrong.
    Data,
    /// A file, disk or server did not do its part: mend it, then try again.
    Unavailable,
    /// The other end is gone; not the cause of a failure, but its echo.
    Closed,
    /// A broken invariant: our bug.
    Internal,
}

/// A place in a text, to be shown with a caret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The name of the text: a file's path, or `<command line>`.
    pub origin: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    /// The bytes of `text` that the message speaks of.
    pub span: Range<usize>,
}

impl Excerpt {
    /// The line and the column that it begins in, each from 1; a column is a character.
    #[must_use]
    pub fn position(&self) -> (usize, usize) {
        let before = self.text.get(..self.span.start).unwrap_or_default();
        let in_line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, in_line.chars().count() + 1)
    }
}

impl fmt::Display for Excerpt {
    /// `file:line:column`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.position();
        write!(f, "{}:{line}:{column}", self.origin)
    }
}

/// An error with its kind, a message (what and where), and a hint (what to do).
///
/// It is one pointer wide, so that a `Result` stays small on hot paths.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    excerpt: Option<Excerpt>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of the given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), hint: None, excerpt: None, source: None }))
    }

    /// The user's SQL, option or argument is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Stored or incoming bytes are wrong.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// A file, disk or server did not do its part.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// The other end of a channel is gone.
    pub fn closed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Closed, message)
    }

    /// A broken invariant.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Shows where, with a caret. The first place that is named stays.
    #[must_use]
    pub fn at(mut self, excerpt: Excerpt) -> Self {
        self.0.excerpt.get_or_insert(excerpt);
        self
    }

    /// Keeps the cause.
    #[must_use]
    pub fn because(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Puts `what: ` before the message.
    #[must_use]
    pub fn context(mut self, what: impl fmt::Display) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    /// What the caller does next.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What is wrong, and where.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do, if there is something to say.
    #[must_use]
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The place in the SQL text, if it is known.
    #[must_use]
    pub fn excerpt(&self) -> Option<&Excerpt> {
        self.0.excerpt.as_ref()
    }
}

/// What a person reads: a program whose `main` returns an error has this printed.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.message)?;
        match &self.0.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|s| s.as_ref() as &(dyn StdError + 'static))
    }
}

impl From<arrow::error::ArrowError> for Error {
    fn from(e: arrow::error::ArrowError) -> Self {
        Self::internal(e.to_string()).because(e)
    }
}
