//! Sinks are given what parts have made for them in the order of the parts, and show it at the end.

use std::collections::BTreeMap;

use tidemill_core::{Epoch, Error, EventBatch, Result, Watermark};

use super::shuffle::Block;
use crate::connector::Sink;
use crate::graph::{Head, JobGraph};

/// The one epoch of a batch.
const EPOCH: Epoch = Epoch(1);

/// The sinks of a run, by task.
pub(super) struct Sinks(BTreeMap<usize, Box<dyn Sink>>);

impl Sinks {
    pub(super) fn open(graph: &JobGraph) -> Result<Self> {
        let mut sinks = BTreeMap::new();
        for (number, task) in graph.tasks.iter().enumerate() {
            if let Head::Sink(factory) = &task.head {
                sinks.insert(number, factory.open()?);
            }
        }
        Ok(Self(sinks))
    }

    pub(super) async fn write(&mut self, task: usize, batch: &EventBatch) -> Result<()> {
        self.0.get_mut(&task).ok_or_else(|| Error::internal("a sink is not open"))?.write(batch).await
    }

    /// Shows what was written.
    pub(super) async fn commit(&mut self) -> Result<()> {
        for sink in self.0.values_mut() {
            sink.progress(Watermark::MAX).await?;
            sink.prepare(EPOCH).await?;
        }
        for sink in self.0.values_mut() {
            sink.commit(EPOCH).await?;
        }
        Ok(())
    }

    /// Takes back what was written, of each sink as far as it can.
    pub(super) async fn abort(&mut self) -> Result<()> {
        let mut aborted = Ok(());
        for sink in self.0.values_mut() {
            aborted = sink.abort().await.and(aborted);
        }
        aborted
    }
}

/// What the parts of a stage have made for sinks and these have not got yet.
#[derive(Default)]
pub(super) struct Turns {
    /// By part, with the edges that lead to the sinks.
    waiting: BTreeMap<usize, Vec<(usize, Block)>>,
    /// The first part that sinks have not got.
    turn: usize,
}

/// Whose turn it is.
pub(super) enum Turn {
    /// This was made for sinks, along these edges.
    Ready(Vec<(usize, EventBatch)>),
    /// What a part has made can't be read.
    Lost(usize, Error),
}

impl Turns {
    pub(super) fn put(&mut self, part: usize, for_sinks: Vec<(usize, Block)>) {
        self.waiting.insert(part, for_sinks);
    }

    /// What comes next, if all before it is done.
    pub(super) fn next(&mut self) -> Option<Turn> {
        let for_sinks = self.waiting.remove(&self.turn)?;
        // All of a part or nothing: a sink takes nothing back.
        let read = for_sinks.into_iter().map(|(edge, block)| Ok((edge, block.read()?))).collect::<Result<Vec<_>>>();
        Some(match read {
            Ok(batches) => {
                self.turn += 1;
                Turn::Ready(batches)
            }
            Err(error) => Turn::Lost(self.turn, error),
        })
    }

    /// The first part that sinks have not got.
    pub(super) fn turn(&self) -> usize {
        self.turn
    }
}
