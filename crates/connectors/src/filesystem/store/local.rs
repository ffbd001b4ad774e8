//! Files of this machine: one, all those below a folder, or those that fit a pattern.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glob::{MatchOptions, Pattern};
use tidemill_core::{Error, Result};
use walkdir::{DirEntry, WalkDir};

use super::{Found, MayLack, Store, StoredBytes, StoredFile, is_hidden, is_pattern, not_a_pattern};
use crate::filesystem::location::{shown, without_scheme};
use crate::format::parquet::ParquetInput;

/// A path of this machine.
pub(super) struct LocalStore {
    /// As the user wrote it.
    written: Arc<str>,
    path: PathBuf,
    /// Where the path was looked up from, if it is relative.
    folder: Option<PathBuf>,
}

impl LocalStore {
    pub(super) fn new(written: &Arc<str>, path: PathBuf, folder: Option<PathBuf>) -> Self {
        Self { written: Arc::clone(written), path, folder }
    }

    fn below(&self, folder: &Path) -> Result<Vec<Found>> {
        let walk = WalkDir::new(folder).follow_links(true).sort_by_file_name();
        let mut files = vec![];
        for entry in walk.into_iter().filter_entry(|entry| entry.depth() == 0 || !hidden(entry)) {
            let entry = match entry {
                Ok(entry) => entry,
                // Gone since the folder was listed, or a link to nothing: there is no file.
                Err(e) if e.depth() > 0 && is_gone(&e) => continue,
                Err(e) => return Err(unreadable(folder, e)),
            };
            if entry.file_type().is_file() {
                files.push(self.found(entry.into_path()));
            }
        }
        Ok(files)
    }

    fn matching(&self, may_lack: MayLack) -> Result<Vec<Found>> {
        let written = Path::new(without_scheme(&self.written));
        let pattern = match &self.folder {
            Some(folder) => Path::new(&Pattern::escape(&folder.to_string_lossy())).join(written),
            None => written.to_owned(),
        };
        let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
        let paths =
            glob::glob_with(&pattern.to_string_lossy(), options).map_err(|e| not_a_pattern(&self.written, &e))?;
        let mut files = vec![];
        for path in paths {
            let path = path.map_err(|e| Error::unavailable(format!("cannot read '{}': {e}", e.path().display())))?;
            if path.is_dir() {
                files.extend(self.below(&path)?);
            } else {
                files.push(self.found(path));
            }
        }
        if files.is_empty() && may_lack == MayLack::Nothing {
            return Err(self.explain(Error::unavailable(format!("no file fits the pattern '{}'", self.written))));
        }
        Ok(files)
    }

    fn found(&self, path: PathBuf) -> Found {
        let shown = match &self.folder {
            Some(folder) => path.strip_prefix(folder).unwrap_or(&path),
            None => &path,
        };
        // Two names that are not UTF-8 must not look the same: what was read is known by its name.
        let name = shown.to_str().map_or_else(|| format!("{shown:?}").into(), Arc::from);
        self.named(name, path.clone())
    }

    fn named(&self, name: Arc<str>, path: PathBuf) -> Found {
        Found { name, file: Arc::new(LocalFile(path.clone())), path }
    }

    fn not_there(&self, e: io::Error) -> Error {
        let path = self.path.display();
        match e.kind() {
            ErrorKind::NotFound => self.explain(Error::unavailable(format!("there is no file '{path}'")).because(e)),
            _ => Error::unavailable(format!("cannot open '{path}': {e}")).because(e),
        }
    }

    /// Says where a relative path was looked up from.
    fn explain(&self, error: Error) -> Error {
        match &self.folder {
            Some(folder) => error.hint(format!(
                "the path '{}' is relative to the folder of the SQL file, {}",
                self.written,
                shown(folder)
            )),
            None => error.hint("check the option 'path' of the table"),
        }
    }
}

impl Store for LocalStore {
    fn files(&self, may_lack: MayLack) -> Result<Vec<Found>> {
        match self.path.metadata() {
            Ok(metadata) if metadata.is_dir() => self.below(&self.path),
            Ok(_) => Ok(vec![self.named(Arc::clone(&self.written), self.path.clone())]),
            // A file may have a name that looks like a pattern, so what is there comes first.
            Err(_) if is_pattern(&self.written) => self.matching(may_lack),
            Err(e) if e.kind() == ErrorKind::NotFound && may_lack == MayLack::Everything => Ok(vec![]),
            Err(e) => Err(self.not_there(e)),
        }
    }
}

/// A file of this machine.
struct LocalFile(PathBuf);

impl StoredFile for LocalFile {
    fn rereadable(&self) -> io::Result<bool> {
        Ok(self.0.metadata()?.is_file())
    }

    fn bytes(&self) -> io::Result<Box<dyn StoredBytes>> {
        Ok(Box::new(File::open(&self.0)?))
    }

    fn parquet(&self) -> io::Result<ParquetInput> {
        ParquetInput::local(File::open(&self.0)?)
    }
}

impl StoredBytes for File {
    fn count(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

fn hidden(entry: &DirEntry) -> bool {
    is_hidden(&entry.file_name().to_string_lossy())
}

fn is_gone(e: &walkdir::Error) -> bool {
    e.io_error().is_some_and(|io| io.kind() == ErrorKind::NotFound)
}

fn unreadable(folder: &Path, e: walkdir::Error) -> Error {
    let path = e.path().unwrap_or(folder).display().to_string();
    let error = match e.io_error() {
        Some(io) => Error::unavailable(format!("cannot read the folder '{path}': {io}")),
        None => Error::unavailable(format!("cannot read the folder '{path}': {e}")),
    };
    error.because(e).hint("give the user who runs tidemill the right to enter and read the folder")
}
