//! `'connector' = 'filesystem'`: tables in files, of this machine or (to read) of an S3 bucket.
//!
//! As in Flink, `path` is a file or a folder to read and a folder to write: a sink adds part files to it, or with
//! `INSERT OVERWRITE` replaces those that are there.

mod infer;
mod location;
mod options;
mod part;
mod partition;
mod rolling;
mod sink;
mod source;
mod store;

use std::sync::{Arc, LazyLock};

use tidemill_core::Result;
use tidemill_runtime::connector::{Connector, OptionSpec, SinkFactory, Source, TableSpec, WriteMode};

pub use self::infer::{FileInference, InferredFormat};
use self::options::FilesystemOptions;
use self::sink::FilesystemSinkFactory;
use self::source::FilesystemSource;

/// Files.
#[derive(Debug)]
pub struct FilesystemConnector;

impl Connector for FilesystemConnector {
    fn name(&self) -> &'static str {
        "filesystem"
    }

    fn options(&self) -> &'static [OptionSpec] {
        static OPTIONS: LazyLock<Vec<OptionSpec>> = LazyLock::new(options::all);
        &OPTIONS
    }

    fn formats(&self) -> &'static [&'static str] {
        crate::format::FILE_NAMES
    }

    fn partitioned(&self) -> bool {
        true
    }

    fn overwrites(&self) -> bool {
        true
    }

    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>> {
        let options = FilesystemOptions::from_table(table)?;
        options.format.check_readable(&table.options)?;
        Ok(Arc::new(FilesystemSource::new(options, table)?))
    }

    fn sink(&self, table: &TableSpec, mode: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Ok(Arc::new(FilesystemSinkFactory::new(table, mode)?))
    }
}

#[cfg(test)]
mod tests;
