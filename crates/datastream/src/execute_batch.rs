//! Runs a program over input that ends, as MapReduce does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use tidemill_core::{Error, Result};
use tidemill_runtime::batch::{self, BatchOptions, ReExecution, Straggler};
use tidemill_runtime::clock::SystemClock;
use tidemill_state::DataDir;

use crate::environment::Environment;
use crate::execute::{block_on, late_elements};

/// How a batch ended.
#[derive(Debug, Clone)]
pub struct ExecutedBatch {
    /// It was stopped before its end: sinks show nothing, and `for_each` may have been called for some elements.
    pub stopped: bool,
    /// Each time that a part of a step was run again, with what had failed.
    pub re_executed: Vec<ReExecution>,
    /// The parts that took much longer than the others of their step.
    pub stragglers: Vec<Straggler>,
    /// How many bytes between two steps went to disk.
    pub spilled_bytes: u64,
    /// By the names of windows, joins and queries, how many elements had no time, each counted once, however often its part
    /// was run. Nothing is late in a batch.
    pub late_elements: BTreeMap<String, u64>,
}

/// Where files between two steps are, in the data directory.
const SHUFFLE: &str = "shuffle";

/// A run that was killed may have left files there.
pub(crate) fn emptied(folder: PathBuf) -> Result<PathBuf> {
    let unavailable = |e: io::Error| {
        Error::unavailable(format!("what an earlier run has left in '{}' can't be deleted: {e}", folder.display()))
            .because(e)
    };
    let found = match fs::read_dir(&folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(folder),
        found => found.map_err(unavailable)?,
    };
    for entry in found {
        let entry = entry.map_err(unavailable)?;
        if entry.file_name().to_string_lossy().starts_with("spill-") {
            fs::remove_dir_all(entry.path()).map_err(unavailable)?;
        }
    }
    Ok(folder)
}

impl Environment {
    /// Runs the program over all of its input, which must end: map, shuffle, reduce.
    ///
    /// The steps up to a `key_by` are taken split by split of the input, and what is behind it bucket by bucket of the keys,
    /// so many at once as [`Settings::parallelism`] says. Between them elements are kept as serde writes them, in memory up to
    /// [`Settings::shuffle_memory`] and then on disk. A split or bucket that fails, by an error or a panic, is run again, up to
    /// [`Settings::attempts`] times; what can't be read any more of an earlier step is made again, and nothing else. Sinks
    /// show all at the end, or nothing; only `for_each` is called as parts end. A step does the same with the same elements:
    /// what is made again must be what it was.
    ///
    /// Elements of a key come in the order of their event time, whatever the order in which they are stored, and those of a
    /// time in the order of the input. Timers of event time come in between where they are due, windows tell their result
    /// once, and nothing is late: where nothing is late in a live run either, and a function does the same with elements in
    /// another order, both give the same. Without event time elements come in the order of the input.
    ///
    /// [`Settings::parallelism`]: crate::Settings::parallelism
    /// [`Settings::shuffle_memory`]: crate::Settings::shuffle_memory
    /// [`Settings::attempts`]: crate::Settings::attempts
    ///
    /// ```
    /// use tidemill_datastream::{Environment, WindowAssigner};
    ///
    /// # fn main() -> tidemill_datastream::Result<()> {
    /// let env = Environment::new();
    /// let counts = env
    ///     .from_iter(["to be or", "not to be"])
    ///     .flat_map(|line| line.split(' ').map(|word| (word.to_owned(), 1)).collect::<Vec<_>>())
    ///     .key_by(|(word, _)| word.clone())
    ///     .window(WindowAssigner::global())
    ///     .reduce("counts", |a, b| (a.0, a.1 + b.1))
    ///     .map(|of| of.value)
    ///     .collect();
    /// env.execute_batch()?;
    /// let mut counts = counts.take();
    /// counts.sort();
    /// assert_eq!(counts, [("be", 2), ("not", 1), ("or", 1), ("to", 2)].map(|(word, count)| (word.to_owned(), count)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` if the program can't be run as a batch, and what its steps, its sources and its sinks say.
    pub fn execute_batch(&self) -> Result<ExecutedBatch> {
        block_on("execute_batch", "run_batch", |stop| self.run_batch(stop))
    }

    /// The same within a tokio runtime, until `stop` completes.
    ///
    /// # Errors
    /// As [`Environment::execute_batch`].
    pub async fn run_batch(&self, stop: impl Future<Output = ()>) -> Result<ExecutedBatch> {
        let graph = self.take_plan()?;
        let settings = self.settings();
        if let Some(from) = &settings.from_savepoint {
            return Err(Error::invalid(format!(
                "a batch can't begin from the savepoint '{from}': it reads all of its input"
            ))
            .hint("leave out from_savepoint, or run the program live"));
        }
        let owned = settings.data_dir.as_deref().map(DataDir::lock).transpose()?;
        let shuffle_folder = match &settings.data_dir {
            Some(data_dir) => emptied(data_dir.join(SHUFFLE))?,
            None => std::env::temp_dir(),
        };
        let options = BatchOptions {
            parallelism: settings.parallelism,
            batch_rows: settings.batch_size,
            attempts: settings.attempts,
            shuffle_memory: settings.shuffle_memory,
            shuffle_folder,
            on_straggler: settings.on_straggler.clone(),
            clock: Arc::new(SystemClock),
        };
        let outcome = batch::run(graph, options, stop).await?;
        drop(owned);
        Ok(ExecutedBatch {
            stopped: outcome.stopped,
            re_executed: outcome.re_executed,
            stragglers: outcome.stragglers,
            spilled_bytes: outcome.spilled_bytes,
            late_elements: late_elements(&outcome.metrics),
        })
    }
}
