//! `'connector' = 'stdio'`: rows from standard input, rows to standard output.
//!
//! The source ends when the pipe is closed. The sink shows rows as they are written, not at the
//! commit of their epoch: it is at-least-once.

mod options;
mod sink;
mod source;

use std::sync::{Arc, LazyLock};

use tidemill_core::Result;
use tidemill_runtime::connector::{Connector, OptionSpec, SinkFactory, Source, TableSpec, WriteMode};

use self::sink::StdioSinkFactory;
use self::source::StdioSource;
use crate::format::with_format_options;

/// Standard input and standard output.
#[derive(Debug)]
pub struct StdioConnector;

impl Connector for StdioConnector {
    fn name(&self) -> &'static str {
        "stdio"
    }

    fn options(&self) -> &'static [OptionSpec] {
        static OPTIONS: LazyLock<Vec<OptionSpec>> = LazyLock::new(|| with_format_options(&[]));
        &OPTIONS
    }

    fn formats(&self) -> &'static [&'static str] {
        crate::format::NAMES
    }

    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>> {
        let format = options::format(table)?;
        format.check_readable(&table.options)?;
        Ok(Arc::new(StdioSource::new(format)))
    }

    fn sink(&self, table: &TableSpec, _: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Ok(Arc::new(StdioSinkFactory::new(options::format(table)?, Arc::clone(&table.schema))?))
    }
}

#[cfg(test)]
mod tests;
