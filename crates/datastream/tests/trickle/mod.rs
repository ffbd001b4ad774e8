//! A source that gives one element after the other, each when it is released.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use async_trait::async_trait;
use serde::Deserialize;
use tidemill_datastream::{DataStream, Environment, Result};
use tidemill_runtime::connector::{Chunk, DecodeError, Decoded, Opened, PartitionReader, ScanRequest, Source};
use tokio::sync::Semaphore;

/// One of them.
#[derive(Debug, Clone, Deserialize)]
pub struct Number {
    pub n: i64,
}

/// The numbers from 0, each when there is a permit for it.
pub fn trickle(env: &Environment, name: &str, count: i64, released: Arc<Semaphore>) -> DataStream<Number> {
    let columns = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
    env.from_source(name, Arc::new(Trickle { count, released }), columns)
}

#[derive(Clone)]
struct Trickle {
    count: i64,
    released: Arc<Semaphore>,
}

#[async_trait]
impl Source for Trickle {
    fn bounded(&self) -> bool {
        true
    }

    async fn open(&self, _: &ScanRequest) -> Result<Opened> {
        Ok(Opened::bounded(vec![Box::new(Reader { of: self.clone(), next: 0 })]))
    }
}

struct Reader {
    of: Trickle,
    next: i64,
}

#[async_trait]
impl PartitionReader for Reader {
    fn partition(&self) -> Arc<str> {
        "numbers".into()
    }

    fn position(&self) -> u64 {
        self.next.unsigned_abs()
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        if self.next == self.of.count {
            return Ok(None);
        }
        self.of.released.acquire().await.map_err(|e| tidemill_datastream::Error::internal(e.to_string()))?.forget();
        self.next += 1;
        Ok(Some(Box::new(One(self.next - 1))))
    }
}

struct One(i64);

impl Chunk for One {
    fn decode(self: Box<Self>) -> std::result::Result<Decoded, DecodeError> {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![self.0]));
        let rows =
            RecordBatch::try_from_iter([("n", column)]).map_err(|e| DecodeError { offset: 0, error: e.into() })?;
        Ok(Decoded { rows, offsets: None, offset_count: 1, rejected: vec![], elements: None })
    }
}
