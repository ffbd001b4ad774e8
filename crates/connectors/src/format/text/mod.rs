//! What the formats of text have in common: a value's text becomes an element of an Arrow array, and back.
//!
//! ```text
//! text ─► number, decimal, temporal ─► values, views, ends ─► Arrow array ─► writer ─► write ─► text
//! ```
//!
//! A format finds where a value's text stands, and says what its NULLs, strings and nested values look like; what a
//! number or a time looks like is the same for all.

pub(super) mod decimal;
pub(super) mod ends;
pub(super) mod number;
pub(super) mod shown;
pub(super) mod temporal;
pub(super) mod utf8;
pub(super) mod values;
pub(super) mod views;
pub(super) mod write;
pub(super) mod writer;

use std::borrow::Cow;

use arrow::datatypes::DataType;
use tidemill_core::Error;

use self::shown::sql_type;

/// The longest chunk: views and list offsets have 31 bits.
pub(super) const MAX_CHUNK_BYTES: usize = i32::MAX as usize;

/// What may stand before the first record of a file.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Makes values of one type.
pub(super) trait Parse<T> {
    /// The value that `text` means; `None` where it means NULL.
    fn parse(&self, text: &[u8]) -> Result<Option<T>, Misfit>;
}

/// Why a text is no value of a type: the message reads `<text> <problem>`. One pointer wide, since it travels through
/// the hot path.
#[derive(Debug)]
pub(super) struct Misfit(Box<(Cow<'static, str>, Option<&'static str>)>);

impl Misfit {
    #[cold]
    pub(super) fn new(problem: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new((problem.into(), None)))
    }

    /// Says what to do, where there is something better to say than what holds for all.
    #[cold]
    pub(super) fn hint(mut self, hint: &'static str) -> Self {
        self.0.1 = Some(hint);
        self
    }

    /// The problem and the hint.
    pub(super) fn into_parts(self) -> (Cow<'static, str>, Option<&'static str>) {
        *self.0
    }
}

/// A column of a type that `format` has no text for.
pub(super) fn unsupported(format: &str, column: &str, data_type: &DataType) -> Error {
    let sql_type = sql_type(data_type);
    Error::invalid(format!("the format '{format}' does not have the type {sql_type} of the column '{column}'"))
        .hint("declare another type, such as STRING")
}
