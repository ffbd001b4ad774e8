//! The elements of an iterator, as one partition.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use async_trait::async_trait;
use tidemill_core::{Elements, Error, Result};
use tidemill_runtime::connector::{Chunk, DecodeError, Decoded, Opened, PartitionReader, ScanRequest, Source};

use crate::guard::caught;
use crate::timed::{Element, Timed};

/// The one partition.
const ELEMENTS: &str = "elements";

/// What may panic, as errors call it.
const ITERATOR: &str = "the iterator of from_iter";

/// Begins anew whenever it is read: a run that goes on from a checkpoint leaves out what was read.
pub(crate) struct IteratorSource<I> {
    iterable: I,
}

impl<I> IteratorSource<I> {
    pub(crate) fn new(iterable: I) -> Self {
        Self { iterable }
    }
}

#[async_trait]
impl<I> Source for IteratorSource<I>
where
    I: IntoIterator<Item: Element, IntoIter: Send> + Clone + Send + Sync + 'static,
{
    fn bounded(&self) -> bool {
        true
    }

    fn resumes(&self) -> bool {
        true
    }

    async fn open(&self, request: &ScanRequest) -> Result<Opened> {
        let partition: Arc<str> = ELEMENTS.into();
        let read = request.resume.iter().find(|read| read.name == partition);
        let position = match read {
            Some(read) if read.position.is_none() => return Ok(Opened::bounded(vec![])),
            Some(read) => read.position.unwrap_or_default(),
            None => 0,
        };
        let before = usize::try_from(position).unwrap_or(usize::MAX);
        let (elements, missing) = caught(ITERATOR, || {
            let mut elements = self.iterable.clone().into_iter();
            let missing = before.checked_sub(1).is_some_and(|last| elements.nth(last).is_none());
            (elements, missing)
        })?;
        if missing {
            return Err(Error::invalid(format!("an iterator has fewer elements than the {position} that were read"))
                .hint("give from_iter the same elements in each run of a job"));
        }
        Ok(Opened::bounded(vec![Box::new(Reader {
            partition,
            elements,
            position,
            batch_rows: request.batch_rows.max(1),
        })]))
    }
}

struct Reader<E> {
    partition: Arc<str>,
    elements: E,
    position: u64,
    batch_rows: usize,
}

#[async_trait]
impl<E: Iterator<Item: Element> + Send> PartitionReader for Reader<E> {
    fn partition(&self) -> Arc<str> {
        Arc::clone(&self.partition)
    }

    fn position(&self) -> u64 {
        self.position
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        let (elements, batch_rows) = (&mut self.elements, self.batch_rows);
        let values: Vec<_> = caught(ITERATOR, || elements.by_ref().take(batch_rows).collect())?;
        self.position += values.len() as u64;
        Ok((!values.is_empty()).then(|| Box::new(IteratorChunk(values)) as Box<dyn Chunk>))
    }
}

struct IteratorChunk<T>(Vec<T>);

impl<T: Element> Chunk for IteratorChunk<T> {
    fn unit(&self) -> &'static str {
        "element"
    }

    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError> {
        let options = RecordBatchOptions::new().with_row_count(Some(self.0.len()));
        let rows = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options);
        let rows = rows.map_err(|e| DecodeError { offset: 0, error: e.into() })?;
        let offset_count = self.0.len() as u64;
        let elements = Some(Elements::new(Timed { values: self.0, times: vec![] }));
        Ok(Decoded { rows, offsets: None, offset_count, rejected: vec![], elements })
    }
}
