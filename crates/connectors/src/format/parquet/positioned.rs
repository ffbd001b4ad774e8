//! A file that many threads read at positions of their own.
//!
//! The implementation for `File` in the library shares one position among all that read.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

/// How much is read of a page for its header, which is parsed byte by byte. What follows is read by itself.
const HEADER_BYTES: usize = 512;

/// An open file and its length.
#[derive(Debug, Clone)]
pub struct PositionedFile {
    file: Arc<File>,
    bytes: u64,
}

impl PositionedFile {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), bytes })
    }

    /// So many bytes.
    pub(super) fn read_at(&self, start: u64, length: usize) -> io::Result<Bytes> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

impl Length for PositionedFile {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for PositionedFile {
    type T = BufReader<At>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(HEADER_BYTES, At { file: Arc::clone(&self.file), position: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        Ok(self.read_at(start, length)?)
    }
}

/// Reads on from a position.
pub struct At {
    file: Arc<File>,
    position: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}
