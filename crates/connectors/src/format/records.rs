//! Cuts a stream of bytes into chunks of whole records; what a record is, the format's cutter says.
//!
//! ```text
//! read:   {"a":1}⏎{"a":2}⏎{"a"   :3}⏎{"a":4}⏎
//! chunk:  └──── chunk 1 ──┘└ tail ┘
//!                          └──── chunk 2 ─────┘
//! ```
//!
//! The serial part of reading ends here: a chunk can be decoded on any core. The bytes that were
//! read are the chunk; only the tail after the last record is copied, to the head of the next.

use std::io::{self, ErrorKind, Read};
use std::mem;
use std::sync::Arc;

use arrow::buffer::Buffer;
use memchr::{memchr_iter, memrchr};
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Chunk, DecodeError, Decoded};

use super::RecordDecoder;

/// The most that one call reads, in bytes: a few thousand rows, and a fraction of a core's cache.
pub const READ_BYTES: usize = 1 << 20;

/// What the first call reads, in bytes.
const FIRST_READ_BYTES: usize = 64 << 10;

/// The longest record that is accepted, in bytes. Without a limit a binary file with no line end
/// would be read into memory whole.
pub const MAX_RECORD_BYTES: usize = 256 << 20;

/// Finds where records end.
pub trait Cutter: Send {
    /// The end of the last whole record of `block`, which begins where a record does. A call before
    /// this one has looked at its first `known` bytes, and found no end there.
    fn last_end(&mut self, block: &[u8], known: usize) -> Option<usize>;

    /// What to do where no end is found within the limit.
    fn hint(&self) -> &'static str {
        "the input must have one row a line; is it a text file?"
    }
}

/// Every line is a record.
pub struct AtLineEnds;

impl Cutter for AtLineEnds {
    fn last_end(&mut self, block: &[u8], known: usize) -> Option<usize> {
        memrchr(b'\n', &block[known..]).map(|last| known + last + 1)
    }
}

/// Reads whole records from a stream of bytes.
pub struct RecordReader<R> {
    input: R,
    cutter: Box<dyn Cutter>,
    /// The input's name in messages.
    name: Arc<str>,
    /// How much the next read asks for: little at first, so that many files can be opened at their heads.
    read_bytes: usize,
    most_read_bytes: usize,
    max_record_bytes: usize,
    /// What was read after the last whole record.
    tail: Vec<u8>,
    /// How many lines the blocks had that were given; those before them are not counted.
    lines_before: u64,
    /// Where reading began.
    begin: u64,
    /// Behind the last block that was given.
    position: u64,
    ended: bool,
}

impl<R: Read> RecordReader<R> {
    /// Reads `input`, called `name` in messages, at most `read_bytes` at a time.
    pub fn new(input: R, cutter: Box<dyn Cutter>, name: Arc<str>, read_bytes: usize) -> Self {
        Self {
            input,
            cutter,
            name,
            read_bytes: read_bytes.min(FIRST_READ_BYTES),
            most_read_bytes: read_bytes,
            max_record_bytes: MAX_RECORD_BYTES,
            tail: Vec::new(),
            lines_before: 0,
            begin: 0,
            position: 0,
            ended: false,
        }
    }

    /// The same, where `input` does not begin at the beginning of its bytes, but behind so many of them.
    #[must_use]
    pub fn behind(mut self, position: u64) -> Self {
        (self.begin, self.position) = (position, position);
        self
    }

    /// How many bytes the blocks had that were given, and what was before them.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next whole records, as soon as one read has completed a record; `None` at the end.
    ///
    /// Every block but the last ends where a record does; the last where the input does.
    ///
    /// # Errors
    /// `Unavailable` if reading fails, `Data` if a record is longer than [`MAX_RECORD_BYTES`].
    pub fn next_records(&mut self) -> Result<Option<Buffer>> {
        let records = self.read_records()?;
        self.position += records.as_ref().map_or(0, |records| records.len() as u64);
        Ok(records)
    }

    fn read_records(&mut self) -> Result<Option<Buffer>> {
        let mut block = mem::take(&mut self.tail);
        while !self.ended {
            let known = block.len();
            self.read_more(&mut block)?;
            if let Some(end) = self.cutter.last_end(&block, known) {
                self.cut(&mut block, end);
                return Ok(Some(compact(block)));
            }
            if block.len() > self.max_record_bytes {
                return Err(self.record_too_long(block.len()));
            }
        }
        Ok((!block.is_empty()).then(|| compact(block)))
    }

    /// Appends the bytes of one read to `block`.
    fn read_more(&mut self, block: &mut Vec<u8>) -> Result<()> {
        let known = block.len();
        block.resize(known + self.read_bytes, 0);
        self.read_bytes = (2 * self.read_bytes).min(self.most_read_bytes);
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
        self.tail = block[end..].to_vec();
        block.truncate(end);
        self.lines_before += memchr_iter(b'\n', block).count() as u64;
    }

    fn read_failed(&self, e: io::Error) -> Error {
        // An input that knows what to do says so itself.
        let e = match e.downcast::<Error>() {
            Ok(own) => return own.context(format!("cannot read {}", self.name)),
            Err(e) => e,
        };
        let hint = match e.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::InvalidData => "get the file again from where it came from",
            _ => "check the disk or the connection that it is read over",
        };
        Error::unavailable(format!("cannot read {}: {e}", self.name)).because(e).hint(hint)
    }

    fn record_too_long(&self, bytes: usize) -> Error {
        let place = match self.begin {
            0 => format!("line {}", self.lines_before + 1),
            // The lines before are not known.
            _ => format!("byte {}", self.position),
        };
        let limit = self.max_record_bytes;
        Error::data(format!(
            "{}: the record at {place} is longer than the limit of {limit} bytes ({bytes} bytes without an end)",
            self.name
        ))
        .hint(self.cutter.hint())
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

/// Whole records of a partition, with what decodes them.
pub struct RecordsChunk {
    /// Makes the rows.
    pub decoder: Arc<dyn RecordDecoder>,
    /// The bytes, cut where records end.
    pub records: Buffer,
    /// Whether the partition begins here.
    pub first: bool,
}

impl Chunk for RecordsChunk {
    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError> {
        self.decoder.decode(&self.records, self.first)
    }
}

#[cfg(test)]
mod tests;
