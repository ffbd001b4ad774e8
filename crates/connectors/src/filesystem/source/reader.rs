//! Reads one file, which it opens when its first chunk is wanted.

use std::io::Read;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Chunk, PartitionReader, ScanRequest};

use super::compression::uncompressed;
use super::partition_columns::{PartitionColumns, PartitionValues};
use crate::blocking::blocking;
use crate::filesystem::options::FilesystemOptions;
use crate::filesystem::store::{CHANGED_HINT, Found, open_failed};
use crate::format::parquet::ParquetFile;
use crate::format::records::{RecordReader, RecordsChunk};
use crate::format::{FileFormat, RecordDecoder, TextFormat};

/// What is asked of every file.
pub(super) struct Request {
    /// All columns, those that paths say among them.
    columns: SchemaRef,
    format: RequestedFormat,
    /// The most that one read of text asks for.
    read_bytes: usize,
}

enum RequestedFormat {
    Text(TextFormat, Arc<dyn RecordDecoder>),
    Parquet { columns: SchemaRef, keep_rejected: bool },
}

impl Request {
    /// The columns of a table's files, apart from those that paths say.
    pub(super) fn new(
        options: &FilesystemOptions,
        partition_columns: &PartitionColumns,
        requested: &ScanRequest,
        read_bytes: usize,
    ) -> Result<Self> {
        let columns = partition_columns.without(&requested.columns);
        let request = ScanRequest { columns, ..requested.clone() };
        let format = match &options.format {
            FileFormat::Text(format) => RequestedFormat::Text(format.clone(), format.decoder(&request)?),
            FileFormat::Parquet(_) => {
                RequestedFormat::Parquet { columns: request.columns, keep_rejected: request.keep_rejected }
            }
        };
        Ok(Self { columns: Arc::clone(&requested.columns), format, read_bytes })
    }
}

/// One file.
pub(super) struct FileReader {
    file: Found,
    request: Arc<Request>,
    values: PartitionValues,
    state: State,
    /// Where to begin.
    begin: u64,
    /// Where text ends.
    until: Option<u64>,
}

enum State {
    NotOpen,
    Text { records: RecordReader<Box<dyn Read + Send>>, decoder: Arc<dyn RecordDecoder>, first: bool },
    Parquet(ParquetFile),
}

impl FileReader {
    /// Begins at a position: a number of bytes of text, or of rows of Parquet.
    pub(super) fn new(file: &Found, request: Arc<Request>, values: PartitionValues, begin: u64) -> Self {
        Self { file: file.clone(), request, values, state: State::NotOpen, begin, until: None }
    }

    /// Text ends there, instead of where the file does.
    pub(super) fn until(self, until: Option<u64>) -> Self {
        Self { until, ..self }
    }

    fn open(&self) -> Result<State> {
        match &self.request.format {
            RequestedFormat::Text(format, decoder) => {
                let first = self.begin == 0;
                let bytes = open_text_at(&self.file, self.begin)?;
                let bytes = match self.until {
                    Some(until) => Box::new(bytes.take(until.saturating_sub(self.begin))),
                    None => bytes,
                };
                let (cutter, name) = (format.cutter(first), Arc::clone(&self.file.name));
                let records = RecordReader::new(bytes, cutter, name, self.request.read_bytes);
                let records = records.behind(self.begin);
                Ok(State::Text { records, decoder: Arc::clone(decoder), first })
            }
            RequestedFormat::Parquet { columns, keep_rejected } => {
                let input = self.file.file.parquet().map_err(|e| open_failed(&self.file.path, e))?;
                let opened = ParquetFile::open(input, Arc::clone(columns)).and_then(|mut file| {
                    file.skip_to(self.begin).map_err(|e| e.hint(CHANGED_HINT))?;
                    Ok(file.keep_rejected(*keep_rejected))
                });
                opened.map(State::Parquet).map_err(|e| self.at(e))
            }
        }
    }

    /// The next rows, and for those of Parquet the bytes that they are made of.
    async fn next(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        if let State::NotOpen = self.state {
            self.state = blocking(|| self.open())?;
        }
        match &mut self.state {
            State::Text { records, decoder, first } => {
                let Some(records) = blocking(|| records.next_records())? else { return Ok(None) };
                let first = std::mem::replace(first, false);
                Ok(Some(Box::new(RecordsChunk { decoder: Arc::clone(decoder), records, first })))
            }
            State::Parquet(file) => file.next_chunk().await.map_err(|e| self.at(e)),
            State::NotOpen => Ok(None),
        }
    }

    /// Names the file in an error.
    fn at(&self, error: Error) -> Error {
        error.context(&self.file.name)
    }
}

/// Opens a file as the text that it holds, compressed or not.
pub(in crate::filesystem) fn open_text(file: &Found) -> Result<Box<dyn Read + Send>> {
    open_text_at(file, 0)
}

fn open_text_at(file: &Found, position: u64) -> Result<Box<dyn Read + Send>> {
    let text = file.file.bytes().and_then(|bytes| uncompressed(bytes, &file.path)?.from(position));
    text.map_err(|e| open_failed(&file.path, e))
}

#[async_trait]
impl PartitionReader for FileReader {
    fn partition(&self) -> Arc<str> {
        Arc::clone(&self.file.name)
    }

    fn position(&self) -> u64 {
        match &self.state {
            State::NotOpen => self.begin,
            State::Text { records, .. } => records.position(),
            State::Parquet(file) => file.position(),
        }
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        let chunk = self.next().await?;
        Ok(chunk.map(|chunk| self.values.add_to(chunk, &self.request.columns)))
    }
}
