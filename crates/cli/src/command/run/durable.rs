//! A run that can be killed and run again: its data directory, and what it goes on from.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use tidemill_core::{Error, Result};
use tidemill_runtime::graph::JobGraph;
use tidemill_runtime::job::Durability;
use tidemill_sql::Checkpointing;
use tidemill_state::DataDir;
use tidemill_state::checkpoint::{Place, Retention, Savepoint};

use crate::report;

/// How often checkpoints are made where the file does not say.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(super) struct DurableArguments {
    /// A directory of the job's own: it keeps checkpoints there, and goes on from the last one
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// Go on from an older checkpoint where the last one is damaged
    #[arg(long, requires = "data_dir")]
    allow_older_checkpoint: bool,

    /// Begin from a savepoint, where the data directory has no checkpoint yet: a folder or a URL
    #[arg(long, value_name = "DIR|URL", requires = "data_dir")]
    from_savepoint: Option<String>,

    /// Leave out what the savepoint has for operators that the job does not have any more
    #[arg(long, requires = "from_savepoint")]
    allow_non_restored_state: bool,
}

impl DurableArguments {
    /// A batch runs whole or not at all.
    pub(super) fn refuse_batch(&self) -> Result<()> {
        match &self.data_dir {
            Some(_) => Err(Error::invalid("a batch has no checkpoints to keep in --data-dir")
                .hint("leave out --data-dir: a batch that fails leaves nothing behind, and is run again")),
            None => Ok(()),
        }
    }

    /// Makes the directory this run's, until the lock is dropped.
    pub(super) fn lock(&self) -> Result<Option<DataDir>> {
        self.data_dir.as_deref().map(DataDir::lock).transpose()
    }

    /// How often an epoch ends.
    pub(super) fn interval(&self, settings: &Checkpointing) -> Option<Duration> {
        settings.interval.or(self.data_dir.as_ref().map(|_| DEFAULT_INTERVAL))
    }

    /// Finds what to go on from, and says what that means for sinks that show rows at once.
    pub(super) async fn open(&self, graph: &JobGraph, settings: &Checkpointing) -> Result<Option<Durability>> {
        let Some(data_dir) = &self.data_dir else {
            return match &settings.dir {
                Some(dir) => Err(Error::invalid(format!(
                    "checkpoints are to be kept in '{dir}', but the run has no --data-dir"
                ))
                .hint(
                    "give the run a directory of its own with --data-dir, or leave out 'execution.checkpointing.dir'",
                )),
                None => Ok(None),
            };
        };
        let place = place(data_dir, settings)?;
        let retention = Retention(settings.retained);
        let mut durability =
            Durability::open(graph, place, retention, settings.timeout, self.allow_older_checkpoint).await?;
        if let Some(savepoint) = &self.from_savepoint {
            self.begin_from(savepoint, &mut durability, graph).await?;
        }
        if let Some((epoch, damage)) = durability.store.passed_over() {
            report::passes_over(*epoch, damage);
        }
        report::at_least_once(graph.at_least_once());
        if let Some(last) = durability.store.last().filter(|last| !last.finished()) {
            report::resumes(last.epoch(), durability.store.place());
        }
        Ok(Some(durability))
    }
}

impl DurableArguments {
    /// The run begins from the savepoint, unless an earlier run of the job has.
    async fn begin_from(&self, savepoint: &str, durability: &mut Durability, graph: &JobGraph) -> Result<()> {
        let savepoint = Savepoint::open(Place::parse(savepoint, Path::new(""))?).await?;
        match durability.store.last() {
            Some(last) if last.origin() == Some(savepoint.id()) => Ok(()),
            Some(_) => Err(Error::invalid(format!(
                "the job can't begin from '{}': it has checkpoints in '{}' that did not",
                savepoint.place(),
                durability.store.place()
            ))
            .hint(
                "leave out --from-savepoint to go on from those, or give --data-dir a directory that is not there yet",
            )),
            None => {
                let left = durability.begin_from(&savepoint, graph, self.allow_non_restored_state).await?;
                report::begins(savepoint.epoch(), savepoint.place(), &left);
                Ok(())
            }
        }
    }
}

/// Where checkpoints are: in the data directory, or where the file says.
fn place(data_dir: &Path, settings: &Checkpointing) -> Result<Place> {
    match &settings.dir {
        Some(dir) => Place::parse(dir, Path::new("")),
        None => Ok(Place::Folder(DataDir::checkpoints(data_dir))),
    }
}
