//! Reads one file: one partition, whose rows are its lines.

use std::fs::File;
use std::io::ErrorKind;
use std::sync::Arc;

use async_trait::async_trait;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Chunk, PartitionReader, ScanRequest, Source};

use super::options::FilesystemOptions;
use crate::blocking::blocking;
use crate::format::records::{READ_BYTES, RecordReader, RecordsChunk};
use crate::format::{RecordDecoder, TextFormat};

/// A file to read.
pub struct FilesystemSource {
    options: FilesystemOptions,
    format: TextFormat,
}

impl FilesystemSource {
    /// Reads the file that `options` name.
    pub fn new(options: FilesystemOptions) -> Result<Self> {
        let format = options.format.readable()?.clone();
        Ok(Self { options, format })
    }

    fn open_file(&self) -> Result<File> {
        let path = &self.options.path;
        let file = File::open(path).map_err(|e| self.open_failed(e))?;
        let folder = file.metadata().map_err(|e| self.open_failed(e))?.is_dir();
        if folder {
            return Err(Error::invalid(format!("cannot read '{}': it is a folder", path.display()))
                .hint("reading a folder is not supported yet: name one file in it"));
        }
        Ok(file)
    }

    fn open_failed(&self, e: std::io::Error) -> Error {
        let path = self.options.path.display();
        match e.kind() {
            ErrorKind::NotFound => {
                let error = Error::unavailable(format!("there is no file '{path}'")).because(e);
                self.options.explain(error, "check the option 'path' of the table")
            }
            ErrorKind::PermissionDenied => Error::unavailable(format!("no permission to read '{path}'"))
                .because(e)
                .hint("give the user who runs tidemill the right to read the file and to enter its folders"),
            _ => Error::unavailable(format!("cannot open '{path}': {e}")).because(e),
        }
    }
}

#[async_trait]
impl Source for FilesystemSource {
    fn bounded(&self) -> bool {
        true
    }

    async fn open(&self, request: &ScanRequest) -> Result<Vec<Box<dyn PartitionReader>>> {
        let file = blocking(|| self.open_file())?;
        let decoder = self.format.decoder(request)?;
        let name = Arc::clone(&self.options.written);
        let records = RecordReader::new(file, self.format.cutter(), Arc::clone(&name), READ_BYTES);
        Ok(vec![Box::new(FileReader { name, records, decoder, first: true })])
    }
}

struct FileReader {
    name: Arc<str>,
    records: RecordReader<File>,
    decoder: Arc<dyn RecordDecoder>,
    first: bool,
}

#[async_trait]
impl PartitionReader for FileReader {
    fn partition(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        let Some(records) = blocking(|| self.records.next_records())? else { return Ok(None) };
        let first = std::mem::replace(&mut self.first, false);
        Ok(Some(Box::new(RecordsChunk { decoder: Arc::clone(&self.decoder), records, first })))
    }
}
