//! `'connector' = 'print'`: shows every row and its kind, as Flink's connector of that name does.
//!
//! Rows are shown as they are written, not at the commit of their epoch: it is at-least-once.

pub mod cell;
mod sink;

use std::sync::Arc;

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Connector, OptionSpec, SinkFactory, Source, TableSpec, WriteMode};

pub use self::sink::PrintSinkFactory;
use crate::console::Console;

const OPTIONS: &[OptionSpec] = &[
    OptionSpec { key: "print-identifier", doc: "A text that stands before every row, as 'text> '." },
    OptionSpec {
        key: "standard-error",
        doc: "Whether to print to standard error instead of standard output: true or false (default).",
    },
];

/// Rows for a person to read.
#[derive(Debug)]
pub struct PrintConnector;

impl Connector for PrintConnector {
    fn name(&self) -> &'static str {
        "print"
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>> {
        Err(Error::invalid(format!("the table '{}' can't be read: 'print' is a sink", table.name)))
    }

    fn sink(&self, table: &TableSpec, _: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        let console = match table.options.boolean("standard-error", false)? {
            true => Console::Error,
            false => Console::Output,
        };
        let prefix = table.options.get("print-identifier").map_or_else(String::new, |name| format!("{name}> "));
        Ok(Arc::new(PrintSinkFactory::new(console, prefix, &table.schema)?))
    }
}

#[cfg(test)]
mod tests;
