//! `STRING` and `BYTES`: views into the chunk, where its bytes are what is meant.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewArray};
use arrow::buffer::Buffer;
use arrow::datatypes::{BinaryViewType, StringViewType};
use tidemill_core::Result as CoreResult;

use super::column::Column;
use super::fault::Fault;
use super::scan::Cursor;
use super::string::unescape;
use crate::format::text::views::{Views, base64};

/// `STRING`: a string as it is meant, and the JSON text of anything else.
pub(super) struct StringColumn(Views);

impl StringColumn {
    pub(super) fn new(rows: usize) -> Self {
        Self(Views::new(rows))
    }

    /// Appends the characters of a string that is already known: a map's key.
    pub(super) fn push(&mut self, text: &[u8]) {
        self.0.push_copy(text);
    }

    /// Numbers and words are taken as they stand; arrays and objects lose the white space between their tokens.
    fn push_other(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let start = cursor.pos();
        let nested = matches!(cursor.peek(), b'{' | b'[');
        cursor.skip_value()?;
        let (bytes, end) = (cursor.bytes(), cursor.pos());
        if nested {
            self.0.push_aside(|aside| {
                compact(&bytes[start..end], aside);
                Ok(())
            })
        } else {
            self.0.push_chunk(bytes, start, end - start);
            Ok(())
        }
    }
}

/// Appends checked JSON without the white space between its tokens.
fn compact(json: &[u8], out: &mut Vec<u8>) {
    let (mut quoted, mut escaped) = (false, false);
    for byte in json {
        match byte {
            b' ' | b'\t' | b'\r' if !quoted => continue,
            b'"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = *byte == b'\\' && !escaped;
        out.push(*byte);
    }
}

impl Column for StringColumn {
    fn append(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if cursor.peek() != b'"' {
            return self.push_other(cursor);
        }
        let text = cursor.string()?;
        if text.escaped {
            return self.0.push_aside(|aside| {
                unescape(text.raw, aside);
                Ok(())
            });
        }
        self.0.push_chunk(cursor.bytes(), text.start, text.raw.len());
        Ok(())
    }

    fn append_null(&mut self) {
        self.0.push_null();
    }

    fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    fn finish(self: Box<Self>, chunk: &Buffer) -> CoreResult<ArrayRef> {
        // SAFETY: the decoder runs over valid UTF-8 only, and values begin and end at ASCII bytes; unescaping writes
        // whole characters.
        Ok(Arc::new(unsafe { self.0.finish::<StringViewType>(chunk) }))
    }
}

/// `BYTES`: base64.
pub(super) struct BytesColumn(Views);

impl BytesColumn {
    pub(super) fn new(rows: usize) -> Self {
        Self(Views::new(rows))
    }
}

impl Column for BytesColumn {
    fn append(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if cursor.peek() != b'"' {
            return Err(Fault::value("is not a string in base64"));
        }
        let text = cursor.string()?.unescaped();
        Ok(self.0.push_aside(|aside| base64(&text, aside))?)
    }

    fn append_null(&mut self) {
        self.0.push_null();
    }

    fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    fn finish(self: Box<Self>, chunk: &Buffer) -> CoreResult<ArrayRef> {
        // SAFETY: any bytes are valid.
        let array: BinaryViewArray = unsafe { self.0.finish::<BinaryViewType>(chunk) };
        Ok(Arc::new(array))
    }
}
