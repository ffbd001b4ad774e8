//! A source whose partitions, and the cuts between its chunks, the test decides.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::buffer::Buffer;
use async_trait::async_trait;
use tidemill_connectors::format::RecordDecoder;
use tidemill_connectors::format::json::{JsonDecoder, JsonOptions};
use tidemill_connectors::format::records::RecordsChunk;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{
    Chunk, Connector, Opened, OptionSpec, PartitionReader, ScanRequest, SinkFactory, Source, TableSpec, WriteMode,
};

/// `'connector' = 'given'`: lines of JSON.
#[derive(Debug, Clone)]
pub struct Given {
    /// By partition, in order.
    pub partitions: Vec<Vec<GivenChunk>>,
}

/// Lines that arrive together.
#[derive(Debug, Clone)]
pub struct GivenChunk {
    pub lines: String,
    /// How often the reader lets others run before it hands the lines out.
    pub pauses: u8,
}

impl Connector for Given {
    fn name(&self) -> &'static str {
        "given"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    fn source(&self, _: &TableSpec) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(self.clone()))
    }

    fn sink(&self, _: &TableSpec, _: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Err(Error::invalid("'given' can't be written"))
    }
}

#[async_trait]
impl Source for Given {
    fn bounded(&self) -> bool {
        true
    }

    async fn open(&self, request: &ScanRequest) -> Result<Opened> {
        let decoder = Arc::new(JsonDecoder::new(Arc::clone(&request.columns), JsonOptions::default())?);
        let reader = |(number, chunks): (usize, &Vec<GivenChunk>)| {
            let name = format!("p{number}").into();
            let decoder = Arc::clone(&decoder) as Arc<dyn RecordDecoder>;
            Box::new(Reader { name, decoder, chunks: chunks.iter().cloned().collect(), given: 0 })
                as Box<dyn PartitionReader>
        };
        Ok(Opened::bounded(self.partitions.iter().enumerate().map(reader).collect()))
    }
}

struct Reader {
    name: Arc<str>,
    decoder: Arc<dyn RecordDecoder>,
    chunks: VecDeque<GivenChunk>,
    /// How many chunks were given.
    given: u64,
}

#[async_trait]
impl PartitionReader for Reader {
    fn partition(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    fn position(&self) -> u64 {
        self.given
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        for _ in 0..self.chunks.front().map_or(0, |chunk| chunk.pauses) {
            tokio::task::yield_now().await;
        }
        let Some(chunk) = self.chunks.pop_front() else { return Ok(None) };
        self.given += 1;
        let records = Buffer::from_vec(chunk.lines.into_bytes());
        Ok(Some(Box::new(RecordsChunk { decoder: Arc::clone(&self.decoder), records, first: false })))
    }
}
