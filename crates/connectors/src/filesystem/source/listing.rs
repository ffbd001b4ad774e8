//! Which files a path names now: a file, all files below a folder, or those that fit a pattern.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glob::{MatchOptions, Pattern};
use tidemill_core::{Error, Result};
use walkdir::{DirEntry, WalkDir};

use crate::filesystem::options::Location;

/// The files of a table.
pub(in crate::filesystem) struct Listing {
    location: Location,
    may_lack: MayLack,
}

/// What need not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::filesystem) enum MayLack {
    /// The file or folder is there, and something fits the pattern.
    Nothing,
    /// There may be no file that fits the pattern.
    Files,
    /// Nor the file or folder itself.
    Everything,
}

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::filesystem) struct Found {
    pub(in crate::filesystem) path: PathBuf,
    /// As the user would write it: the partition's name.
    pub(in crate::filesystem) name: Arc<str>,
}

impl Listing {
    /// The files that a path names.
    pub(in crate::filesystem) fn new(location: Location, may_lack: MayLack) -> Self {
        Self { location, may_lack }
    }

    /// The files that are there, by name. A name that begins with `.` or `_` is hidden, as in Flink:
    /// sinks use such names for what is not finished.
    ///
    /// # Errors
    /// `Unavailable` if nothing is there, or a folder can't be read.
    pub(in crate::filesystem) fn files(&self) -> Result<Vec<Found>> {
        let path = &self.location.path;
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => self.below(path),
            Ok(_) => Ok(vec![Found { path: path.clone(), name: Arc::clone(&self.location.written) }]),
            // A file may have a name that looks like a pattern, so what is there comes first.
            Err(_) if is_pattern(&self.location.written) => self.matching(),
            Err(e) if e.kind() == ErrorKind::NotFound && self.may_lack == MayLack::Everything => Ok(vec![]),
            Err(e) => Err(self.not_there(e)),
        }
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

    fn matching(&self) -> Result<Vec<Found>> {
        let written = self.location.local();
        let pattern = match &self.location.folder {
            Some(folder) => Path::new(&Pattern::escape(&folder.to_string_lossy())).join(written),
            None => written.to_owned(),
        };
        let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
        let paths = glob::glob_with(&pattern.to_string_lossy(), options).map_err(|e| {
            Error::invalid(format!("'{}' is not a pattern for files: {e}", self.location.written))
                .hint("write * for any characters in a name, ** for any folders, and [*] for the character itself")
        })?;
        let mut files = vec![];
        for path in paths {
            let path = path.map_err(|e| Error::unavailable(format!("cannot read '{}': {e}", e.path().display())))?;
            if path.is_dir() {
                files.extend(self.below(&path)?);
            } else {
                files.push(self.found(path));
            }
        }
        if files.is_empty() && self.may_lack == MayLack::Nothing {
            let error = Error::unavailable(format!("no file fits the pattern '{}'", self.location.written));
            return Err(self.location.explain(error, "check the option 'path' of the table"));
        }
        Ok(files)
    }

    fn found(&self, path: PathBuf) -> Found {
        let shown = match &self.location.folder {
            Some(folder) => path.strip_prefix(folder).unwrap_or(&path),
            None => &path,
        };
        // Two names that are not UTF-8 must not look the same: what was read is known by its name.
        let name = shown.to_str().map_or_else(|| format!("{shown:?}").into(), Arc::from);
        Found { path, name }
    }

    fn not_there(&self, e: std::io::Error) -> Error {
        let path = self.location.path.display();
        match e.kind() {
            ErrorKind::NotFound => {
                let error = Error::unavailable(format!("there is no file '{path}'")).because(e);
                self.location.explain(error, "check the option 'path' of the table")
            }
            _ => Error::unavailable(format!("cannot open '{path}': {e}")).because(e),
        }
    }
}

fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

fn hidden(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(['.', '_'])
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
