//! Files of this machine: one, all those below a folder, or those that fit a pattern.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{File, FileType};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemill_core::{Error, Result};
use walkdir::WalkDir;

use super::pattern::{PathPattern, split};
use super::{Found, MayLack, OPEN_FILES_HINT, Store, StoredBytes, StoredFile, is_pattern, too_many_open};
use crate::filesystem::location::{shown, without_scheme};
use crate::filesystem::sink::decisions;
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

    /// The files below a folder that a pattern names, each once, in the order of their names.
    fn walk(&self, folder: &Path, pattern: &PathPattern) -> Result<Vec<Found>> {
        let root = or_current(folder);
        let enters = |path: &Path| pattern.may_fit_in(&names(below(root, path)));
        let walk = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
        let mut files = vec![];
        for entry in walk.filter_entry(|entry| !entry.file_type().is_dir() || enters(entry.path())) {
            let entry = match entry {
                Ok(entry) => entry,
                // Gone since the folder was listed, or a link to nothing: there is no file.
                Err(e) if e.depth() > 0 && is_gone(&e) => continue,
                // Nothing of it is asked for.
                Err(e) if e.path().is_some_and(|path| !enters(path)) => continue,
                Err(e) => return Err(unreadable(folder, e)),
            };
            let path = below(root, entry.path());
            if is_named(pattern, path, entry.file_type()) {
                files.push(self.found(folder.join(path)));
            }
        }
        Ok(files)
    }

    fn matching(&self, may_lack: MayLack) -> Result<Vec<Found>> {
        let (folder, pattern) = PathPattern::parse(&self.written, without_scheme(&self.written))?;
        let folder = self.folder_of_pattern(folder);
        let is_folder = or_current(&folder).metadata().map_or_else(|e| !is_absent(&e), |metadata| metadata.is_dir());
        let files = if is_folder { self.walk(&folder, &pattern)? } else { vec![] };
        if files.is_empty() && may_lack == MayLack::Nothing {
            return Err(self.explain(Error::unavailable(format!("no file fits the pattern '{}'", self.written))));
        }
        Ok(files)
    }

    /// Where the folder is that a pattern names before its first sign.
    fn folder_of_pattern(&self, written: &str) -> PathBuf {
        let mut path = self.folder.clone().unwrap_or_else(|| PathBuf::from("/"));
        // `./in/*` and `in/*` give files the same names, by which they are known to a run that reads on.
        path.extend(written.split('/').skip_while(|name| *name == "."));
        path
    }

    /// The folder that is read, or a file.
    fn root(&self) -> PathBuf {
        match self.path.metadata() {
            Err(_) if is_pattern(&self.written) => self.folder_of_pattern(split(without_scheme(&self.written)).0),
            _ => self.path.clone(),
        }
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
            Ok(metadata) if metadata.is_dir() => self.walk(&self.path, &PathPattern::default()),
            Ok(_) => Ok(vec![self.named(Arc::clone(&self.written), self.path.clone())]),
            // A file may have a name that looks like a pattern, so what is there comes first.
            Err(_) if is_pattern(&self.written) => self.matching(may_lack),
            Err(e) if e.kind() == ErrorKind::NotFound && may_lack == MayLack::Everything => Ok(vec![]),
            Err(e) => Err(self.not_there(e)),
        }
    }

    fn check_whole(&self) -> Result<()> {
        let root = self.root();
        // What can't be listed is told where its files are asked for.
        match decisions(or_current(&root)).unwrap_or_default().first() {
            None => Ok(()),
            Some(decision) => Err(Error::unavailable(format!(
                "a run that writes to {} has not come to its end: '{}' is there",
                shown(&root),
                decision.display()
            ))
            .hint("the next run that writes to the table finishes it; if one is at it now, read again in a moment")),
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

/// The empty path, which nothing can be asked of, is the current folder.
fn or_current(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// The way to a path from a folder that it is in.
fn below<'p>(folder: &Path, path: &'p Path) -> &'p Path {
    path.strip_prefix(folder).unwrap_or(path)
}

/// The names of a path; what is not UTF-8 in them fits any sign of a pattern.
fn names(path: &Path) -> Vec<Cow<'_, str>> {
    path.iter().map(OsStr::to_string_lossy).collect()
}

/// Whether a pattern names what is there. A pipe must fit by itself: no folder is read for those in it.
fn is_named(pattern: &PathPattern, path: &Path, file_type: FileType) -> bool {
    let fits_itself = |below: &[Cow<'_, str>]| below.is_empty() && !file_type.is_dir();
    pattern.below(&names(path)).is_some_and(|below| file_type.is_file() || fits_itself(below))
}

/// Whether the error says that there is no such folder.
fn is_absent(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
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
    let hint = match e.io_error() {
        Some(io) if too_many_open(io) => OPEN_FILES_HINT,
        _ => "give the user who runs tidemill the right to enter and read the folder",
    };
    error.because(e).hint(hint)
}
