//! The loop of a sink: writes rows, prepares at barriers, and commits when the job says so.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, AsArray, BinaryArray, RecordBatch};
use tidemill_core::{Epoch, Error, ErrorKind, Result, Watermark};
use tidemill_state::{State, StateChanges};
use tokio::sync::mpsc;

use super::Reporter;
use crate::connector::{Commitment, Sink};
use crate::exchange::{Gate, Received};

/// The section of a sink's commitment.
const COMMITMENT: &str = "commitment";

/// What the job tells a sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// No barrier comes any more: prepare what was written.
    Prepare(Epoch),
    /// The checkpoint of this epoch is there.
    Commit(Epoch),
    /// The run ended well, and all is committed: stop.
    Close,
    /// The run was stopped: take back what was not committed, and stop.
    Discard,
    /// The run failed: take back what was not committed, and stop.
    Abort,
    /// The run failed, and another will go on from its last checkpoint: stop, and leave all as it is.
    Leave,
}

pub(crate) async fn run(
    mut sink: Box<dyn Sink>,
    mut gate: Gate,
    mut commands: mpsc::UnboundedReceiver<Command>,
    reporter: Reporter,
    durable: bool,
) -> Result<()> {
    let outcome = write(sink.as_mut(), &mut gate, &mut commands, &reporter).await;
    match outcome {
        Ok(Last::Close) => Ok(()),
        Ok(Last::Discard) => sink.abort().await,
        Ok(Last::Leave) => Err(run_failed()),
        // What is prepared may be named by a checkpoint: only a later run can tell.
        Err(error) if durable => Err(error),
        Err(error) => match sink.abort().await {
            Ok(()) => Err(error),
            Err(abort) => Err(error.hint(format!("also, what was staged could not be taken back: {abort}"))),
        },
    }
}

/// How a sink stops.
enum Last {
    Close,
    Discard,
    Leave,
}

async fn write(
    sink: &mut dyn Sink,
    gate: &mut Gate,
    commands: &mut mpsc::UnboundedReceiver<Command>,
    reporter: &Reporter,
) -> Result<Last> {
    let mut reading = true;
    let mut progress = Watermark::MIN;
    loop {
        // Commands first: the next epoch waits for a commit, and rows would keep it waiting for ever.
        tokio::select! {
            biased;
            command = commands.recv() => match command {
                Some(Command::Prepare(epoch)) => {
                    let begun = Instant::now();
                    sink.prepare(epoch).await?;
                    reporter.passed(epoch, commitment(sink)?, begun);
                }
                Some(Command::Commit(epoch)) => {
                    sink.commit(epoch).await?;
                    reporter.committed(epoch, commitment(sink)?);
                }
                Some(Command::Close) => return Ok(Last::Close),
                Some(Command::Discard) => return Ok(Last::Discard),
                Some(Command::Leave) => return Ok(Last::Leave),
                Some(Command::Abort) | None => return Err(run_failed()),
            },
            received = gate.receive(), if reading => match received {
                Ok(Received::Data { batch, .. }) => sink.write(&batch).await?,
                Ok(Received::Watermark { .. }) => {
                    // The edge that has moved may not be the one that is furthest behind.
                    if gate.watermark() > progress {
                        progress = gate.watermark();
                        sink.progress(progress).await?;
                    }
                }
                Ok(Received::Barrier(epoch)) => {
                    let begun = Instant::now();
                    sink.prepare(epoch).await?;
                    reporter.passed(epoch, commitment(sink)?, begun);
                }
                Ok(Received::End) => {
                    reading = false;
                    reporter.ended(vec![]);
                }
                // A task before this one has failed, and the job is about to say so.
                Err(error) if error.kind() == ErrorKind::Closed => reading = false,
                Err(error) => return Err(error),
            },
        }
    }
}

fn run_failed() -> Error {
    Error::closed("the run has failed")
}

/// What a sink has to say in a checkpoint.
pub(crate) fn commitment(sink: &dyn Sink) -> Result<Vec<StateChanges>> {
    let Commitment(bytes) = sink.commitment();
    let column: ArrayRef = Arc::new(BinaryArray::from_vec(vec![&bytes]));
    let mut changes = StateChanges::default();
    changes.replace(COMMITMENT, vec![RecordBatch::try_from_iter([(COMMITMENT, column)])?]);
    Ok(vec![changes])
}

/// Lets a sink finish what an earlier run has left.
pub(crate) async fn recover(sink: &mut dyn Sink, state: State) -> Result<()> {
    for commitment in commitments(state)? {
        sink.recover(&commitment).await?;
    }
    Ok(())
}

/// Lets a sink commit what the job of a savepoint had prepared.
pub(crate) async fn adopt(sink: &mut dyn Sink, state: State) -> Result<()> {
    for commitment in commitments(state)? {
        sink.adopt(&commitment).await?;
    }
    Ok(())
}

/// Whether that is the state of a sink that had nothing to say.
pub(crate) fn says_nothing(state: &State) -> bool {
    commitments(state.clone()).is_ok_and(|commitments| commitments.iter().all(|Commitment(bytes)| bytes.is_empty()))
}

fn commitments(mut state: State) -> Result<Vec<Commitment>> {
    let mut commitments = vec![];
    for batch in state.take(COMMITMENT)? {
        let bytes = batch.columns().first().and_then(|column| column.as_binary_opt::<i32>());
        let bytes = bytes.ok_or_else(|| Error::data("the commitment of a sink is no bytes"))?;
        commitments.extend(bytes.iter().flatten().map(|bytes| Commitment(bytes.to_vec())));
    }
    state.finish()?;
    Ok(commitments)
}

#[cfg(test)]
mod tests;
