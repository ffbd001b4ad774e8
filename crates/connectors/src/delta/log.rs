//! The log of a Delta table: what it says, and one entry more for each commit.
//!
//! Whether an entry has come into the log can be unclear where a system fails in between. Each has the transaction of
//! its run and epoch, which is looked up then.

mod files;

use std::collections::BTreeMap;
use std::fs::File;

use deltalake_core::DeltaTableError;
use deltalake_core::kernel::transaction::{CommitBuilder, CommitProperties, TransactionError};
use deltalake_core::kernel::{Action, Add, Remove, Transaction};
use deltalake_core::logstore::{LogStoreRef, StorageConfig, logstore_for};
use deltalake_core::operations::create::CreateBuilder;
use deltalake_core::protocol::{DeltaOperation, SaveMode};
use deltalake_core::table::state::DeltaTableState;
use tidemill_core::{Epoch, Error, Result};
use tidemill_runtime::connector::WriteMode;
use url::Url;

pub use self::files::Named;
use super::agreement;
use super::columns::Columns;
use super::options::TablePath;
use super::partition::Partition;
use crate::local::{failed, sync_folder};

/// The folder of the log in that of its table.
pub const FOLDER: &str = "_delta_log";

/// How often a commit is tried that has to know the whole table, where others come before it.
const ATTEMPTS: usize = 20;

/// After how many versions entries are looked for that are older than the table keeps them.
const CLEANED_EVERY: u64 = 100;

/// The log of one table.
pub struct Log {
    path: TablePath,
    name: String,
    store: LogStoreRef,
    /// `None` where there is no table.
    state: Option<DeltaTableState>,
    /// The version of the last entry of our own.
    own: Option<u64>,
}

/// What one entry does.
pub struct Change {
    /// The files that come.
    pub adds: Vec<Add>,
    /// The files that go.
    pub replaces: Replaces,
    /// The run and the epoch.
    pub transaction: Transaction,
}

/// Which files of a table an entry takes away.
pub enum Replaces {
    /// None.
    Nothing,
    /// All.
    Everything,
    /// Those of some partitions.
    Partitions(Vec<Partition>),
    /// Those that a run has begun from a number on.
    Later {
        /// The run, as the names of its files have it.
        run: String,
        /// The number.
        begun: u64,
    },
}

/// A commit that failed.
#[derive(Debug)]
pub enum Failure {
    /// The table is as it was before.
    NotDone(Error),
    /// The entry is in the log, or may be: the files that it names must stay.
    PerhapsDone(Error),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotDone(error) | Failure::PerhapsDone(error) => error,
        }
    }
}

/// Why an entry was not made as it should be.
enum Refused {
    /// Others have made one that the change did not know of.
    Outdated(Error),
    /// The table does not take it, or can't be reached.
    Failed(Error),
    /// It was made, and what belongs to it was not.
    Afterwards(Error),
}

impl Log {
    /// The log of the table at `path`, whose name is for those who look at it. Does no I/O.
    ///
    /// # Errors
    /// `Invalid` if the folder can't be named in a URL.
    pub fn new(path: &TablePath, name: &str) -> Result<Self> {
        let not_a_url = || Error::invalid(format!("the folder '{}' can't be that of a Delta table", path.written));
        let url = Url::from_directory_path(&path.folder).map_err(|()| not_a_url())?;
        let store = logstore_for(&url, StorageConfig::default()).map_err(|e| failure("open", path, e))?;
        Ok(Self { path: path.clone(), name: name.to_owned(), store, state: None, own: None })
    }

    /// Whether there was a table when the log was last read.
    pub fn has_table(&self) -> bool {
        self.state.is_some()
    }

    /// Reads what has come to the log, and checks that the table takes rows with these columns.
    pub async fn refresh(&mut self, columns: &Columns, mode: WriteMode) -> Result<()> {
        let read = |e| failure("read", &self.path, e);
        match &mut self.state {
            Some(state) => state.update(&self.store, None).await.map_err(read)?,
            None if self.store.is_delta_table_location().await.map_err(read)? => {
                self.state = Some(DeltaTableState::try_new(&self.store, None).await.map_err(read)?);
            }
            None => {}
        }
        self.state.as_ref().map_or(Ok(()), |state| agreement::check(&self.path, state, columns, mode))
    }

