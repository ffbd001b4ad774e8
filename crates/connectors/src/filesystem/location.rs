//! Where the path of a table leads; found out without looking there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemill_core::{Error, Result};

/// A path that names a file, a folder, or several by a pattern.
#[derive(Debug, Clone)]
pub struct Location {
    /// The path as the user wrote it: the partition's name.
    pub written: Arc<str>,
    /// Where that is.
    pub place: Place,
}

/// Where files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On this machine.
    Local {
        /// The path to open.
        path: PathBuf,
        /// Where the path was looked up from, if it is relative.
        folder: Option<PathBuf>,
    },
    /// In a bucket of S3.
    Bucket {
        /// Its name.
        bucket: String,
        /// The key of an object, what keys begin with, or a pattern; may be empty.
        key: String,
    },
}

impl Location {
    /// A path; a relative one starts at `folder`. Does no I/O.
    ///
    /// # Errors
    /// `Invalid` if it names no place that files can be in.
    pub fn new(written: &str, folder: &Path) -> Result<Self> {
        let place = match written.split_once("://") {
            Some(("s3" | "s3a", rest)) => in_bucket(written, rest)?,
            _ => local(local_path(written)?, folder),
        };
        Ok(Self { written: written.into(), place })
    }

    /// The folder to write to.
    ///
    /// # Errors
    /// `Invalid` if it is not on this machine.
    pub fn folder_to_write(self) -> Result<PathBuf> {
        match self.place {
            Place::Local { path, .. } => Ok(path),
            Place::Bucket { .. } => {
                Err(Error::invalid(format!("cannot write to '{}': files in S3 are only read yet", self.written))
                    .hint("write to a folder of this machine, and copy it there: aws s3 sync FOLDER URL"))
            }
        }
    }
}

/// What a path of this machine is without its scheme.
pub fn without_scheme(written: &str) -> &str {
    written.strip_prefix("file://").or(written.strip_prefix("file:")).unwrap_or(written)
}

/// A path for messages; the empty path is the current folder.
pub fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() { "the current folder".to_owned() } else { format!("'{}'", path.display()) }
}

fn local(path: &Path, folder: &Path) -> Place {
    Place::Local { path: folder.join(path), folder: path.is_relative().then(|| folder.to_owned()) }
}

/// What stands behind `s3://`. As in local paths, nothing in it is escaped.
fn in_bucket(written: &str, rest: &str) -> Result<Place> {
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err(Error::invalid(format!("the URL '{written}' names no bucket")).hint("write s3://bucket/folder/"));
    }
    Ok(Place::Bucket { bucket: bucket.to_owned(), key: key.to_owned() })
}

/// The part of a path or `file://` URL that names a local file. As in Flink, nothing in it is escaped.
fn local_path(written: &str) -> Result<&Path> {
    let local = match written.split_once("://") {
        None => without_scheme(written),
        Some(("file", rest)) if rest.starts_with('/') => rest,
        Some(("file", _)) => {
            return Err(Error::invalid(format!("the URL '{written}' names a host"))
                .hint("a URL of a local file has three slashes: file:///folder/file"));
        }
        Some((scheme, _)) => {
            return Err(Error::invalid(format!("the file system '{scheme}' is not supported"))
                .hint("use the path of a local file, a file:/// URL, or an s3:// URL"));
        }
    };
    if local.is_empty() {
        return Err(Error::invalid("the option 'path' is empty").hint("name a file or a folder"));
    }
    Ok(Path::new(local))
}
