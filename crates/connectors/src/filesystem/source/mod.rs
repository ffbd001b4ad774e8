//! Reads files: each is a partition, whose rows are in its order.

mod compression;
mod monitor;
mod partition_columns;
mod reader;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Opened, PartitionReader, ReadPartition, ScanRequest, Source, TableSpec};

use self::monitor::Monitor;
use self::partition_columns::PartitionColumns;
pub(super) use self::partition_columns::folders;
pub(super) use self::reader::open_text;
use self::reader::{FileReader, Request};
use super::options::{FilesystemOptions, placed};
use super::store::{CHANGED_HINT, Found, MayLack, Store, store};
use crate::blocking::blocking;
use crate::format::records::READ_BYTES;

/// Files to read.
pub struct FilesystemSource {
    options: FilesystemOptions,
    store: Arc<dyn Store>,
    partition_columns: PartitionColumns,
    /// The most that one read of text asks for.
    read_bytes: usize,
}

impl FilesystemSource {
    /// Reads the files that `options` name.
    ///
    /// # Errors
    /// `Invalid` if a partition column has a type that no name of a folder gives, or if files can't be read where
    /// `options` say that they are.
    pub fn new(options: FilesystemOptions, table: &TableSpec) -> Result<Self> {
        let partition_columns = PartitionColumns::new(table)?;
        let store = store(&options.location).map_err(|e| placed(&table.options, &e))?;
        Ok(Self { options, store: Arc::from(store), partition_columns, read_bytes: READ_BYTES })
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

    fn resumes(&self) -> bool {
        true
    }

    async fn open(&self, request: &ScanRequest) -> Result<Opened> {
        let may_lack = self.may_lack(request);
        let opening = Opening {
            request: Arc::new(Request::new(&self.options, &self.partition_columns, request, self.read_bytes)?),
            partition_columns: self.partition_columns.clone(),
        };
        let found = blocking(|| self.whole(may_lack))?;
        let partitions = opening.go_on(&found, &request.resume)?;
        let discovery = self.options.monitor_interval.filter(|_| request.follow).map(|interval| {
            let seen = found.iter().map(|file| &file.name).chain(request.resume.iter().map(|read| &read.name));
            let seen = seen.cloned().collect();
            Box::new(Monitor::new(Arc::clone(&self.store), opening, interval, seen)) as _
        });
        Ok(Opened { partitions, discovery })
    }
}

impl FilesystemSource {
    /// The files that are there, none of them in a folder that is half replaced.
    fn whole(&self, may_lack: MayLack) -> Result<Vec<Found>> {
        self.store.check_whole()?;
        let found = self.store.files(may_lack)?;
        // What has been decided meanwhile may have taken files away before they were listed.
        self.store.check_whole()?;
        Ok(found)
    }

    /// What need not be there: of files that are read to their end nothing has to stay.
    fn may_lack(&self, request: &ScanRequest) -> MayLack {
        match (self.options.monitor_interval, &*request.resume) {
            (None, []) => MayLack::Nothing,
            (None, _) => MayLack::Everything,
            // A folder that is followed and gone would be waited for in silence.
            (Some(_), _) => MayLack::Files,
        }
    }
}

/// Makes the readers of files.
struct Opening {
    request: Arc<Request>,
    partition_columns: PartitionColumns,
}

impl Opening {
    /// Files at their beginning.
    fn open(&self, found: &[Found]) -> Result<Vec<Box<dyn PartitionReader>>> {
        found.iter().map(|file| self.reader(file, 0, None)).collect()
    }

    /// Files behind what was read of them; those that were read to their end are left out.
    fn go_on(&self, found: &[Found], read: &[ReadPartition]) -> Result<Vec<Box<dyn PartitionReader>>> {
        let mut known: HashMap<&str, &ReadPartition> =
            read.iter().map(|partition| (&*partition.name, partition)).collect();
        let mut readers = vec![];
        for file in found {
            let (position, until) =
                known.remove(&*file.name).map_or((Some(0), None), |read| (read.position, read.until));
            if let Some(position) = position {
                readers.push(self.reader(file, position, until)?);
            }
        }
        match known.into_iter().filter(|(_, read)| read.position.is_some()).map(|(name, _)| name).min() {
            None => Ok(readers),
            Some(gone) => Err(Error::unavailable(format!(
                "the file '{gone}' is gone, which the run before had not read to its end"
            ))
            .hint(CHANGED_HINT)),
        }
    }

    fn reader(&self, file: &Found, position: u64, until: Option<u64>) -> Result<Box<dyn PartitionReader>> {
        let values = self.partition_columns.of_file(file)?;
        let reader = FileReader::new(file, Arc::clone(&self.request), values, position);
        Ok(Box::new(reader.until(until)))
    }
}

#[cfg(test)]
mod tests;
