//! Reads standard input: one partition, whose rows are its lines, as they arrive.
//!
//! Reading a pipe can wait for ever, and can't be interrupted. A thread of its own does it and
//! hands whole lines over a short channel, so that waiting for them blocks no task, and a wait that
//! is given up loses nothing. The thread ends with its input, or with the process.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use arrow::buffer::Buffer;
use async_trait::async_trait;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Chunk, Opened, PartitionReader, ScanRequest, Source};
use tokio::sync::mpsc::{Receiver, channel};

use crate::format::records::{Cutter, RecordReader, RecordsChunk};
use crate::format::{RecordDecoder, TextFormat};

/// The most that one call reads, in bytes; a Linux pipe holds no more.
const READ_BYTES: usize = 64 << 10;

/// How many blocks are read ahead of the decoder.
const BLOCKS_AHEAD: usize = 16;

/// The partition's name.
const NAME: &str = "stdin";

/// Standard input.
pub struct StdioSource {
    format: TextFormat,
}

impl StdioSource {
    /// Reads rows in `format`.
    pub fn new(format: TextFormat) -> Self {
        Self { format }
    }
}

#[async_trait]
impl Source for StdioSource {
    fn bounded(&self) -> bool {
        true
    }

    fn narrows_rows(&self) -> bool {
        self.format.narrows_rows()
    }

    async fn open(&self, request: &ScanRequest) -> Result<Opened> {
        let decoder = self.format.decoder(request)?;
        take_standard_input()?;
        let blocks = read_ahead(io::stdin(), self.format.cutter(true))?;
        Ok(Opened::bounded(vec![Box::new(StdinReader { blocks, decoder, first: true, bytes: 0 })]))
    }
}

/// Lets one reader have standard input; a second would take lines away from the first.
fn take_standard_input() -> Result<()> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(Error::invalid("standard input can be read only once")
            .hint("store the input in a file and read it with 'connector' = 'filesystem'"));
    }
    Ok(())
}

/// Starts the thread that reads `input`.
fn read_ahead(input: impl Read + Send + 'static, cutter: Box<dyn Cutter>) -> Result<Receiver<Result<Buffer>>> {
    let (sender, blocks) = channel(BLOCKS_AHEAD);
    let read = move || {
        let mut records = RecordReader::new(input, cutter, NAME.into(), READ_BYTES);
        while let Some(block) = records.next_records().transpose() {
            let failed = block.is_err();
            // Nobody listens any more, or there is nothing more to say: the thread is done.
            if sender.blocking_send(block).is_err() || failed {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("tidemill-stdin".to_owned())
        .spawn(read)
        .map_err(|e| Error::unavailable(format!("cannot start a thread for standard input: {e}")).because(e))?;
    Ok(blocks)
}

struct StdinReader {
    blocks: Receiver<Result<Buffer>>,
    decoder: Arc<dyn RecordDecoder>,
    first: bool,
    bytes: u64,
}

#[async_trait]
impl PartitionReader for StdinReader {
    fn partition(&self) -> Arc<str> {
        NAME.into()
    }

    fn position(&self) -> u64 {
        self.bytes
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        let Some(records) = self.blocks.recv().await.transpose()? else { return Ok(None) };
        self.bytes += records.len() as u64;
        let first = std::mem::replace(&mut self.first, false);
        Ok(Some(Box::new(RecordsChunk { decoder: Arc::clone(&self.decoder), records, first })))
    }
}

#[cfg(test)]
mod tests;
