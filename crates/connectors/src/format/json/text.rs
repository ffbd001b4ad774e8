//! `STRING` and `BYTES`: views into the chunk, where its bytes are what is meant.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewArray, GenericByteViewArray, NullBufferBuilder};
use arrow::buffer::Buffer;
use arrow::datatypes::{BinaryViewType, ByteViewType, StringViewType};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tidemill_core::Result as CoreResult;

use super::column::Column;
use super::fault::Fault;
use super::scan::Cursor;
use super::string::unescape;

/// The longest value that a view holds in itself.
const MAX_INLINE: usize = 12;
/// The block of a view into the chunk.
const CHUNK: u32 = 0;
/// The block of a view into the bytes that a column keeps aside.
const ASIDE: u32 = 1;

/// The views of a column, and the bytes of those that are not in the chunk as they are meant.
struct Views {
    views: Vec<u128>,
    aside: Vec<u8>,
    /// Whether a view points into the chunk, which must then stay in memory.
    keeps_chunk: bool,
    nulls: NullBufferBuilder,
}

impl Views {
    fn new(rows: usize) -> Self {
        Self {
            views: Vec::with_capacity(rows),
            aside: Vec::new(),
            keeps_chunk: false,
            nulls: NullBufferBuilder::new(rows),
        }
    }

    /// Appends `bytes[start..start + len]` of the chunk.
    #[inline]
    fn push_chunk(&mut self, bytes: &[u8], start: usize, len: usize) {
        let view = if len > MAX_INLINE {
            self.keeps_chunk = true;
            long_view(&bytes[start..start + len], CHUNK, start)
        } else {
            short_view(bytes, start, len)
        };
        self.views.push(view);
        self.nulls.append_non_null();
    }

    /// Appends what `write` adds to the bytes kept aside.
    fn push_aside<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let start = self.aside.len();
        if let Err(error) = write(&mut self.aside) {
            self.aside.truncate(start);
            return Err(error);
        }
        let len = self.aside.len() - start;
        if len > MAX_INLINE {
            self.views.push(long_view(&self.aside[start..], ASIDE, start));
        } else {
            self.views.push(short_view(&self.aside, start, len));
            self.aside.truncate(start);
        }
        self.nulls.append_non_null();
        Ok(())
    }

    fn push_null(&mut self) {
        self.views.push(0);
        self.nulls.append_null();
    }

    fn truncate(&mut self, len: usize) {
        self.views.truncate(len);
        self.nulls.truncate(len);
    }

    /// # Safety
    /// Every value must be valid for `T`: UTF-8 for strings.
    unsafe fn finish<T: ByteViewType + ?Sized>(mut self, chunk: &Buffer) -> GenericByteViewArray<T> {
        let kept = if self.keeps_chunk { chunk.clone() } else { Buffer::from(&[]) };
        let blocks: Vec<Buffer> = match (self.keeps_chunk, self.aside.is_empty()) {
            (false, true) => vec![],
            (true, true) => vec![kept],
            (_, false) => vec![kept, Buffer::from_vec(self.aside)],
        };
        // SAFETY: a view holds its bytes in itself, or points at bytes that were in its block when it was made; the
        // chunk is the buffer that the cursor ran over, and what is kept aside only grows behind what is pointed at.
        // That the values are valid is the caller's promise.
        unsafe { GenericByteViewArray::new_unchecked(self.views.into(), blocks, self.nulls.finish()) }
    }
}

/// A view that holds its value in itself.
#[inline]
fn short_view(bytes: &[u8], start: usize, len: usize) -> u128 {
    let value = match bytes.get(start..start + 16).and_then(|block| <[u8; 16]>::try_from(block).ok()) {
        // One load, and what follows the value cut off.
        Some(block) => u128::from_le_bytes(block) & ((1 << (len * 8)) - 1),
        None => {
            let mut block = [0; 16];
            block[..len].copy_from_slice(&bytes[start..start + len]);
            u128::from_le_bytes(block)
        }
    };
    value << 32 | len as u128
}

/// A view that points at its value. Blocks are shorter than 2^31 bytes, which the decoder checks.
#[inline]
fn long_view(value: &[u8], block: u32, start: usize) -> u128 {
    let prefix = u32::from_le_bytes([value[0], value[1], value[2], value[3]]);
    (start as u128) << 96 | u128::from(block) << 64 | u128::from(prefix) << 32 | value.len() as u128
}

/// `STRING`: a string as it is meant, and the JSON text of anything else.
pub(super) struct StringColumn(Views);

impl StringColumn {
    pub(super) fn new(rows: usize) -> Self {
        Self(Views::new(rows))
    }

    /// Appends the characters of a string that is already known: a map's key.
    pub(super) fn push(&mut self, text: &[u8]) {
        let copied: Result<(), std::convert::Infallible> = self.0.push_aside(|aside| {
            aside.extend_from_slice(text);
            Ok(())
        });
        match copied {
            Ok(()) => {}
            Err(never) => match never {},
        }
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
        let decoded = self.0.push_aside(|aside| STANDARD.decode_vec(&text, aside));
        decoded.map_err(|error| Fault::value(format!("is not base64 ({error})")))
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
