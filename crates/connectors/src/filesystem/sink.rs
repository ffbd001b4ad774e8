//! Adds part files to a folder, each whole at once.
//!
//! ```text
//! write    .part-<run>-<n>.json.inprogress    hidden, grows
//! prepare  .part-<run>-<n>.json.inprogress    whole and on the disk
//! commit   part-<run>-<n>.json                renamed; the rename on the disk
//! ```
//!
//! An epoch without rows makes no file. A part never replaces a file: every run has names of its own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_core::{Epoch, Error, EventBatch, Result};
use tidemill_runtime::connector::{ChangelogMode, Sink, SinkFactory};

use super::options::FilesystemOptions;
use super::part::{Part, StagedPart, failed, run_id};
use crate::blocking::blocking;
use crate::format::{FileFormat, RowEncoder, TextFormat};

/// How many encoded bytes are gathered before they are written.
const WRITE_BYTES: usize = 1 << 20;

/// A folder to write to.
pub struct FilesystemSinkFactory {
    options: FilesystemOptions,
    format: TextFormat,
    schema: SchemaRef,
}

impl FilesystemSinkFactory {
    /// Writes rows of `schema` to the folder that `options` name.
    pub fn new(options: FilesystemOptions, schema: SchemaRef) -> Result<Self> {
        let FileFormat::Text(format) = options.format.clone() else {
            return Err(Error::invalid("a sink of files can't write the format 'parquet' yet").hint("use 'json'"));
        };
        // A column that the format can't write is refused now, not when the run begins.
        format.encoder(Arc::clone(&schema))?;
        Ok(Self { options, format, schema })
    }
}

impl SinkFactory for FilesystemSinkFactory {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Append
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        let folder = self.options.path.clone();
        let created = blocking(|| create_folder(&folder))?;
        Ok(Box::new(FilesystemSink {
            encoder: self.format.encoder(Arc::clone(&self.schema))?,
            extension: self.format.extension(),
            folder,
            created,
            run: run_id(),
            parts: 0,
            encoded: Vec::new(),
            growing: None,
            prepared: BTreeMap::new(),
        }))
    }
}

struct FilesystemSink {
    encoder: Box<dyn RowEncoder>,
    extension: &'static str,
    folder: PathBuf,
    /// The folders that this run has created, the outermost first.
    created: Vec<PathBuf>,
    run: String,
    /// How many parts this run has begun.
    parts: u64,
    /// Rows of the growing part that are not in its file yet.
    encoded: Vec<u8>,
    growing: Option<StagedPart>,
    prepared: BTreeMap<Epoch, Part>,
}

impl FilesystemSink {
    /// Moves the encoded rows to the growing part's file, which it begins if there is none.
    fn spill(&mut self) -> Result<()> {
        if self.encoded.is_empty() {
            return Ok(());
        }
        let mut staged = match self.growing.take() {
            Some(staged) => staged,
            None => self.begin_part()?,
        };
        let written = staged.write(&self.encoded);
        self.growing = Some(staged);
        self.encoded.clear();
        written
    }

    fn begin_part(&mut self) -> Result<StagedPart> {
        let part = Part::new(&self.folder, &self.run, self.parts, self.extension);
        self.parts += 1;
        StagedPart::create(part)
    }

    fn publish(&self, part: &Part) -> Result<()> {
        part.publish()?;
        sync_folder(&self.folder)?;
        self.created.iter().filter_map(|folder| folder.parent()).try_for_each(sync_folder)
    }

    fn discard(&mut self) -> Result<()> {
        self.encoded.clear();
        let growing = self.growing.take().map(StagedPart::into_part);
        let prepared = std::mem::take(&mut self.prepared).into_values();
        // Every part is tried, whatever happens to the one before it.
        let outcomes: Vec<Result<()>> = growing.into_iter().chain(prepared).map(|part| part.discard()).collect();
        outcomes.into_iter().collect::<Result<()>>()?;
        remove_empty_folders(&self.created)
    }
}

#[async_trait]
impl Sink for FilesystemSink {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        self.encoder.encode(&batch.rows, None, &mut self.encoded)?;
        if self.encoded.len() < WRITE_BYTES {
            return Ok(());
        }
        blocking(|| self.spill())
    }

    async fn prepare(&mut self, epoch: Epoch) -> Result<()> {
        blocking(|| {
            self.spill()?;
            if let Some(staged) = &self.growing {
                staged.sync()?;
            }
            self.prepared.extend(self.growing.take().map(|staged| (epoch, staged.into_part())));
            Ok(())
        })
    }

    async fn commit(&mut self, epoch: Epoch) -> Result<()> {
        blocking(|| {
            if let Some(part) = self.prepared.get(&epoch) {
                self.publish(part)?;
                self.prepared.remove(&epoch);
            }
            Ok(())
        })
    }

    async fn abort(&mut self) -> Result<()> {
        blocking(|| self.discard())
    }
}

/// Makes sure that there is a folder at `path`, and gives those that had to be created.
fn create_folder(path: &Path) -> Result<Vec<PathBuf>> {
    if path.exists() && !path.is_dir() {
        return Err(Error::invalid(format!("cannot write to '{}': it is a file", path.display()))
            .hint("the path of a sink is a folder, which gets one file for each part of the result"));
    }
    let missing = path.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists());
    let mut created: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    created.reverse();
    fs::create_dir_all(path).map_err(|e| failed("create the folder", path, e))?;
    Ok(created)
}

/// Removes the given folders, the outermost first in the list, as far as nothing is in them.
fn remove_empty_folders(created: &[PathBuf]) -> Result<()> {
    for folder in created.iter().rev() {
        match fs::remove_dir(folder) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => break,
            Err(e) => return Err(failed("remove the empty folder", folder, e)),
        }
    }
    Ok(())
}

/// Makes the names in a folder survive a crash of the machine.
fn sync_folder(folder: &Path) -> Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder).and_then(|f| f.sync_all()).map_err(|e| failed("sync the folder", folder, e))
}

#[cfg(test)]
mod tests;
