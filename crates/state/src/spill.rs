//! Rows that have given their memory back: in files of a folder that lives as long as the job runs.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::RecordBatch;
use tempfile::TempDir;
use tidemill_core::{Error, Result};

use crate::checkpoint::part;

/// A folder for rows that are out of memory. It goes with the last of them.
#[derive(Debug, Clone)]
pub struct SpillFolder(Arc<Folder>);

#[derive(Debug)]
struct Folder {
    folder: TempDir,
    /// The number of the next file.
    next: AtomicU64,
}

impl SpillFolder {
    /// Makes one within `parent`, which is made too if it is not there.
    ///
    /// # Errors
    /// `Unavailable` if it can't be made.
    pub fn within(parent: &Path) -> Result<Self> {
        let made =
            fs::create_dir_all(parent).and_then(|()| tempfile::Builder::new().prefix("spill-").tempdir_in(parent));
        let folder = made.map_err(|e| failed("make a folder in", parent, e))?;
        Ok(Self(Arc::new(Folder { folder, next: AtomicU64::new(0) })))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.folder.path()
    }

    /// A file to write to, one after the other.
    ///
    /// # Errors
    /// `Unavailable` if it can't be made.
    pub fn file(&self) -> Result<SpillWriter> {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let path = self.0.folder.path().join(format!("{number:010}"));
        let open = File::create_new(&path).map_err(|e| failed("create", &path, e))?;
        let file = Arc::new(SpillFile { path, bytes: AtomicU64::new(0), _folder: self.clone() });
        Ok(SpillWriter { file, open })
    }
}

/// A file that is deleted with the last rows in it.
#[derive(Debug)]
struct SpillFile {
    path: PathBuf,
    bytes: AtomicU64,
    _folder: SpillFolder,
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        // What is left goes with the folder.
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes rows to a file.
#[derive(Debug)]
pub struct SpillWriter {
    file: Arc<SpillFile>,
    open: File,
}

impl SpillWriter {
    /// Writes rows; their memory is free once nobody else has them.
    ///
    /// # Errors
    /// `Unavailable` if they can't be written, such as on a full disk.
    pub fn write(&mut self, rows: &RecordBatch) -> Result<SpilledRows> {
        let (bytes, xxh3) = part::encode(rows)?;
        self.append(&bytes, xxh3)
    }

    /// Writes rows that are in another file.
    pub(crate) fn copy(&mut self, rows: &SpilledRows) -> Result<SpilledRows> {
        self.append(&rows.bytes()?, rows.xxh3)
    }

    /// Writes rows as they are in a checkpoint, with their checksum.
    pub(crate) fn append(&mut self, bytes: &[u8], xxh3: u64) -> Result<SpilledRows> {
        let path = &self.file.path;
        self.open.write_all(bytes).map_err(|e| failed("write state to", path, e))?;
        let length = bytes.len() as u64;
        let offset = self.file.bytes.fetch_add(length, Ordering::Relaxed);
        Ok(SpilledRows { file: Arc::clone(&self.file), offset, length, xxh3 })
    }
}

/// Rows in a file.
#[derive(Debug, Clone)]
pub struct SpilledRows {
    file: Arc<SpillFile>,
    offset: u64,
    length: u64,
    xxh3: u64,
}

impl PartialEq for SpilledRows {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file) && self.offset == other.offset
    }
}

impl SpilledRows {
    /// Brings them back.
    ///
    /// # Errors
    /// `Unavailable` if they can't be read, `Data` if somebody has changed the file.
    pub fn read(&self) -> Result<RecordBatch> {
        part::decode(self.bytes()?.into(), self.xxh3).map_err(|e| e.context(self.file.path.display().to_string()))
    }

    /// As they are in a checkpoint, too: with their checksum.
    pub(crate) fn encoded(&self) -> Result<(Vec<u8>, u64)> {
        Ok((self.bytes()?, self.xxh3))
    }

    /// How many bytes they take in the file.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Which file they are in, and how long that is.
    pub(crate) fn file(&self) -> (&Path, u64) {
        (&self.file.path, self.file.bytes.load(Ordering::Relaxed))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let path = &self.file.path;
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(self.offset))?;
            let mut bytes = vec![0; usize::try_from(self.length).map_err(io::Error::other)?];
            file.read_exact(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|e| failed("read state from", path, e))
    }
}

fn failed(what: &str, path: &Path, e: io::Error) -> Error {
    Error::unavailable(format!("cannot {what} '{}': {e}", path.display())).because(e).hint(
        "state that is more than --memory-limit lies in the data directory, or else in the folder that TMPDIR names: give it \
         space there, or raise the limit",
    )
}

#[cfg(test)]
mod tests;
