//! Views of strings and bytes: into the chunk, where its bytes are what is meant.

use arrow::array::{GenericByteViewArray, NullBufferBuilder};
use arrow::buffer::Buffer;
use arrow::datatypes::ByteViewType;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::Misfit;

/// The longest value that a view holds in itself.
const MAX_INLINE: usize = 12;
/// The block of a view into the chunk.
const CHUNK: u32 = 0;
/// The block of a view into the bytes that a column keeps aside.
const ASIDE: u32 = 1;

/// The views of a column, and the bytes of those that are not in the chunk as they are meant.
pub(in crate::format) struct Views {
    views: Vec<u128>,
    aside: Vec<u8>,
    /// Whether a view points into the chunk, which must then stay in memory.
    keeps_chunk: bool,
    nulls: NullBufferBuilder,
}

impl Views {
    pub(in crate::format) fn new(rows: usize) -> Self {
        Self {
            views: Vec::with_capacity(rows),
            aside: Vec::new(),
            keeps_chunk: false,
            nulls: NullBufferBuilder::new(rows),
        }
    }

    /// Appends `bytes[start..start + len]` of the chunk.
    #[inline]
    pub(in crate::format) fn push_chunk(&mut self, bytes: &[u8], start: usize, len: usize) {
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
    pub(in crate::format) fn push_aside<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
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

    /// Appends a value that does not stand in the chunk.
    pub(in crate::format) fn push_copy(&mut self, value: &[u8]) {
        let copied: Result<(), std::convert::Infallible> = self.push_aside(|aside| {
            aside.extend_from_slice(value);
            Ok(())
        });
        match copied {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    pub(in crate::format) fn push_null(&mut self) {
        self.views.push(0);
        self.nulls.append_null();
    }

    pub(in crate::format) fn truncate(&mut self, len: usize) {
        self.views.truncate(len);
        self.nulls.truncate(len);
    }

    /// The array; `chunk` holds the bytes that `push_chunk` was given.
    ///
    /// # Safety
    /// Every value must be valid for `T`: UTF-8 for strings.
    pub(in crate::format) unsafe fn finish<T: ByteViewType + ?Sized>(
        mut self,
        chunk: &Buffer,
    ) -> GenericByteViewArray<T> {
        let kept = if self.keeps_chunk { chunk.clone() } else { Buffer::from(&[]) };
        let blocks: Vec<Buffer> = match (self.keeps_chunk, self.aside.is_empty()) {
            (false, true) => vec![],
            (true, true) => vec![kept],
            (_, false) => vec![kept, Buffer::from_vec(self.aside)],
        };
        // SAFETY: a view holds its bytes in itself, or points at bytes that were in its block when it was made; the
        // chunk is the buffer that was read, and what is kept aside only grows behind what is pointed at.
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

/// Appends the bytes that a text in base64 means.
pub(in crate::format) fn base64(text: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit> {
    STANDARD.decode_vec(text, out).map_err(|error| Misfit::new(format!("is not base64 ({error})")))
}
