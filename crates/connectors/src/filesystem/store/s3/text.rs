//! An object as a stream of bytes: read in pieces, the next of which is on its way.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;

use bytes::Bytes;
use tidemill_core::Result;

use super::budget::{Allowance, allow};
use super::object::{MOST_REQUESTED_BYTES, Object};
use super::requests::Answer;
use crate::filesystem::store::StoredBytes;

/// The first piece, and every piece where there is no memory to spare: of many objects most are only opened at their
/// heads.
const LEAST_BYTES: u64 = 256 << 10;

/// The bytes of an object.
pub(super) struct ObjectText {
    object: Object,
    position: u64,
    piece: Piece,
    ahead: Option<Ahead>,
    /// How large the next piece may be.
    piece_bytes: u64,
}

/// Bytes that are in memory.
#[derive(Default)]
struct Piece {
    start: u64,
    bytes: Bytes,
    /// Set aside for them.
    _allowance: Option<Allowance>,
}

/// Bytes that are on their way.
struct Ahead {
    range: Range<u64>,
    answer: Answer<Bytes>,
    allowance: Option<Allowance>,
}

impl ObjectText {
    pub(super) fn new(object: Object) -> Self {
        Self { object, position: 0, piece: Piece::default(), ahead: None, piece_bytes: LEAST_BYTES }
    }

    /// What is in memory from the position on.
    fn in_memory(&self) -> &[u8] {
        let skipped = self.position.checked_sub(self.piece.start).and_then(|skipped| usize::try_from(skipped).ok());
        skipped.and_then(|skipped| self.piece.bytes.get(skipped..)).unwrap_or_default()
    }

    /// Brings the piece that begins at the position.
    fn bring(&mut self) -> Result<()> {
        let first = self.piece_bytes == LEAST_BYTES;
        self.piece = Piece::default();
        let ahead = match self.ahead.take().filter(|ahead| ahead.range.start == self.position) {
            Some(ahead) => ahead,
            None => self.begin(self.position)?,
        };
        let Ahead { range, answer, allowance } = ahead;
        self.piece_bytes = (2 * self.piece_bytes).min(MOST_REQUESTED_BYTES);
        if !first && range.end < self.object.bytes() {
            self.ahead = Some(self.begin(range.end)?);
        }
        self.piece = Piece { start: range.start, bytes: answer.wait()?, _allowance: allowance };
        Ok(())
    }

    fn begin(&self, start: u64) -> Result<Ahead> {
        let allowance = (self.piece_bytes > LEAST_BYTES).then(|| allow(self.piece_bytes)).flatten();
        let bytes = if allowance.is_some() { self.piece_bytes } else { LEAST_BYTES };
        let range = start..self.object.bytes().min(start + bytes);
        Ok(Ahead { answer: self.object.begin_fetch(range.clone())?, range, allowance })
    }
}

impl Read for ObjectText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.in_memory().is_empty() && self.position < self.object.bytes() {
            // A kind that no decompressor takes for damage of what it reads.
            self.bring().map_err(|e| io::Error::new(ErrorKind::NetworkDown, e))?;
        }
        let bytes = self.in_memory();
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for ObjectText {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.object.bytes().checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl StoredBytes for ObjectText {
    fn count(&self) -> io::Result<u64> {
        Ok(self.object.bytes())
    }
}
