//! Runs a graph over input that ends, stage by stage, as MapReduce does.
//!
//! ```text
//! source ─ split 0 ─► operators ─┐                ┌─► bucket 0 ─► operators ─┐
//!        ─ split 1 ─► operators ─┼─► shuffle ─────┼─► bucket 1 ─► operators ─┼─► sink, in the order of the parts
//!        ─ split 2 ─► operators ─┘ (memory, disk) └─► bucket 2 ─► operators ─┘
//!          map                                        reduce
//! ```
//!
//! A task of the graph is a stage, and a stage runs in parts: a source in splits, what stands behind an exchange in buckets
//! of key groups. What a part sends counts when the part is done. One that fails is run again from its input; what a stage
//! can't read of another's is made again by the part that had made it. Sinks are given what parts that are done have made,
//! and commit at the end: the output is whole or absent.
//!
//! A stage behind an exchange is given elements in the order of their times, with a clock that stands just before each: so
//! nothing is late, and timers come where they would if everything had arrived in order.

mod attempt;
mod driver;
mod retries;
mod shuffle;
mod sinks;
mod split;
mod stragglers;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tidemill_core::{Error, Result};

use crate::clock::Clock;
use crate::graph::JobGraph;
use crate::metrics::Metrics;
use driver::Driver;
use shuffle::{Left, PartId};
pub use stragglers::Straggler;

/// How to run a graph as a batch.
#[derive(Debug)]
pub struct BatchOptions {
    /// How many parts run at the same time.
    pub parallelism: usize,
    /// How many rows an operator is given at once.
    pub batch_rows: usize,
    /// How often a part is tried until the run fails.
    pub attempts: usize,
    /// How many bytes of what stages leave for others, and of rows that wait for their turn at a sink, stay in memory.
    pub shuffle_memory: u64,
    /// Where the rest goes, in a folder that is gone when the run ends.
    pub shuffle_folder: PathBuf,
    /// Who hears of parts that take much longer than others.
    pub on_straggler: Option<StragglerListener>,
    /// What the present time is.
    pub clock: Arc<dyn Clock>,
}

/// Hears of parts that take much longer than others.
#[derive(Clone)]
pub struct StragglerListener(pub Arc<dyn Fn(&Straggler) + Send + Sync>);

impl fmt::Debug for StragglerListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StragglerListener")
    }
}

/// A part that was run again.
#[derive(Debug, Clone)]
pub struct ReExecution {
    /// What its stage does.
    pub task: Arc<str>,
    /// The part, from 0.
    pub part: usize,
    /// Why.
    pub error: Error,
}

/// How a batch ended.
#[derive(Debug)]
pub struct BatchOutcome {
    /// It was stopped before its end: nothing was committed.
    pub stopped: bool,
    /// Each time that a part was run again, in order.
    pub re_executed: Vec<ReExecution>,
    /// What took much longer than the others of its stage.
    pub stragglers: Vec<Straggler>,
    /// How many bytes of what stages left for others went to disk.
    pub spilled_bytes: u64,
    /// What was counted.
    pub metrics: Metrics,
}

/// Why an attempt has come to nothing.
#[derive(Debug)]
enum Failure {
    /// What another part has left, which is this, can't be read.
    Lost(PartId, Arc<Left>, Error),
    Failed(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Runs until everything is written, `stop` completes, or a part has failed too often.
///
/// # Errors
/// `Invalid` if the input has no end, and what operators, sources and sinks say. Sinks have written nothing then.
pub async fn run(graph: JobGraph, options: BatchOptions, stop: impl Future<Output = ()>) -> Result<BatchOutcome> {
    if let Some(table) = graph.unbounded_source() {
        return Err(Error::invalid(format!("the input of {table} has no end, so a batch never comes to one"))
            .hint("run the program live, or limit the input (number-of-rows and the like)"));
    }
    let mut driver = Driver::open(graph, options)?;
    let outcome = driver.run(stop).await;
    driver.close(outcome).await
}
