//! What the engine asks of a system that it writes.

use async_trait::async_trait;
use tidemill_core::{Epoch, EventBatch, Result, Watermark};

/// Which row kinds a stream of changes has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangelogMode {
    /// `+I` only.
    Append,
    /// `+I`, `-U`, `+U`, `-D`.
    Retract,
}

/// What becomes of the rows that a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// `INSERT INTO`: they stay.
    Append,
    /// `INSERT OVERWRITE`: they go, at the commit; of a partitioned table those of the partitions that are written.
    /// Only a batch run asks for it: it commits once.
    Overwrite,
}

/// How often a row stands in a sink's target, whatever fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guarantee {
    /// Rows are shown as they are written: those of a run that fails stay, and come again with the next.
    AtLeastOnce,
    /// Rows become visible with their epoch, and those of a run that fails not at all.
    ExactlyOnce,
}

/// Makes the sink of one run.
///
/// # Contract
/// - `changelog` is the most that the sink takes; a statement that gives more is refused at plan
///   time.
pub trait SinkFactory: Send + Sync {
    /// The most that the sink takes.
    fn changelog(&self) -> ChangelogMode;

    /// What holds for its rows where something fails; the weaker unless the sink keeps rows back until they are
    /// committed.
    fn guarantee(&self) -> Guarantee {
        Guarantee::AtLeastOnce
    }

    /// Makes the sink; called once a run.
    fn open(&self) -> Result<Box<dyn Sink>>;
}

/// What a sink needs to know to commit what another process has prepared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commitment(pub Vec<u8>);

/// Where rows leave the engine.
///
/// ```text
/// recover? ─► write* ─► prepare(1) ─► commit(1) ─► write* ─► prepare(2) ─► ... ─► prepare(n) ─► commit(n) │ abort
/// ```
///
/// Where a job has checkpoints, the commitment of an epoch is part of its checkpoint, which is on the disk before `commit`
/// is called. A process that is killed in between, or half-way through the commit, is followed by one that calls `recover`.
///
/// # Contract
/// - Rows become visible at `commit` of the epoch that they were written in, whole, and not before.
///   A sink that can't wait (a terminal) shows them at `write`, and its documentation says so.
/// - Committing an epoch twice equals committing it once.
/// - `progress` comes between the rows that it speaks of and those that follow, and never goes back.
/// - After `abort` nothing that was not committed is left behind. It is called at most once, last.
/// - After `recover` all that was committed or prepared by the time of the commitment is visible, once, and nothing that
///   was written after it is left. A killed process may have committed that epoch, in part or whole, but no later one.
/// - A job with checkpoints asks for the commitment before anything is written, too, so that a later run can find what
///   this one has left before its first checkpoint.
#[async_trait]
pub trait Sink: Send {
    /// Takes rows, in the order of the stream.
    async fn write(&mut self, batch: &EventBatch) -> Result<()>;

    /// Hears how far the statement has come: the results of every window that is complete at `watermark` have been
    /// written. A batch run says so once, with [`Watermark::MAX`], and a live run at its end.
    async fn progress(&mut self, _watermark: Watermark) -> Result<()> {
        Ok(())
    }

    /// Makes all that was written so far durable, but not visible.
    async fn prepare(&mut self, epoch: Epoch) -> Result<()>;

    /// What another process needs to know to commit all that is prepared and not committed: whatever the sink likes,
    /// and nothing if it shows rows as they are written.
    fn commitment(&self) -> Commitment {
        Commitment::default()
    }

    /// Makes visible what was prepared up to and including `epoch`: an epoch that some other task
    /// did not complete is committed with the next.
    async fn commit(&mut self, epoch: Epoch) -> Result<()>;

    /// An earlier run of the job had got as far as to prepare what the commitment says, and has stopped: commits that,
    /// if it has not been, and takes back what was written after it. Comes at most once, before anything else.
    async fn recover(&mut self, _commitment: &Commitment) -> Result<()> {
        Ok(())
    }

    /// Another job had got as far as to prepare what the commitment says when the savepoint was made that this one begins
    /// from: commits that, if it has not been, and goes on under names of its own. What that job has written since it has
    /// written for good: it may still run. Comes at most once, before anything else, instead of `recover`.
    async fn adopt(&mut self, _commitment: &Commitment) -> Result<()> {
        Ok(())
    }

    /// The run has failed: takes back what was not committed.
    async fn abort(&mut self) -> Result<()>;
}