    /// The last epoch that the application has committed, by what was read of the log.
    pub async fn committed(&self, application: &str) -> Result<Option<Epoch>> {
        let Some(state) = &self.state else { return Ok(None) };
        let version = state.transaction_version(&self.store, application).await;
        let version = version.map_err(|e| failure("read", &self.path, e))?;
        Ok(version.and_then(|version| u64::try_from(version).ok()).map(Epoch))
    }

    /// The data files of a run that entries name, by what was read of the log.
    pub async fn named(&self, run: &str) -> Result<BTreeMap<u64, Named>> {
        match &self.state {
            Some(state) => files::named(run, state, &self.store).await,
            None => Ok(BTreeMap::new()),
        }
    }

    /// Makes the entry. Where others come before it, it is made behind theirs, if it does not contradict them.
    pub async fn commit(&mut self, change: &Change, columns: &Columns, mode: WriteMode) -> Result<(), Failure> {
        for attempt in 1.. {
            self.refresh(columns, mode).await.map_err(Failure::NotDone)?;
            self.check_alone(change).await.map_err(Failure::NotDone)?;
            let refused = match self.make_entry(change, columns).await {
                Ok(()) => return Ok(()),
                Err(Refused::Afterwards(error)) => return Err(Failure::PerhapsDone(error)),
                Err(refused) => refused,
            };
            let known = self.has(&change.transaction).await;
            let (may_retry, error) = match refused {
                Refused::Outdated(error) => (attempt < ATTEMPTS, error),
                Refused::Failed(error) | Refused::Afterwards(error) => (false, error),
            };
            match known {
                Ok(true) => return Ok(()),
                Ok(false) if may_retry => {}
                Ok(false) => return Err(Failure::NotDone(error)),
                Err(unknown) => {
                    return Err(Failure::PerhapsDone(error.hint(format!("whether it was made is unknown: {unknown}"))));
                }
            }
        }
        Err(Failure::NotDone(Error::internal("a commit was not tried")))
    }

    /// Only one run goes on from a checkpoint: were there a second, both would commit the same rows.
    async fn check_alone(&self, change: &Change) -> Result<()> {
        let is_own = self.own.is_some() && self.own == self.state.as_ref().map(DeltaTableState::version);
        if is_own || matches!(change.replaces, Replaces::Later { .. }) {
            return Ok(());
        }
        let Transaction { app_id, version, .. } = &change.transaction;
        match self.committed(app_id).await? {
            Some(Epoch(epoch)) if i64::try_from(epoch).is_ok_and(|epoch| epoch >= *version) => {
                Err(Error::unavailable(format!(
                    "another run of this job has committed epoch {epoch} to the Delta table '{}'",
                    self.path.written
                ))
                .hint("let only one of the two go on"))
            }
            _ => Ok(()),
        }
    }

    async fn make_entry(&mut self, change: &Change, columns: &Columns) -> Result<(), Refused> {
        match self.state.take() {
            None => self.create(change, columns).await,
            Some(state) => {
                let made = self.append(&state, change, columns).await;
                // Until the entry is there and read.
                self.state.get_or_insert(state);
                made
            }
        }
    }

    /// The first entry: it makes the table, with its first files.
    async fn create(&mut self, change: &Change, columns: &Columns) -> Result<(), Refused> {
        let properties = CommitProperties::default().with_max_retries(0);
        let created = CreateBuilder::new()
            .with_log_store(self.store.clone())
            .with_table_name(&self.name)
            .with_columns(columns.delta.fields().cloned())
            .with_partition_columns(columns.partitioned_by.iter().cloned())
            .with_actions(change.adds.iter().cloned().map(Action::Add))
            .with_commit_properties(properties.with_application_transaction(change.transaction.clone()))
            .await;
        let table = created.map_err(|e| match e {
            // Another writer has made it.
            DeltaTableError::GenericError { .. } => Refused::Outdated(failure("create", &self.path, e)),
            e => refused("create", &self.path, e),
        })?;
        self.state = table.state;
        self.own = Some(0);
        self.sync(0).map_err(Refused::Afterwards)
    }

