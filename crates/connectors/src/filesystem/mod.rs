//! `'connector' = 'filesystem'`: tables in local files.
//!
//! As in Flink, `path` is a file or a folder to read and a folder to write: a sink adds part files to it.

mod options;
mod part;
mod sink;
mod source;

use std::sync::{Arc, LazyLock};

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Connector, OptionSpec, SinkFactory, Source, TableSpec};

use self::options::FilesystemOptions;
use self::sink::FilesystemSinkFactory;
use self::source::FilesystemSource;
use crate::format::with_format_options;

/// Local files.
#[derive(Debug)]
pub struct FilesystemConnector;

impl Connector for FilesystemConnector {
    fn name(&self) -> &'static str {
        "filesystem"
    }

    fn options(&self) -> &'static [OptionSpec] {
        static OPTIONS: LazyLock<Vec<OptionSpec>> = LazyLock::new(|| with_format_options(options::OPTIONS));
        &OPTIONS
    }

    fn partitioned(&self) -> bool {
        true
    }

    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(FilesystemSource::new(FilesystemOptions::from_table(table)?, table)?))
    }

    fn sink(&self, table: &TableSpec) -> Result<Arc<dyn SinkFactory>> {
        if !table.partitioned_by.is_empty() {
            return Err(Error::invalid(format!(
                "'{}' is PARTITIONED BY, which a sink of files can't write yet",
                table.name
            )));
        }
        let options = FilesystemOptions::from_table(table)?;
        Ok(Arc::new(FilesystemSinkFactory::new(options, Arc::clone(&table.schema))?))
    }
}

#[cfg(test)]
mod tests;
