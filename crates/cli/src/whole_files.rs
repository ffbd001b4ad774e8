//! Files that a command writes: all of them are there, whole, or none of them is.
//!
//! They are written beside their names and renamed at the end, so that a full disk leaves no file that is cut.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tidemill_core::{Error, Result};

/// Files of a folder that is being written.
pub(crate) struct WholeFiles {
    folder: PathBuf,
    /// Whether the folder was not there before.
    made: bool,
    /// The files so far, by name; not yet under these names.
    staged: Vec<String>,
    finished: bool,
}

impl WholeFiles {
    /// Begins to write to `folder`, which is made if it is not there.
    ///
    /// # Errors
    /// `Unavailable` if it can't be made.
    pub(crate) fn create(folder: &Path) -> Result<Self> {
        let made = !folder.exists();
        fs::create_dir_all(folder).map_err(|e| failed("make the folder", folder, e))?;
        Ok(Self { folder: folder.to_owned(), made, staged: vec![], finished: false })
    }

    /// Writes a file, which gets its name in [`WholeFiles::finish`].
    ///
    /// # Errors
    /// `Unavailable` if it can't be written.
    pub(crate) fn write(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let staged = self.staged_path(name);
        self.staged.push(name.to_owned());
        let written = File::create(&staged).and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()
        });
        written.map_err(|e| failed("write", &self.folder.join(name), e))
    }

    /// Gives the files their names; those that had them before are replaced.
    ///
    /// # Errors
    /// `Unavailable` if that is not possible.
    pub(crate) fn finish(mut self) -> Result<()> {
        for name in &self.staged {
            let path = self.folder.join(name);
            fs::rename(self.staged_path(name), &path).map_err(|e| failed("write", &path, e))?;
        }
        let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
        synced.map_err(|e| failed("write", &self.folder, e))?;
        self.finished = true;
        Ok(())
    }

    /// Hidden, and no name that a reader of the folder asks for.
    fn staged_path(&self, name: &str) -> PathBuf {
        self.folder.join(format!(".{name}.unfinished"))
    }
}

impl Drop for WholeFiles {
    /// Takes back what was begun. What can't be deleted is hidden, and replaced by the next attempt.
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        for name in &self.staged {
            drop(fs::remove_file(self.staged_path(name)));
        }
        if self.made {
            drop(fs::remove_dir(&self.folder));
        }
    }
}

/// The error of a path that can't be dealt with as `what` says, and what to do about it.
fn failed(what: &str, path: &Path, e: io::Error) -> Error {
    let hint = match e.kind() {
        ErrorKind::StorageFull => "make room on the disk, then run again",
        ErrorKind::QuotaExceeded => "the user's disk quota is used up: make room, then run again",
        ErrorKind::FileTooLarge => "raise the limit of a file's size (ulimit -f), then run again",
        _ => "give a folder that you may write to",
    };
    Error::unavailable(format!("cannot {what} '{}': {e}", path.display())).because(e).hint(hint)
}

#[cfg(test)]
mod tests;
