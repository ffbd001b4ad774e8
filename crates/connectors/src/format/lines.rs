//! Cuts a stream of bytes into chunks of whole lines, without looking at what stands in them.
//!
//! ```text
//! read:   {"a":1}⏎{"a":2}⏎{"a"   :3}⏎{"a":4}⏎
//! chunk:  └──── chunk 1 ──┘└ tail ┘
//!                          └──── chunk 2 ─────┘
//! ```
//!
//! The serial part of reading ends here: a chunk can be decoded on any core. The bytes that were
//! read are the chunk; only the tail after the last line end is copied, to the head of the next.

use std::io::{self, ErrorKind, Read};
use std::mem;
use std::sync::Arc;

use arrow::buffer::Buffer;
use memchr::{memchr_iter, memrchr};
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Chunk, DecodeError, Decoded};

use super::LineDecoder;

/// The most that one call reads, in bytes: a few thousand rows, and a fraction of a core's cache.
pub const READ_BYTES: usize = 1 << 20;

/// The longest line that is accepted, in bytes. Without a limit a binary file with no line end
/// would be read into memory whole.
pub const MAX_LINE_BYTES: usize = 256 << 20;

/// Reads whole lines from a stream of bytes.
pub struct LineReader<R> {
    input: R,
    /// The input's name in messages.
    name: Arc<str>,
    read_bytes: usize,
    max_line_bytes: usize,
    /// What was read after the last line end.
    tail: Vec<u8>,
    lines_before: u64,
    ended: bool,
}

impl<R: Read> LineReader<R> {
    /// Reads `input`, called `name` in messages, at most `read_bytes` at a time.
    pub fn new(input: R, name: Arc<str>, read_bytes: usize) -> Self {
        let tail = Vec::new();
        Self { input, name, read_bytes, max_line_bytes: MAX_LINE_BYTES, tail, lines_before: 0, ended: false }
    }

    /// The next whole lines, as soon as one read has completed a line; `None` at the end.
    ///
    /// Every block but the last ends with a line end; the last does if the input does.
    ///
    /// # Errors
    /// `Unavailable` if reading fails, `Data` if a line is longer than [`MAX_LINE_BYTES`].
    pub fn next_lines(&mut self) -> Result<Option<Buffer>> {
        let mut block = mem::take(&mut self.tail);
        while !self.ended {
            let known = block.len();
            self.read_more(&mut block)?;
            if let Some(last) = memrchr(b'\n', &block[known..]) {
                self.cut(&mut block, known + last + 1);
                return Ok(Some(compact(block)));
            }
            if block.len() > self.max_line_bytes {
                return Err(self.line_too_long(block.len()));
            }
        }
        Ok((!block.is_empty()).then(|| compact(block)))
    }

    /// Appends the bytes of one read to `block`.
    fn read_more(&mut self, block: &mut Vec<u8>) -> Result<()> {
        let known = block.len();
        block.resize(known + self.read_bytes, 0);
        let count = loop {
            match self.input.read(&mut block[known..]) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                other => break other.map_err(|e| self.read_failed(e))?,
            }
        };
        block.truncate(known + count);
        self.ended = count == 0;
        Ok(())
    }

    /// Keeps what follows `end` for the next block.
    fn cut(&mut self, block: &mut Vec<u8>, end: usize) {
        self.tail = Vec::with_capacity(block.len() - end + self.read_bytes);
        self.tail.extend_from_slice(&block[end..]);
        block.truncate(end);
        self.lines_before += memchr_iter(b'\n', block).count() as u64;
    }

    fn read_failed(&self, e: io::Error) -> Error {
        Error::unavailable(format!("cannot read {}: {e}", self.name)).because(e)
    }

    fn line_too_long(&self, bytes: usize) -> Error {
        let line = self.lines_before + 1;
        let limit = self.max_line_bytes;
        Error::data(format!(
            "{}: line {line} is longer than the limit of {limit} bytes ({bytes} bytes without a line end)",
            self.name
        ))
        .hint("the input must have one row a line; is it a text file?")
    }
}

/// Rows may hold on to a block for long: the little that a slow pipe gave must not pin all the
/// memory that was ready for more.
fn compact(mut block: Vec<u8>) -> Buffer {
    if block.len() < block.capacity() / 2 {
        block.shrink_to_fit();
    }
    Buffer::from_vec(block)
}

/// Whole lines of a partition, with what decodes them.
pub struct LinesChunk {
    /// Makes the rows.
    pub decoder: Arc<dyn LineDecoder>,
    /// The bytes, cut at line ends.
    pub lines: Buffer,
    /// Whether the partition begins here.
    pub first: bool,
}

impl Chunk for LinesChunk {
    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError> {
        self.decoder.decode(&self.lines, self.first)
    }
}

#[cfg(test)]
mod tests;
