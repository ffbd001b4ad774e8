//! Where files are: on this machine, or in an S3 bucket.
//!
//! What is read is the same whatever the place: a path names files, each of which is opened as text or as Parquet. A
//! file of this machine is read where it is needed; one of a bucket is fetched in large pieces, ahead of the need.

mod local;
mod pattern;
#[cfg(feature = "s3")]
mod s3;

use std::io::{self, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemill_core::{Error, Result};

use self::local::LocalStore;
use super::location::{Location, Place};
use crate::format::parquet::ParquetInput;

/// What to do where a file is not what it was when it was read.
pub const CHANGED_HINT: &str =
    "files must stay as they were until they are read: bring it back, or begin anew with a new --data-dir";

/// What to do where the system lets the program open no more files.
const OPEN_FILES_HINT: &str =
    "raise the limit of open files (ulimit -n), or run it with --batch, which reads one file after the other";

/// What makes a pattern of a path.
const SIGNS: [char; 3] = ['*', '?', '['];

/// What need not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayLack {
    /// The file or folder is there, and something fits the pattern.
    Nothing,
    /// There may be no file that fits the pattern.
    Files,
    /// Nor the file or folder itself.
    Everything,
}

/// The files that a path names.
pub trait Store: Send + Sync {
    /// The files that are there now, in the order of their names, component by component. A name that begins
    /// with `.` or `_` is hidden, as in Flink: sinks use such names for what is not finished. Only a path that writes
    /// that beginning out names it. Blocks.
    ///
    /// # Errors
    /// `Unavailable` if nothing is there, or it can't be listed.
    fn files(&self, may_lack: MayLack) -> Result<Vec<Found>>;

    /// Looks for an `INSERT OVERWRITE` that is decided and not at its end. Blocks.
    ///
    /// # Errors
    /// `Unavailable` if there is one: rows are missing between the files that go and those that come.
    fn check_whole(&self) -> Result<()> {
        Ok(())
    }
}

/// A file to read.
#[derive(Clone)]
pub struct Found {
    /// Where it is: a path of this machine, or a URL. No other file has it.
    pub path: PathBuf,
    /// As the user would write it: the partition's name.
    pub name: Arc<str>,
    /// Opens it.
    pub file: Arc<dyn StoredFile>,
}

/// How a file is opened. All of it blocks, and its errors do not name the file.
pub trait StoredFile: Send + Sync {
    /// Whether its bytes can be read again: those of a pipe are gone.
    fn rereadable(&self) -> io::Result<bool>;

    /// Opens it to be read from its beginning on.
    fn bytes(&self) -> io::Result<Box<dyn StoredBytes>>;

    /// Opens it to be read at many positions.
    fn parquet(&self) -> io::Result<ParquetInput>;
}

/// The bytes of a file, one after the other.
///
/// An error that is a [`tidemill_core::Error`] inside says itself what to do: [`own_error`].
pub trait StoredBytes: Read + Seek + Send {
    /// How many there are; 0 for a pipe.
    fn count(&self) -> io::Result<u64>;
}

/// The files of a location.
///
/// # Errors
/// `Invalid` if this program was built without what reads them there, or if the settings in the environment are wrong.
pub fn store(location: &Location) -> Result<Box<dyn Store>> {
    match &location.place {
        Place::Local { path, folder } => Ok(Box::new(LocalStore::new(&location.written, path.clone(), folder.clone()))),
        #[cfg(feature = "s3")]
        Place::Bucket { bucket, key } => Ok(Box::new(s3::S3Store::new(&location.written, bucket, key)?)),
        #[cfg(not(feature = "s3"))]
        Place::Bucket { .. } => {
            Err(Error::invalid(format!("this tidemill was built without S3, and can't read '{}'", location.written))
                .hint("build it with: cargo build --release --features s3"))
        }
    }
}

/// The error that a store made, apart from that of the system.
pub fn own_error(e: io::Error) -> Result<Error, io::Error> {
    e.downcast::<Error>()
}

/// Names the file in an error of opening it.
pub fn open_failed(path: &Path, e: io::Error) -> Error {
    let path = path.display();
    let e = match own_error(e) {
        Ok(own) => return own.context(format!("cannot read '{path}'")),
        Err(e) => e,
    };
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
        _ if too_many_open(&e) => {
            Error::unavailable(format!("cannot read '{path}': {e}")).because(e).hint(OPEN_FILES_HINT)
        }
        _ => Error::unavailable(format!("cannot read '{path}': {e}")).because(e),
    }
}

/// Whether the program has as many files open as the system lets it have.
fn too_many_open(e: &io::Error) -> bool {
    e.raw_os_error() == Some(libc::EMFILE)
}

/// Whether a path is a pattern, where nothing has it as its name.
fn is_pattern(path: &str) -> bool {
    path.contains(SIGNS)
}

/// Whether a file or folder of this name is hidden.
fn is_hidden(name: &str) -> bool {
    name.starts_with(['.', '_'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_open_files_are_an_error_that_says_what_to_do() {
        let error = open_failed(Path::new("in/a.json"), io::Error::from_raw_os_error(libc::EMFILE));
        assert!(error.message().starts_with("cannot read 'in/a.json': Too many open files"), "{error}");
        let hint = error.hint_text().unwrap();
        assert!(hint.contains("ulimit -n") && hint.contains("--batch"), "{hint}");
    }
}
