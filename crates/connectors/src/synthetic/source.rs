//! Reads a recipe: one partition, in the order of the row numbers.

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_core::Result;
use tidemill_runtime::connector::{Chunk, DecodeError, Decoded, Opened, PartitionReader, ScanRequest, Source};
use tokio::time::{Instant, sleep_until};

use super::{Pace, Recipe};

/// About the size of a chunk in memory.
const CHUNK_BYTES: usize = 1 << 20;

/// Rows that are made up.
pub struct SyntheticSource {
    /// The partition's name.
    pub name: Arc<str>,
    /// How to make them.
    pub recipe: Arc<dyn Recipe>,
    /// How many there are; `None` if there is no end.
    pub end: Option<u64>,
    /// How fast they come; `None` for as fast as they are taken.
    pub pace: Option<Pace>,
}

#[async_trait]
impl Source for SyntheticSource {
    fn bounded(&self) -> bool {
        self.end.is_some()
    }

    fn narrows_rows(&self) -> bool {
        self.recipe.narrows_rows()
    }

    fn resumes(&self) -> bool {
        true
    }

    async fn open(&self, request: &ScanRequest) -> Result<Opened> {
        let read = request.resume.iter().find(|read| read.name == self.name);
        let Some(next) = read.map_or(Some(0), |read| read.position) else { return Ok(Opened::bounded(vec![])) };
        let fit = CHUNK_BYTES / self.recipe.row_bytes(&request.columns).max(1);
        let reader = Reader {
            name: Arc::clone(&self.name),
            recipe: Arc::clone(&self.recipe),
            columns: Arc::clone(&request.columns),
            next,
            begin: next,
            end: self.end.unwrap_or(u64::MAX),
            chunk_rows: request.batch_rows.min(fit).max(1) as u64,
            pace: self.pace,
            first_at: None,
        };
        Ok(Opened::bounded(vec![Box::new(reader)]))
    }
}

struct Reader {
    name: Arc<str>,
    recipe: Arc<dyn Recipe>,
    columns: SchemaRef,
    next: u64,
    /// The first row, which comes at once.
    begin: u64,
    end: u64,
    chunk_rows: u64,
    pace: Option<Pace>,
    /// When the first row was wanted.
    first_at: Option<Instant>,
}

impl Reader {
    /// Waits until the next row is due; says how many rows are by then.
    async fn due(&mut self) -> u64 {
        let Some(pace) = self.pace else { return u64::MAX };
        let first_at = *self.first_at.get_or_insert_with(Instant::now);
        // A time that no clock can tell is never.
        match first_at.checked_add(pace.due(self.next - self.begin)) {
            Some(due) => sleep_until(due).await,
            None => std::future::pending().await,
        }
        self.begin.saturating_add(pace.rows_after(first_at.elapsed()))
    }
}

#[async_trait]
impl PartitionReader for Reader {
    fn partition(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    fn position(&self) -> u64 {
        self.next
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        if self.next >= self.end {
            return Ok(None);
        }
        let due = self.due().await.min(self.end).max(self.next + 1);
        let rows = self.next..due.min(self.next.saturating_add(self.chunk_rows));
        self.next = rows.end;
        Ok(Some(Box::new(SyntheticChunk {
            recipe: Arc::clone(&self.recipe),
            columns: Arc::clone(&self.columns),
            rows,
        })))
    }
}

struct SyntheticChunk {
    recipe: Arc<dyn Recipe>,
    columns: SchemaRef,
    rows: Range<u64>,
}

impl Chunk for SyntheticChunk {
    fn unit(&self) -> &'static str {
        "row"
    }

    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError> {
        let offset_count = self.rows.end - self.rows.start;
        match self.recipe.generate(&self.columns, self.rows) {
            Ok(rows) => Ok(Decoded { rows, offsets: None, offset_count, rejected: vec![], elements: None }),
            Err(error) => Err(DecodeError { offset: 0, error }),
        }
    }
}

#[cfg(test)]
mod tests;
