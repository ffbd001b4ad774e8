//! Reads one file, which it opens when its first chunk is wanted.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Chunk, PartitionReader, ScanRequest};

use super::compression::uncompressed;
use super::listing::Found;
use super::partition_columns::{PartitionColumns, PartitionValues};
use crate::blocking::blocking;
use crate::filesystem::options::FilesystemOptions;
use crate::format::parquet::ParquetFile;
use crate::format::records::{RecordReader, RecordsChunk};
use crate::format::{FileFormat, RecordDecoder, TextFormat};

/// What to do where a file is not what it was when it was read.
pub(in crate::filesystem) const CHANGED_HINT: &str =
    "files must stay as they were until they are read: bring it back, or begin anew with a new --data-dir";

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
    Parquet(SchemaRef),
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
            FileFormat::Parquet(_) => RequestedFormat::Parquet(request.columns),
        };
        Ok(Self { columns: Arc::clone(&requested.columns), format, read_bytes })
    }
}

/// One file.
pub(super) struct FileReader {
    path: PathBuf,
    name: Arc<str>,
    request: Arc<Request>,
    values: PartitionValues,
    state: State,
    /// Where to begin.
    begin: u64,
}

enum State {
    NotOpen,
    Text { records: RecordReader<Box<dyn Read + Send>>, decoder: Arc<dyn RecordDecoder>, first: bool },
    Parquet(ParquetFile),
}

impl FileReader {
    /// Begins at a position: a number of bytes of text, or of rows of Parquet.
    pub(super) fn new(file: &Found, request: Arc<Request>, values: PartitionValues, begin: u64) -> Self {
        let Found { path, name } = file.clone();
        Self { path, name, request, values, state: State::NotOpen, begin }
    }

    fn open(&self) -> Result<State> {
        match &self.request.format {
            RequestedFormat::Text(format, decoder) => {
                let first = self.begin == 0;
                let bytes = open_text_at(&self.path, self.begin)?;
                let records =
                    RecordReader::new(bytes, format.cutter(first), Arc::clone(&self.name), self.request.read_bytes);
                let records = records.behind(self.begin);
                Ok(State::Text { records, decoder: Arc::clone(decoder), first })
            }
            RequestedFormat::Parquet(columns) => {
                let opened = ParquetFile::open(open_file(&self.path)?, Arc::clone(columns)).and_then(|mut file| {
                    file.skip_to(self.begin).map_err(|e| e.hint(CHANGED_HINT))?;
                    Ok(file)
                });
                opened.map(State::Parquet).map_err(|e| e.context(Arc::clone(&self.name)))
            }
        }
    }

    fn next(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        if let State::NotOpen = self.state {
            self.state = self.open()?;
        }
        match &mut self.state {
            State::Text { records, decoder, first } => {
                let Some(records) = records.next_records()? else { return Ok(None) };
                let first = std::mem::replace(first, false);
                Ok(Some(Box::new(RecordsChunk { decoder: Arc::clone(decoder), records, first })))
            }
            State::Parquet(file) => Ok(file.next_chunk().map(|chunk| Box::new(chunk) as _)),
            State::NotOpen => Ok(None),
        }
    }
}

/// Opens a file as it is.
pub(in crate::filesystem) fn open_file(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| open_failed(path, e))
}

/// Opens a file as the text that it holds, compressed or not.
pub(in crate::filesystem) fn open_text(path: &Path) -> Result<Box<dyn Read + Send>> {
    open_text_at(path, 0)
}

fn open_text_at(path: &Path, position: u64) -> Result<Box<dyn Read + Send>> {
    let text = uncompressed(open_file(path)?, path).and_then(|text| text.from(position));
    text.map_err(|e| open_failed(path, e))
}

fn open_failed(path: &Path, e: io::Error) -> Error {
    let path = path.display();
    match e.kind() {
        ErrorKind::NotFound => Error::unavailable(format!("the file '{path}' is gone"))
            .because(e)
            .hint("files must stay while they are read"),
        ErrorKind::PermissionDenied => Error::unavailable(format!("no permission to read '{path}'"))
            .because(e)
            .hint("give the user who runs tidemill the right to read the file and to enter its folders"),
        ErrorKind::UnexpectedEof => {
            Error::data(format!("cannot read on in '{path}': {e}")).because(e).hint(CHANGED_HINT)
        }
        _ => Error::unavailable(format!("cannot read '{path}': {e}")).because(e),
    }
}

#[async_trait]
impl PartitionReader for FileReader {
    fn partition(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    fn position(&self) -> u64 {
        match &self.state {
            State::NotOpen => self.begin,
            State::Text { records, .. } => records.position(),
            State::Parquet(file) => file.position(),
        }
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        let chunk = blocking(|| self.next())?;
        Ok(chunk.map(|chunk| self.values.add_to(chunk, &self.request.columns)))
    }
}
