//! What the engine asks of a system that it reads.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_core::{Elements, Error, Result};

/// What a plan needs from a source.
#[derive(Debug, Clone)]
pub struct ScanRequest {
    /// The columns to decode, by name a subset of the table's. May be empty: then only rows count. A `ROW` may have only
    /// some of its fields, if the source [`Source::narrows_rows`].
    pub columns: SchemaRef,
    /// How many rows a batch should have.
    pub batch_rows: usize,
    /// A row that can't be decoded is to be given among [`Decoded::rejected`]; else it fails the chunk.
    pub keep_rejected: bool,
    /// Partitions that appear after the start are wanted too; else what is there at the start is all.
    pub follow: bool,
    /// What an earlier run has read: reading goes on behind it. Only for a source that [`Source::resumes`].
    pub resume: Arc<[ReadPartition]>,
}

/// A partition that an earlier run has read, wholly or in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPartition {
    /// Its name, as [`PartitionReader::partition`] gives it.
    pub name: Arc<str>,
    /// Where to go on, as [`PartitionReader::position`] gave it; `None` if it was read to its end: it need not be
    /// there any more, and is not opened again.
    pub position: Option<u64>,
    /// Where to end, as a reader that began there has given it as its position. A source of text does; one whose chunks are cut
    /// in the same places whenever it is read may go on.
    pub until: Option<u64>,
}

/// A system that can be read, split into partitions.
///
/// # Contract
/// - `open` names every partition that exists now, in an order that does not change between calls
///   over the same input; it fails if one can't be opened. A source that can grow gives a
///   [`Discovery`] with them, if the request asks to follow it.
/// - Reading the same bytes gives the same rows with the same offsets, whatever the request.
/// - A request to resume opens those of its partitions that were not read to their end, each behind what was read, and
///   all that are new; it fails if a partition is gone that was not read to its end, or has less than was read.
#[async_trait]
pub trait Source: Send + Sync {
    /// Whether what is there at the start of a reading that does not follow has an end.
    fn bounded(&self) -> bool;

    /// Whether a reading that follows it ends by itself.
    fn ends(&self) -> bool {
        self.bounded()
    }

    /// Whether it decodes only some fields of a `ROW`, where the others are not asked for.
    fn narrows_rows(&self) -> bool {
        false
    }

    /// Whether a later run can read on where this one stops: what was read is there for as long as it has to be.
    fn resumes(&self) -> bool {
        false
    }

    /// Opens every partition at its beginning, or behind what the request says was read.
    async fn open(&self, request: &ScanRequest) -> Result<Opened>;
}

/// What a source holds.
pub struct Opened {
    /// The partitions that are there.
    pub partitions: Vec<Box<dyn PartitionReader>>,
    /// Finds those that appear later; `None` where none can, or the request did not ask for them.
    pub discovery: Option<Box<dyn Discovery>>,
}

impl Opened {
    /// These partitions, and no other will come.
    #[must_use]
    pub fn bounded(partitions: Vec<Box<dyn PartitionReader>>) -> Self {
        Self { partitions, discovery: None }
    }
}

/// Finds partitions that appear while a source is read.
#[async_trait]
pub trait Discovery: Send {
    /// Waits until there are new partitions, and opens them at their beginning.
    ///
    /// It may be dropped while it waits, and called again: none is lost or given twice.
    async fn next(&mut self) -> Result<Vec<Box<dyn PartitionReader>>>;
}

/// One ordered run of rows. Reading is serial and cheap; the work is in [`Chunk::decode`].
///
/// # Contract
/// - Chunks come in the order of their rows, and hold whole rows.
/// - `next_chunk` waits until at least one row is there (a chunk may be small: what has arrived is
///   not held back to fill it) and gives `None` at the end, from then on.
/// - `next_chunk` may be dropped while it waits, and called again: nothing is lost.
#[async_trait]
pub trait PartitionReader: Send {
    /// The partition's name in messages and in the late output: a file's path, `stdin`. No other of the source has it.
    fn partition(&self) -> Arc<str>;

    /// The place behind the last chunk that was given, in whatever the source counts (bytes, rows): a reader that is
    /// opened there gives the chunks that this one would give next, cut in the same places or in others.
    fn position(&self) -> u64;

    /// The next rows, not yet decoded.
    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>>;
}

/// A run of rows as bytes. Decoding is a pure function, done by whichever core is free.
pub trait Chunk: Send {
    /// What offsets count, for messages: `line`, `row`.
    fn unit(&self) -> &'static str {
        "line"
    }

    /// Decodes the requested columns.
    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError>;
}

/// A decoded chunk.
#[derive(Debug)]
pub struct Decoded {
    /// The requested columns, in the requested order.
    pub rows: RecordBatch,
    /// Each row's offset relative to the chunk's first; `None` means 0, 1, 2, ...
    pub offsets: Option<Vec<u32>>,
    /// How far the chunk moves the partition's offset: its rows, and the places that hold none
    /// (blank lines).
    pub offset_count: u64,
    /// What could not be decoded, if the request asked to keep it.
    pub rejected: Vec<Rejected>,
    /// The rows, where they are of a program's own type: then those above have no columns, and only their number counts.
    pub elements: Option<Elements>,
}

/// What stands where a row should, and can't be decoded.
#[derive(Debug)]
pub struct Rejected {
    /// Its offset relative to the chunk's first.
    pub offset: u64,
    /// Its bytes, without the end of the line.
    pub record: Vec<u8>,
    /// What is wrong with it.
    pub error: Error,
}

/// A row that could not be decoded.
#[derive(Debug)]
pub struct DecodeError {
    /// Its offset relative to the chunk's first.
    pub offset: u64,
    /// What is wrong with it; the engine adds the partition and the line.
    pub error: Error,
}
