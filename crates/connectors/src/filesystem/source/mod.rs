//! Reads files: each is a partition, whose rows are in its order.

mod compression;
mod listing;
mod monitor;
mod partition_columns;
mod reader;

use std::sync::Arc;

use async_trait::async_trait;
use tidemill_core::Result;
use tidemill_runtime::connector::{Opened, PartitionReader, ScanRequest, Source, TableSpec};

pub(super) use self::listing::{Found, Listing};
use self::monitor::Monitor;
use self::partition_columns::PartitionColumns;
pub(super) use self::partition_columns::folders;
use self::reader::{FileReader, Request};
pub(super) use self::reader::{open_file, open_text};
use super::options::FilesystemOptions;
use crate::blocking::blocking;

/// Files to read.
pub struct FilesystemSource {
    options: Arc<FilesystemOptions>,
    partition_columns: PartitionColumns,
}

impl FilesystemSource {
    /// Reads the files that `options` name.
    ///
    /// # Errors
    /// `Invalid` if a partition column has a type that no name of a folder gives.
    pub fn new(options: FilesystemOptions, table: &TableSpec) -> Result<Self> {
        let partition_columns = PartitionColumns::new(table)?;
        Ok(Self { options: Arc::new(options), partition_columns })
    }
}

#[async_trait]
impl Source for FilesystemSource {
    fn bounded(&self) -> bool {
        true
    }

    fn ends(&self) -> bool {
        self.options.monitor_interval.is_none()
    }

    fn narrows_rows(&self) -> bool {
        self.options.format.narrows_rows()
    }

    async fn open(&self, request: &ScanRequest) -> Result<Opened> {
        let listing = Listing::new(self.options.location.clone(), self.options.monitor_interval.is_some());
        let opening = Opening {
            request: Arc::new(Request::new(&self.options, &self.partition_columns, request)?),
            partition_columns: self.partition_columns.clone(),
        };
        let found = blocking(|| listing.files())?;
        let partitions = opening.open(&found)?;
        let discovery = self.options.monitor_interval.filter(|_| request.follow).map(|interval| {
            let seen = found.iter().map(|file| file.path.clone()).collect();
            Box::new(Monitor::new(listing, opening, interval, seen)) as _
        });
        Ok(Opened { partitions, discovery })
    }
}

/// Makes the readers of files.
struct Opening {
    request: Arc<Request>,
    partition_columns: PartitionColumns,
}

impl Opening {
    fn open(&self, found: &[Found]) -> Result<Vec<Box<dyn PartitionReader>>> {
        let reader = |file: &Found| -> Result<Box<dyn PartitionReader>> {
            let values = self.partition_columns.of_file(file)?;
            Ok(Box::new(FileReader::new(file, Arc::clone(&self.request), values)))
        };
        found.iter().map(reader).collect()
    }
}
