//! Runs a program.

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tidemill_core::{Error, Result};
use tidemill_runtime::clock::SystemClock;
use tidemill_runtime::graph::JobGraph;
use tidemill_runtime::job::{self, Durability};
use tidemill_runtime::metrics::{Metrics, WindowMetrics, count};
use tidemill_state::checkpoint::{Place, Retention, Savepoint};
use tidemill_state::{DataDir, SpillFolder};
use tokio::runtime::{Builder, Handle};

use crate::environment::{Environment, Settings};
use crate::execute_batch::emptied;

/// How many checkpoints are kept: the last is what a run goes on from.
const RETENTION: Retention = Retention(1);

/// How long the place of the checkpoints may be silent.
const CHECKPOINT_TIMEOUT: Duration = Duration::from_secs(600);

/// Where state is put, in the data directory, that a run begins with.
const TAKEN_UP: &str = "spill";

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// It was stopped before its input ended: windows that were open have told nothing.
    pub stopped: bool,
    /// An earlier run with this data directory had come to the end of the input: there was nothing left to do.
    pub was_finished: bool,
    /// By the names of windows, joins and queries, how many elements were late for one, or had no time.
    pub late_elements: BTreeMap<String, u64>,
}

impl Environment {
    /// Runs the program until its input ends or Ctrl-C is pressed. Windows are complete, and timers come, when the watermark
    /// says so.
    ///
    /// # Errors
    /// `Invalid` if the program can't be run as it is, and what its steps, its sources and its sinks say. Nothing that was not
    /// committed is left behind; with a data directory, a later run goes on from the last checkpoint.
    pub fn execute_live(&self) -> Result<Executed> {
        block_on("execute_live", "run_live", |stop| self.run_live(stop))
    }

    /// The same within a tokio runtime, until `stop` completes.
    ///
    /// # Errors
    /// As [`Environment::execute_live`].
    pub async fn run_live(&self, stop: impl Future<Output = ()>) -> Result<Executed> {
        let mut graph = self.take_plan()?;
        let settings = self.settings();
        let owned = settings.data_dir.as_deref().map(DataDir::lock).transpose()?;
        graph.taken_up_from = folder_to_take_up_from(settings)?;
        let durability = durability(&graph, settings).await?;
        let options = job::RunOptions {
            batch_rows: settings.batch_size,
            epoch_interval: Some(settings.checkpoint_interval),
            follow: true,
            idle_timeout: None,
            stalls: None,
            durability,
            savepoints: None,
            clock: Arc::new(SystemClock),
        };
        let outcome = job::run(graph, options, stop).await?;
        drop(owned);
        Ok(Executed {
            stopped: outcome.stopped,
            was_finished: outcome.was_finished,
            late_elements: late_elements(&outcome.metrics),
        })
    }
}

/// Completes when somebody wants the run to stop.
pub(crate) type Stop = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs something to its end on threads of its own, or until Ctrl-C or SIGTERM. `this` can't be called within an async
/// function: `awaited` is for that.
pub(crate) fn block_on<R, F: Future<Output = Result<R>>>(
    this: &str,
    awaited: &str,
    run: impl FnOnce(Stop) -> F,
) -> Result<R> {
    if Handle::try_current().is_ok() {
        return Err(Error::invalid(format!("{this} waits for the end of the run, which an async function must not"))
            .hint(format!("await {awaited} there")));
    }
    let runtime = Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Error::unavailable(format!("no threads can be started: {e}")).because(e))?;
    let executed = runtime.block_on(run(Box::pin(asked_to_stop())));
    runtime.shutdown_background();
    executed
}

async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        // Where a signal can't be heard, nobody asks for a stop.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// By the names of windows, joins and queries, how many elements were late for one, or had no time.
pub(crate) fn late_elements(metrics: &Metrics) -> BTreeMap<String, u64> {
    let late = |windows: &Vec<Arc<WindowMetrics>>| {
        windows.iter().map(|of| count(&of.late_rows) + count(&of.no_event_time_rows)).sum()
    };
    metrics.windows.iter().map(|(name, windows)| (name.to_string(), late(windows))).collect()
}

/// Where keyed state is on a disk there may not be memory for all of it: what a run goes on from is put into files, and from
/// there part by part to where it was.
fn folder_to_take_up_from(settings: &Settings) -> Result<Option<SpillFolder>> {
    match &settings.data_dir {
        Some(data_dir) if !settings.state_backend.is_memory() => {
            SpillFolder::within(&emptied(data_dir.join(TAKEN_UP))?).map(Some)
        }
        _ => Ok(None),
    }
}

async fn durability(graph: &JobGraph, settings: &Settings) -> Result<Option<Durability>> {
    let Some(data_dir) = &settings.data_dir else {
        return match &settings.from_savepoint {
            Some(from) => Err(Error::invalid(format!("the job can't begin from '{from}' without a data directory"))
                .hint("give Settings a data_dir of the job's own, which is not there yet")),
            None => Ok(None),
        };
    };
    let place = Place::Folder(DataDir::checkpoints(data_dir));
    let mut durability = Durability::open(graph, place, RETENTION, CHECKPOINT_TIMEOUT, false).await?;
    if let Some(from) = &settings.from_savepoint {
        let savepoint = Savepoint::open(Place::parse(from, Path::new(""))?).await?;
        match durability.store.last().map(|last| last.origin() == Some(savepoint.id())) {
            None => drop(durability.begin_from(&savepoint, graph, settings.allow_non_restored_state).await?),
            // An earlier run has begun from it, and this one goes on.
            Some(true) => {}
            Some(false) => {
                return Err(Error::invalid(format!(
                    "the job can't begin from '{from}': it has checkpoints that did not"
                ))
                .hint("leave out from_savepoint to go on from those, or give a data_dir that is not there yet"));
            }
        }
    }
    Ok(Some(durability))
}
