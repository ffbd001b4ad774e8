//! The options of a table in files.

use std::time::Duration;

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{OptionSpec, Options, TableSpec};

use super::location::Location;
use super::{partition, rolling};
use crate::format::{FileFormat, with_file_format_options};

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        key: "path",
        doc: "To read: a file, a folder (all files below it, but for names that begin with '.' or '_'), or a pattern \
              such as 'logs/**/*.json', of this machine or, as s3://bucket/..., of a bucket. To write: the folder for \
              part files. A relative path starts at the folder of the SQL file.",
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
pub fn placed(options: &Options, error: &Error) -> Error {
    let placed = options.refuse("path", error.message());
    match error.hint_text() {
        Some(hint) => placed.hint(hint),
        None => placed,
    }
}
