//! Writes the rows of a table as data files, all those of an epoch added to the table by one entry of its log.
//!
//! A data file has its name from the beginning: what no entry names, no reader sees. An epoch without rows makes no entry.
//! What a killed run leaves is finished or deleted by the run that goes on from its checkpoint ([`recover`]); of a run
//! without checkpoints it stays, until somebody cleans the table with `VACUUM`.

mod recover;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use arrow::array::RecordBatch;
use async_trait::async_trait;
use deltalake_core::kernel::{Add, Transaction};
use tidemill_core::{Epoch, Error, EventBatch, Result};
use tidemill_runtime::connector::{ChangelogMode, Commitment, Guarantee, Sink, SinkFactory, TableSpec, WriteMode};
use tokio::runtime::Builder;

use super::columns::Columns;
use super::commitment::Prepared;
use super::data_file::{self, DataFile};
use super::growing::GrowingFiles;
use super::log::{self, Change, Failure, Log, Replaces};
use super::options::{TablePath, table_path};
use super::partition::{Partition, split};
use crate::blocking::blocking;
use crate::local::{Folders, run_id};

/// A Delta table to write to.
pub struct DeltaSinkFactory {
    table: Arc<Table>,
}

/// What the sink is told of the table.
struct Table {
    path: TablePath,
    name: Arc<str>,
    columns: Columns,
    mode: WriteMode,
}

impl DeltaSinkFactory {
    /// Writes the rows of `table`.
    ///
    /// # Errors
    /// `Invalid` if an option has a wrong value, or a column can't be written.
    pub fn new(table: &TableSpec, mode: WriteMode) -> Result<Self> {
        let path = table_path(table)?;
        let columns = Columns::of(table)?;
        Ok(Self { table: Arc::new(Table { path, name: Arc::clone(&table.name), columns, mode }) })
    }
}

impl SinkFactory for DeltaSinkFactory {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Append
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::ExactlyOnce
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        let table = Arc::clone(&self.table);
        Ok(Box::new(blocking(|| DeltaSink::open(table))?))
    }
}

struct DeltaSink {
    table: Arc<Table>,
    log: Log,
    run: String,
    /// How many files this run has begun.
    begun: u64,
    /// How many it had begun when it last prepared: those are prepared or committed.
    begun_prepared: u64,
    /// The epoch of that.
    epoch: Epoch,
    folders: Folders,
    growing: GrowingFiles,
    /// Files of the present epoch that are whole.
    closed: Vec<Add>,
    prepared: BTreeMap<Epoch, Vec<Add>>,
}

impl DeltaSink {
    /// A table that is there and does not take the rows is found before the work is done.
    fn open(table: Arc<Table>) -> Result<Self> {
        let mut folders = Folders::default();
        folders.ensure(&table.path.folder)?;
        let mut log = Log::new(&table.path, &table.name)?;
        if table.path.folder.join(log::FOLDER).exists() {
            wait(log.refresh(&table.columns, table.mode))?;
        }
        Ok(Self {
            table,
            log,
            run: run_id(),
            begun: 0,
            begun_prepared: 0,
            epoch: Epoch::default(),
            folders,
            growing: GrowingFiles::default(),
            closed: vec![],
            prepared: BTreeMap::new(),
        })
    }

    fn write_rows(&mut self, rows: &RecordBatch) -> Result<()> {
        let table = Arc::clone(&self.table);
        let columns = &table.columns;
        for (partition, rows) in split(columns, &columns.stored(rows)?)? {
            let (folders, begun) = (&mut self.folders, &mut self.begun);
            let begin = || {
                let folder = partition.folder(columns);
                folders.ensure(&table.path.folder.join(&folder))?;
                let name = data_file::name(&self.run, *begun);
                *begun += 1;
                let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                DataFile::new(&table.path.folder, path, columns)
            };
            self.closed.extend(self.growing.write(&partition, &rows, columns, begin)?);
        }
        Ok(())
    }

    fn prepare_epoch(&mut self, epoch: Epoch) -> Result<()> {
        self.growing.close_all(&self.table.columns, &mut self.closed)?;
        self.folders.sync()?;
        (self.begun_prepared, self.epoch) = (self.begun, epoch);
        self.prepared.insert(epoch, std::mem::take(&mut self.closed));
        Ok(())
    }

