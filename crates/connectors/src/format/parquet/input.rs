//! What a Parquet file is read from: a file of this machine, or one that is far.
//!
//! Here the bytes of a row group are read where they are decoded, page by page, by many threads at once. From far they
//! are fetched before, all those of a row group together: a request costs as much time as megabytes do.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};
use tidemill_core::{Error, Result};

use super::positioned::PositionedFile;

/// A file to read.
#[derive(Clone)]
pub enum ParquetInput {
    /// Of this machine.
    Local(PositionedFile),
    /// Behind a network.
    Remote(Arc<dyn RemoteFile>),
}

/// A file whose bytes are asked for in few, large requests. Its errors do not name it.
pub trait RemoteFile: Send + Sync {
    /// How many bytes it has.
    fn bytes(&self) -> u64;

    /// Bytes of it, now. Blocks.
    fn read_at(&self, start: u64, bytes: u64) -> Result<Bytes>;

    /// Begins to fetch ranges, which are in order and do not overlap.
    fn fetch(&self, ranges: Vec<Range<u64>>) -> Fetching;

    /// The same for what will be wanted later; `None` where there is no memory to spare for that.
    fn fetch_ahead(&self, ranges: Vec<Range<u64>>) -> Option<Fetching>;
}

/// Bytes on their way, one item a range. Dropping it gives the request up.
pub type Fetching = Pin<Box<dyn Future<Output = Result<Vec<Bytes>>> + Send>>;

impl ParquetInput {
    /// A file of this machine.
    ///
    /// # Errors
    /// Its length can't be told.
    pub fn local(file: File) -> io::Result<Self> {
        PositionedFile::new(file).map(Self::Local)
    }

    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Local(file) => file.len(),
            Self::Remote(file) => file.bytes(),
        }
    }

    /// Bytes of it, now. Blocks.
    pub(super) fn read_at(&self, start: u64, bytes: u64) -> Result<Bytes> {
        match self {
            Self::Local(file) => file
                .read_at(start, usize::try_from(bytes).unwrap_or(usize::MAX))
                .map_err(|e| Error::unavailable(format!("cannot read its footer: {e}")).because(e)),
            Self::Remote(file) => file.read_at(start, bytes),
        }
    }
}

/// Ranges of a file that are in memory.
#[derive(Clone)]
pub(super) struct Fetched {
    /// Where each begins, and its bytes; in order.
    ranges: Vec<(u64, Bytes)>,
    /// Of the whole file.
    bytes: u64,
}

impl Fetched {
    pub(super) fn new(ranges: &[Range<u64>], fetched: Vec<Bytes>, bytes: u64) -> Self {
        Self { ranges: ranges.iter().map(|range| range.start).zip(fetched).collect(), bytes }
    }

    /// What is there from `start` on.
    fn from(&self, start: u64) -> ParquetResult<Bytes> {
        let before = self.ranges.partition_point(|(begin, _)| *begin <= start);
        let within = before.checked_sub(1).and_then(|index| {
            let (begin, bytes) = &self.ranges[index];
            let skipped = usize::try_from(start - begin).ok().filter(|skipped| *skipped < bytes.len())?;
            Some(bytes.slice(skipped..))
        });
        within.ok_or_else(|| ParquetError::EOF(format!("byte {start} is in no column of the row group")))
    }
}

impl Length for Fetched {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Fetched {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let bytes = self.from(start)?;
        if bytes.len() < length {
            let what = format!("{length} bytes from byte {start} on reach past a column of the row group");
            return Err(ParquetError::EOF(what));
        }
        Ok(bytes.slice(..length))
    }
}

#[cfg(test)]
mod tests;
