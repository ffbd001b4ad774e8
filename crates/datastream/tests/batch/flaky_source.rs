//! A source of numbers whose reads fail now and then.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use tidemill_datastream::{Error, Result};
use tidemill_runtime::connector::{Chunk, DecodeError, Decoded, Opened, PartitionReader, ScanRequest, Source};

/// Each partition has so many numbers; the p-th begins at 1,000 p. Each read that is drawn to fail does so once.
pub struct FlakySource {
    partitions: Vec<i64>,
    chunk_rows: i64,
    bounded: bool,
    /// How long it takes to open.
    slow: Duration,
    draws: Arc<Draws>,
}

struct Draws {
    seed: u64,
    failed: Mutex<BTreeSet<(u64, u64, u8)>>,
}

impl Draws {
    /// Fails at one of eight places, the first time.
    fn draw(&self, partition: u64, position: u64, kind: u8) -> Result<()> {
        let mixed =
            (self.seed ^ (partition << 40) ^ (position << 8) ^ u64::from(kind)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if (mixed >> 61) == 0 && self.failed.lock().unwrap().insert((partition, position, kind)) {
            return Err(Error::unavailable(format!("drawn to fail at {partition}:{position}")));
        }
        Ok(())
    }
}

impl FlakySource {
    pub fn new(partitions: &[i64], chunk_rows: i64, seed: u64) -> Self {
        let draws = Arc::new(Draws { seed, failed: Mutex::default() });
        Self { partitions: partitions.to_vec(), chunk_rows, bounded: true, slow: Duration::ZERO, draws }
    }

    pub fn slow(self, slow: Duration) -> Self {
        Self { slow, ..self }
    }

    pub fn without_end() -> Self {
        Self { bounded: false, ..Self::new(&[], 1, 0) }
    }
}

pub fn number_column() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("0", DataType::Int64, false)]))
}

#[async_trait]
impl Source for FlakySource {
    fn bounded(&self) -> bool {
        self.bounded
    }

    fn resumes(&self) -> bool {
        true
    }

    async fn open(&self, request: &ScanRequest) -> Result<Opened> {
        let known = request.resume.iter().map(|read| read.position.unwrap_or(7)).sum();
        // Somebody else may have a turn while this waits, and not come back to it.
        tokio::task::yield_now().await;
        tokio::time::sleep(self.slow).await;
        self.draws.draw(u64::MAX >> 40, known, 2)?;
        let mut partitions: Vec<Box<dyn PartitionReader>> = vec![];
        for (number, rows) in (0u64..).zip(&self.partitions) {
            let name: Arc<str> = format!("partition {number}").into();
            let position = match request.resume.iter().find(|read| read.name == name) {
                Some(read) if read.position.is_none() => continue,
                Some(read) => read.position.unwrap(),
                None => 0,
            };
            let (rows, chunk_rows, draws) = (*rows, self.chunk_rows, Arc::clone(&self.draws));
            partitions.push(Box::new(Reader { name, number, rows, position: position as i64, chunk_rows, draws }));
        }
        Ok(Opened::bounded(partitions))
    }
}

struct Reader {
    name: Arc<str>,
    number: u64,
    rows: i64,
    position: i64,
    chunk_rows: i64,
    draws: Arc<Draws>,
}

#[async_trait]
impl PartitionReader for Reader {
    fn partition(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    fn position(&self) -> u64 {
        self.position as u64
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        self.draws.draw(self.number, self.position as u64, 0)?;
        let end = self.rows.min(self.position + self.chunk_rows);
        if end == self.position {
            return Ok(None);
        }
        let chunk = Numbers { first: self.position, end, number: self.number, draws: Arc::clone(&self.draws) };
        self.position = end;
        Ok(Some(Box::new(chunk)))
    }
}

struct Numbers {
    first: i64,
    end: i64,
    number: u64,
    draws: Arc<Draws>,
}

impl Chunk for Numbers {
    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError> {
        self.draws.draw(self.number, self.first as u64, 1).map_err(|error| DecodeError { offset: 0, error })?;
        let base = self.number as i64 * 1_000;
        let numbers = Int64Array::from_iter_values(base + self.first..base + self.end);
        let offset_count = numbers.iter().len() as u64;
        let rows = RecordBatch::try_new(number_column(), vec![Arc::new(numbers)]).unwrap();
        Ok(Decoded { rows, offsets: None, offset_count, rejected: vec![], elements: None })
    }
}