    /// The run as the table's log knows it.
    fn application(&self) -> String {
        format!("tidemill-{}", self.run)
    }

    fn transaction(&self, epoch: Epoch) -> Result<Transaction> {
        let version = i64::try_from(epoch.0).map_err(|_| Error::internal(format!("the epoch {epoch} is too high")))?;
        Ok(Transaction::new(self.application(), version))
    }

    async fn commit_epoch(&mut self, epoch: Epoch) -> Result<()> {
        let adds: Vec<Add> = self.prepared.range(..=epoch).flat_map(|(_, files)| files).cloned().collect();
        if let Some(replaces) = self.replaced_by(&adds) {
            let change = Change { adds, replaces, transaction: self.transaction(epoch)? };
            match self.log.commit(&change, &self.table.columns, self.table.mode).await {
                Ok(()) => {}
                Err(Failure::NotDone(error)) => return Err(error),
                Err(Failure::PerhapsDone(error)) => {
                    // They can't be taken back.
                    self.prepared.retain(|of, _| *of > epoch);
                    return Err(error);
                }
            }
        }
        self.prepared.retain(|of, _| *of > epoch);
        Ok(())
    }

    /// What goes when these files come; `None` where there is nothing to commit. A table that is not there is created even
    /// without rows.
    fn replaced_by(&self, adds: &[Add]) -> Option<Replaces> {
        let partitioned = !self.table.columns.partitioned_by.is_empty();
        let replaces = match self.table.mode {
            WriteMode::Append => Replaces::Nothing,
            WriteMode::Overwrite if partitioned => {
                Replaces::Partitions(adds.iter().map(|add| Partition::of(add, &self.table.columns)).collect())
            }
            WriteMode::Overwrite => Replaces::Everything,
        };
        let changes = !adds.is_empty() || matches!(replaces, Replaces::Everything) || !self.log.has_table();
        changes.then_some(replaces)
    }

    fn discard(&mut self) -> Result<()> {
        let prepared = std::mem::take(&mut self.prepared).into_values().flatten();
        let whole = prepared.chain(std::mem::take(&mut self.closed)).map(|add| self.table.path.folder.join(add.path));
        let files = self.growing.take().into_iter().chain(whole);
        // Every file is tried, whatever happens to the one before it.
        let outcomes: Vec<Result<()>> = files.map(|file| data_file::delete(&file)).collect();
        outcomes.into_iter().collect::<Result<()>>()?;
        self.folders.remove_empty()
    }
}

#[async_trait]
impl Sink for DeltaSink {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        blocking(|| self.write_rows(&batch.rows))
    }

    async fn prepare(&mut self, epoch: Epoch) -> Result<()> {
        blocking(|| self.prepare_epoch(epoch))
    }

    fn commitment(&self) -> Commitment {
        let (run, files) = (self.run.clone(), self.prepared.clone());
        Prepared { run, begun: self.begun_prepared, epoch: self.epoch, files }.encode()
    }

    async fn commit(&mut self, epoch: Epoch) -> Result<()> {
        self.commit_epoch(epoch).await
    }

    async fn recover(&mut self, commitment: &Commitment) -> Result<()> {
        self.go_on(commitment).await
    }

    async fn adopt(&mut self, commitment: &Commitment) -> Result<()> {
        self.take_over(commitment).await
    }

    async fn abort(&mut self) -> Result<()> {
        blocking(|| self.discard())
    }
}

/// Does asynchronous work on a thread of its own: this one may be that of a runtime, which can't be entered again.
fn wait<T: Send>(work: impl Future<Output = Result<T>> + Send) -> Result<T> {
    let run = || match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(work),
        Err(e) => Err(Error::unavailable(format!("cannot start a thread that reads a Delta table: {e}")).because(e)),
    };
    let done = thread::scope(|scope| scope.spawn(run).join());
    done.unwrap_or_else(|_| Err(Error::internal("the thread that reads a Delta table has failed")))
}

#[cfg(test)]
mod tests;
