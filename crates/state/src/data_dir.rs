//! The directory that one job calls its own.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tidemill_core::{Error, Result};

/// A directory that is locked by its one owner, until it is dropped or the process ends.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    /// The lock is the open file's: it goes with the process, however that ends.
    _lock: File,
}

impl DataDir {
    /// Makes the directory if it is not there, and locks it.
    ///
    /// # Errors
    /// `Invalid` if another process has it, `Unavailable` if it can't be made or written.
    pub fn lock(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(|e| failed("create the data directory", path, e))?;
        let lock = path.join("lock");
        let file = File::options().create(true).truncate(false).write(true).open(&lock);
        let file = file.map_err(|e| failed("open", &lock, e))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: file }),
            Err(TryLockError::WouldBlock) => {
                Err(Error::invalid(format!("the data directory '{}' is in use by another process", path.display()))
                    .hint("stop that one first, or give this run a data directory of its own with --data-dir"))
            }
            Err(TryLockError::Error(e)) => Err(failed("lock", &lock, e)),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its checkpoints are, if nothing else is said.
    #[must_use]
    pub fn checkpoints(path: &Path) -> PathBuf {
        path.join("checkpoints")
    }
}

fn failed(what: &str, path: &Path, e: io::Error) -> Error {
    Error::unavailable(format!("cannot {what} '{}': {e}", path.display()))
        .because(e)
        .hint("give --data-dir a folder that the user who runs tidemill can write to")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_one_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        let owner = DataDir::lock(&path).unwrap();
        let error = DataDir::lock(&path).unwrap_err();
        assert_eq!(error.message(), format!("the data directory '{}' is in use by another process", path.display()));
        drop(owner);
        DataDir::lock(&path).unwrap();
    }

    #[test]
    fn a_file_in_its_place_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "x").unwrap();
        let error = DataDir::lock(&path).unwrap_err();
        assert!(error.message().starts_with(&format!("cannot create the data directory '{}': ", path.display())));
    }
}
