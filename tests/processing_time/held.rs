//! A source that moves the clock: each of its chunks says how long it is until the next.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use arrow::buffer::Buffer;
use async_trait::async_trait;
use tidemill_connectors::format::json::{JsonDecoder, JsonOptions};
use tidemill_connectors::format::records::RecordsChunk;
use tidemill_core::{Error, Result};
use tidemill_runtime::clock::Clock;
use tidemill_runtime::connector::{
    Chunk, Connector, DecodeError, Decoded, Opened, OptionSpec, PartitionReader, ScanRequest, SinkFactory, Source,
    TableSpec, WriteMode,
};
use tokio::sync::Notify;

/// When the clock starts: 2026-11-30T10:00:00Z.
pub const START_MS: i64 = 1_796_032_800_000;

/// A clock that shows what it is set to.
#[derive(Debug)]
pub struct Held(AtomicI64);

impl Clock for Held {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Rows that are decoded at one moment.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub keys: Vec<char>,
    /// How long it is until the next.
    pub step_ms: i64,
    /// Whether the reader lets the others tell the clock before it goes on.
    pub waits: bool,
}

/// `'connector' = 'paced'`
#[derive(Debug, Clone)]
pub struct Paced {
    pub clock: Arc<Held>,
    arrivals: Vec<Arrival>,
    /// The input ends when it is notified.
    pub row_came: Option<Arc<Notify>>,
}

impl Paced {
    pub fn new(arrivals: Vec<Arrival>) -> Self {
        Self { clock: Arc::new(Held(AtomicI64::new(START_MS))), arrivals, row_came: None }
    }

    pub fn until_a_row_comes(arrivals: Vec<Arrival>) -> Self {
        Self { row_came: Some(Arc::default()), ..Self::new(arrivals) }
    }
}

impl Connector for Paced {
    fn name(&self) -> &'static str {
        "paced"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    fn source(&self, _: &TableSpec) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(self.clone()))
    }

    fn sink(&self, _: &TableSpec, _: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Err(Error::invalid("'paced' can't be written"))
    }
}

#[async_trait]
impl Source for Paced {
    fn bounded(&self) -> bool {
        true
    }

    async fn open(&self, request: &ScanRequest) -> Result<Opened> {
        let decoder = Arc::new(JsonDecoder::new(Arc::clone(&request.columns), JsonOptions::default())?);
        let reader = Reader { paced: self.clone(), decoder, rest: self.arrivals.clone().into(), given: 0 };
        Ok(Opened::bounded(vec![Box::new(reader)]))
    }
}

struct Reader {
    paced: Paced,
    decoder: Arc<JsonDecoder>,
    rest: VecDeque<Arrival>,
    given: u64,
}

#[async_trait]
impl PartitionReader for Reader {
    fn partition(&self) -> Arc<str> {
        "p".into()
    }

    fn position(&self) -> u64 {
        self.given
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        let Some(Arrival { keys, step_ms, waits }) = self.rest.pop_front() else {
            if let Some(row_came) = self.paced.row_came.take() {
                row_came.notified().await;
            }
            return Ok(None);
        };
        self.given += 1;
        let lines: String = keys.iter().map(|key| format!("{{\"k\": \"{key}\"}}\n")).collect();
        let records = Buffer::from_vec(lines.into_bytes());
        let decoder = Arc::clone(&self.decoder) as _;
        let rows = RecordsChunk { decoder, records, first: false };
        Ok(Some(Box::new(Moving { rows, clock: Arc::clone(&self.paced.clock), step_ms, waits })))
    }
}

/// A chunk that moves the clock once it is decoded.
struct Moving {
    rows: RecordsChunk,
    clock: Arc<Held>,
    step_ms: i64,
    waits: bool,
}

impl Chunk for Moving {
    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError> {
        let decoded = Box::new(self.rows).decode();
        self.clock.0.fetch_add(self.step_ms, Ordering::SeqCst);
        if self.waits {
            // Longer than the source goes without telling the clock: it is told before the next chunk.
            std::thread::sleep(std::time::Duration::from_millis(11));
        }
        decoded
    }
}