    /// An entry of a table that is there. With files that go it must come right behind what was read: else a file could
    /// have come that should go with them.
    async fn append(&mut self, state: &DeltaTableState, change: &Change, columns: &Columns) -> Result<(), Refused> {
        let goes = files::replaced(&change.replaces, state, &self.store, columns).await.map_err(Refused::Failed)?;
        let next = state.version() + 1;
        let properties = CommitProperties::default()
            .with_application_transaction(change.transaction.clone())
            // Each cleaning lists the whole log; once a checkpoint is often enough.
            .with_cleanup_expired_logs((!next.is_multiple_of(CLEANED_EVERY)).then_some(false));
        let properties = match change.replaces {
            Replaces::Nothing => properties,
            _ => properties.with_max_retries(0),
        };
        let prepared = CommitBuilder::from(properties)
            .with_actions(actions(goes, &change.adds))
            .build(Some(state), self.store.clone(), change.operation(columns))
            .into_prepared_commit_future();
        let what = format!("commit version {next} of");
        let made = async { prepared.await?.await }.await.map_err(|e| refused(&what, &self.path, e))?;
        let version = made.version;
        self.sync(version).map_err(Refused::Afterwards)?;
        let done = made.await.map_err(|e| {
            let error = failure(&format!("write a checkpoint of version {version} of"), &self.path, e);
            Refused::Afterwards(error.hint("the rows are committed all the same"))
        })?;
        self.state = Some(done.snapshot);
        self.own = Some(version);
        Ok(())
    }

    /// Whether the transaction is in the log, as it now is.
    async fn has(&mut self, transaction: &Transaction) -> Result<bool> {
        self.state = None;
        let read = |e| failure("read", &self.path, e);
        if !self.store.is_delta_table_location().await.map_err(read)? {
            return Ok(false);
        }
        let state = DeltaTableState::try_new(&self.store, None).await.map_err(read)?;
        let version = state.transaction_version(&self.store, &transaction.app_id).await.map_err(read)?;
        self.state = Some(state);
        Ok(version == Some(transaction.version))
    }

    /// Makes an entry survive a crash of the machine.
    fn sync(&self, version: u64) -> Result<()> {
        let folder = self.path.folder.join(FOLDER);
        let entry = folder.join(format!("{version:020}.json"));
        File::open(&entry).and_then(|file| file.sync_all()).map_err(|e| failed("sync", &entry, e))?;
        sync_folder(&folder)
    }
}

impl Change {
    /// What readers of the log's history are told.
    fn operation(&self, columns: &Columns) -> DeltaOperation {
        let write = |mode| DeltaOperation::Write {
            mode,
            partition_by: (!columns.partitioned_by.is_empty()).then(|| columns.partitioned_by.clone()),
            predicate: None,
        };
        match self.replaces {
            Replaces::Nothing => write(SaveMode::Append),
            Replaces::Everything | Replaces::Partitions(_) => write(SaveMode::Overwrite),
            Replaces::Later { .. } => DeltaOperation::Delete { predicate: None },
        }
    }
}

fn actions(goes: Vec<Remove>, comes: &[Add]) -> Vec<Action> {
    goes.into_iter().map(Action::Remove).chain(comes.iter().cloned().map(Action::Add)).collect()
}

/// An entry that could not be made; `what` says which.
fn refused(what: &str, path: &TablePath, e: DeltaTableError) -> Refused {
    // A conflict too: delta-rs takes one that only adds files for a reader of the table, and what it rightly refuses (other
    // columns, another run's epoch) is seen when the log is read again.
    let outdated = matches!(
        e,
        DeltaTableError::VersionAlreadyExists(_)
            | DeltaTableError::Transaction {
                source: TransactionError::MaxCommitAttempts(_) | TransactionError::CommitConflict(_)
            }
    );
    let error = failure(what, path, e);
    if outdated { Refused::Outdated(error) } else { Refused::Failed(error) }
}

/// The error of a table that can't be dealt with as `what` says.
fn failure(what: &str, path: &TablePath, e: DeltaTableError) -> Error {
    let folder = &path.written;
    let told = e.to_string();
    let reason = told.lines().next().unwrap_or_default();
    let error = match &e {
        DeltaTableError::Transaction { source: TransactionError::CommitConflict(_) } => Error::unavailable(format!(
            "cannot {what} the Delta table '{folder}': another writer came before: {reason}"
        ))
        .hint("run it again; a job with checkpoints goes on from its last one"),
        DeltaTableError::Transaction { source: TransactionError::MaxCommitAttempts(_) } => {
            Error::unavailable(format!("cannot {what} the Delta table '{folder}': other writers came before each time"))
                .hint("run it again while fewer others write to the table")
        }
        DeltaTableError::ObjectStore { .. } | DeltaTableError::Io { .. } => {
            Error::unavailable(format!("cannot {what} the Delta table '{folder}': {reason}"))
                .hint("see to it that there is room, and that the user who runs tidemill may write to the folder")
        }
        _ => Error::data(format!("cannot {what} the Delta table '{folder}': {reason}")),
    };
    error.because(e)
}
