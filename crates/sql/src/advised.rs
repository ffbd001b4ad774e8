//! A source whose columns were inferred: an error about a row says what to do about that.

use std::sync::Arc;

use async_trait::async_trait;
use tidemill_core::{Error, ErrorKind, Result};
use tidemill_runtime::connector::{
    Chunk, DecodeError, Decoded, Discovery, Opened, PartitionReader, ScanRequest, Source,
};

/// The same, with advice where its rows do not have the inferred columns.
pub(crate) struct Advised<T> {
    inner: T,
    advice: Arc<str>,
}

impl<T> Advised<T> {
    pub(crate) fn new(inner: T, advice: Arc<str>) -> Self {
        Self { inner, advice }
    }
}

/// What is wrong with a row, or with the columns of a file, may be the fault of the inference; or it is what the error
/// itself says.
fn advised(error: Error, advice: &str) -> Error {
    let both = error.hint_text().map(|own| format!("{own}; {advice}"));
    match error.kind() {
        ErrorKind::Data | ErrorKind::Invalid => error.hint(both.unwrap_or_else(|| advice.to_owned())),
        ErrorKind::Unavailable | ErrorKind::Closed | ErrorKind::Internal => error,
    }
}

fn readers(opened: Vec<Box<dyn PartitionReader>>, advice: &Arc<str>) -> Vec<Box<dyn PartitionReader>> {
    opened.into_iter().map(|reader| Box::new(Advised::new(reader, Arc::clone(advice))) as _).collect()
}

#[async_trait]
impl Source for Advised<Arc<dyn Source>> {
    fn bounded(&self) -> bool {
        self.inner.bounded()
    }

    fn ends(&self) -> bool {
        self.inner.ends()
    }

    fn narrows_rows(&self) -> bool {
        self.inner.narrows_rows()
    }

    fn resumes(&self) -> bool {
        self.inner.resumes()
    }

    async fn open(&self, request: &ScanRequest) -> Result<Opened> {
        let Opened { partitions, discovery } = self.inner.open(request).await?;
        let partitions = readers(partitions, &self.advice);
        let discovery = discovery.map(|inner| Box::new(Advised::new(inner, Arc::clone(&self.advice))) as _);
        Ok(Opened { partitions, discovery })
    }
}

#[async_trait]
impl Discovery for Advised<Box<dyn Discovery>> {
    async fn next(&mut self) -> Result<Vec<Box<dyn PartitionReader>>> {
        Ok(readers(self.inner.next().await?, &self.advice))
    }
}

#[async_trait]
impl PartitionReader for Advised<Box<dyn PartitionReader>> {
    fn partition(&self) -> Arc<str> {
        self.inner.partition()
    }

    fn position(&self) -> u64 {
        self.inner.position()
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        let chunk = self.inner.next_chunk().await.map_err(|error| advised(error, &self.advice))?;
        Ok(chunk.map(|inner| Box::new(Advised::new(inner, Arc::clone(&self.advice))) as _))
    }
}

impl Chunk for Advised<Box<dyn Chunk>> {
    fn unit(&self) -> &'static str {
        self.inner.unit()
    }

    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError> {
        let Self { inner, advice } = *self;
        inner.decode().map_err(|DecodeError { offset, error }| DecodeError { offset, error: advised(error, &advice) })
    }
}
