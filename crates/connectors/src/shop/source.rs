//! The traffic as a source: one partition, whose offsets are the numbers of the events.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_core::Result;
use tidemill_runtime::connector::{Chunk, DecodeError, Decoded, Opened, PartitionReader, ScanRequest, Source};
use tokio::time::{Instant, sleep};

use super::columns;
use super::doors::Doors;
use super::event::Event;
use super::options::Traffic;

/// The most events of a chunk.
const CHUNK_EVENTS: u64 = 8192;

/// The partition's name.
const NAME: &str = "shop";

/// How long a paced reading waits for its next events.
const TICK: Duration = Duration::from_millis(20);

/// Generated events.
pub(super) struct ShopSource {
    traffic: Arc<Traffic>,
    doors: Arc<Doors>,
}

impl ShopSource {
    pub(super) fn new(traffic: Traffic, doors: Arc<Doors>) -> Self {
        Self { traffic: Arc::new(traffic), doors }
    }
}

#[async_trait]
impl Source for ShopSource {
    fn bounded(&self) -> bool {
        true
    }

    fn resumes(&self) -> bool {
        true
    }

    async fn open(&self, request: &ScanRequest) -> Result<Opened> {
        let read = request.resume.iter().find(|read| &*read.name == NAME);
        let Some(next) = read.map_or(Some(0), |read| read.position) else { return Ok(Opened::bounded(vec![])) };
        let reader = ShopReader {
            traffic: Arc::clone(&self.traffic),
            doors: Arc::clone(&self.doors),
            columns: Arc::clone(&request.columns),
            // Who follows a source sees it as it grows; history is there at once.
            live: request.follow,
            opened: Instant::now(),
            begin: next,
            next,
        };
        Ok(Opened::bounded(vec![Box::new(reader)]))
    }
}

struct ShopReader {
    traffic: Arc<Traffic>,
    doors: Arc<Doors>,
    columns: SchemaRef,
    live: bool,
    opened: Instant,
    /// The event with which the reading began: those before it have been read.
    begin: u64,
    /// The number of the next event.
    next: u64,
}

impl ShopReader {
    /// How many events have arrived.
    fn arrived(&self) -> u64 {
        let events = self.traffic.events.min(self.doors.events());
        match self.traffic.events_per_second {
            Some(pace) if self.live => {
                let arrived = self.opened.elapsed().as_nanos() * u128::from(pace) / 1_000_000_000;
                u64::try_from(arrived).map_or(events, |arrived| self.begin.saturating_add(arrived).min(events))
            }
            _ => events,
        }
    }

    fn ended(&self) -> bool {
        if self.live && self.doors.closing() {
            self.doors.closed_after(self.next);
        }
        self.next >= self.traffic.events.min(self.doors.events())
    }
}

#[async_trait]
impl PartitionReader for ShopReader {
    fn partition(&self) -> Arc<str> {
        NAME.into()
    }

    fn position(&self) -> u64 {
        self.next
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        loop {
            if self.ended() {
                return Ok(None);
            }
            let end = self.arrived().min(self.next + CHUNK_EVENTS);
            if end > self.next {
                let numbers = self.next..end;
                self.next = end;
                let (traffic, columns) = (Arc::clone(&self.traffic), Arc::clone(&self.columns));
                return Ok(Some(Box::new(ShopChunk { traffic, columns, numbers })));
            }
            sleep(TICK).await;
        }
    }
}

/// Numbers of events that are yet to be made.
struct ShopChunk {
    traffic: Arc<Traffic>,
    columns: SchemaRef,
    numbers: Range<u64>,
}

impl Chunk for ShopChunk {
    fn unit(&self) -> &'static str {
        "event"
    }

    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError> {
        let Traffic { seed, start_ms, .. } = *self.traffic;
        let offset_count = self.numbers.end - self.numbers.start;
        let events: Vec<Event> = self.numbers.map(|number| Event::of(seed, number, start_ms)).collect();
        let rows = columns::rows(&self.columns, &events).map_err(|error| DecodeError { offset: 0, error })?;
        Ok(Decoded { rows, offsets: None, offset_count, rejected: vec![], elements: None })
    }
}

#[cfg(test)]
mod tests;
