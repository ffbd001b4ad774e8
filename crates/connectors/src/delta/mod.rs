//! `'connector' = 'delta'`: Delta Lake tables to write, in folders of this machine.
//!
//! ```text
//! part-<run>-<n>.parquet          a data file: whole and on the disk when its epoch is prepared; no reader sees it
//! _delta_log/<version>.json       the commit of the epoch: the names of its files, and a `txn` with the epoch's number
//! ```
//!
//! So a commit is one entry of the table's log, and a run that goes on from a checkpoint reads there whether that of
//! its epoch was made.

#[cfg(feature = "delta")]
mod agreement;
#[cfg(feature = "delta")]
mod columns;
#[cfg(feature = "delta")]
mod commitment;
#[cfg(feature = "delta")]
mod data_file;
#[cfg(feature = "delta")]
mod growing;
#[cfg(feature = "delta")]
mod log;
#[cfg(feature = "delta")]
mod options;
#[cfg(feature = "delta")]
mod partition;
#[cfg(feature = "delta")]
mod sink;
#[cfg(feature = "delta")]
mod stats;

use std::sync::Arc;

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Connector, OptionSpec, SinkFactory, Source, TableSpec, WriteMode};

/// The folder of a table.
const TABLE_PATH: &str = "table-path";

const OPTIONS: &[OptionSpec] = &[OptionSpec {
    key: TABLE_PATH,
    doc: "The folder of the Delta table; without a table in it, the first commit creates one. A relative path starts at \
          the folder of the SQL file.",
}];

/// Delta Lake tables.
#[derive(Debug)]
pub struct DeltaConnector;

impl Connector for DeltaConnector {
    fn name(&self) -> &'static str {
        "delta"
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn partitioned(&self) -> bool {
        true
    }

    fn overwrites(&self) -> bool {
        true
    }

    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>> {
        Err(Error::invalid(format!("the table '{}' can't be read: 'delta' is a sink", table.name))
            .hint("read the Delta table with DuckDB or Spark"))
    }

    #[cfg(feature = "delta")]
    fn sink(&self, table: &TableSpec, mode: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Ok(Arc::new(sink::DeltaSinkFactory::new(table, mode)?))
    }

    #[cfg(not(feature = "delta"))]
    fn sink(&self, table: &TableSpec, _: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Err(Error::invalid(format!("this tidemill was built without Delta Lake, and can't write to '{}'", table.name))
            .hint("build it with: cargo build --release --features delta"))
    }
}

#[cfg(all(test, feature = "delta"))]
mod tests;
