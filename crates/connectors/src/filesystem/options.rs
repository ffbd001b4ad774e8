//! The options of a table in files, and where its path leads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{OptionSpec, Options, TableSpec};

use super::{partition, rolling};
use crate::format::{FileFormat, with_file_format_options};

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        key: "path",
        doc: "To read: a file, a folder (all files below it, but for names that begin with '.' or '_'), or a pattern \
              such as 'logs/**/*.json'. To write: the folder for part files. A relative path starts at the folder of \
              the SQL file.",
    },
    OptionSpec {
        key: MONITOR_INTERVAL,
        doc: "How often a live run looks for new files, such as '10 s'. Without it the files that are there at the \
              start are the input. A batch run never waits for more.",
    },
];

const MONITOR_INTERVAL: &str = "source.monitor-interval";

/// Every option of the connector, with those of the formats.
pub fn all() -> Vec<OptionSpec> {
    with_file_format_options(&[OPTIONS, partition::OPTIONS, rolling::OPTIONS].concat())
}

/// A table in files.
#[derive(Debug, Clone)]
pub struct FilesystemOptions {
    /// Where they are.
    pub location: Location,
    /// The format of the bytes.
    pub format: FileFormat,
    /// How often to look for new files; `None` where there will be none.
    pub monitor_interval: Option<Duration>,
}

impl FilesystemOptions {
    /// Reads and checks the options of a table; does no I/O.
    pub fn from_table(table: &TableSpec) -> Result<Self> {
        let written = table.options.required("path")?;
        let location = Location::new(written, &table.folder).map_err(|e| placed(&table.options, &e))?;
        let format = FileFormat::from_table(table)?;
        let monitor_interval = table.options.get(MONITOR_INTERVAL);
        let monitor_interval =
            monitor_interval.map(|_| table.options.duration(MONITOR_INTERVAL, Duration::MAX)).transpose()?;
        Ok(Self { location, format, monitor_interval })
    }
}

/// The error, shown at the option `path`.
fn placed(options: &Options, error: &Error) -> Error {
    let placed = options.refuse("path", error.message());
    match error.hint_text() {
        Some(hint) => placed.hint(hint),
        None => placed,
    }
}

/// A path that names a file, a folder, or several by a pattern.
#[derive(Debug, Clone)]
pub struct Location {
    /// The path as the user wrote it: the partition's name.
    pub written: Arc<str>,
    /// The path to open.
    pub path: PathBuf,
    /// Where the path was looked up from, if it is relative.
    pub folder: Option<PathBuf>,
}

impl Location {
    /// A path; a relative one starts at `folder`. Does no I/O.
    ///
    /// # Errors
    /// `Invalid` if it names no local file.
    pub fn new(written: &str, folder: &Path) -> Result<Self> {
        let local = local_path(written)?;
        let base = local.is_relative().then(|| folder.to_owned());
        Ok(Self { written: written.into(), path: folder.join(local), folder: base })
    }

    /// The path as it was written, without the scheme.
    pub fn local(&self) -> &Path {
        Path::new(without_scheme(&self.written))
    }

    /// Says where a relative path was looked up from, or else what `otherwise` says.
    pub fn explain(&self, error: Error, otherwise: &str) -> Error {
        match &self.folder {
            Some(folder) => error.hint(format!(
                "the path '{}' is relative to the folder of the SQL file, {}",
                self.written,
                shown(folder)
            )),
            None => error.hint(otherwise),
        }
    }
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
                .hint("use the path of a local file, or a file:/// URL"));
        }
    };
    if local.is_empty() {
        return Err(Error::invalid("the option 'path' is empty").hint("name a file or a folder"));
    }
    Ok(Path::new(local))
}

fn without_scheme(written: &str) -> &str {
    written.strip_prefix("file://").or(written.strip_prefix("file:")).unwrap_or(written)
}

/// A path for messages; the empty path is the current folder.
pub fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() { "the current folder".to_owned() } else { format!("'{}'", path.display()) }
}
