//! The loop of a sink: writes rows, prepares at barriers, and commits when the job says so.

use tidemill_core::{Epoch, Error, ErrorKind, Result, Watermark};
use tokio::sync::mpsc;

use super::Reporter;
use crate::connector::Sink;
use crate::exchange::{Gate, Received};

/// What the job tells a sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// Every task has passed this epoch.
    Commit(Epoch),
    /// The run ended well: commit all that was prepared, and stop.
    Finish(Epoch),
    /// The run failed: take back what was not committed, and stop.
    Abort,
}

pub(crate) async fn run(
    mut sink: Box<dyn Sink>,
    mut gate: Gate,
    mut commands: mpsc::UnboundedReceiver<Command>,
    reporter: Reporter,
) -> Result<()> {
    let outcome = write(sink.as_mut(), &mut gate, &mut commands, &reporter).await;
    match outcome {
        Ok(()) => Ok(()),
        Err(error) => match sink.abort().await {
            Ok(()) => Err(error),
            Err(abort) => Err(error.hint(format!("also, what was staged could not be taken back: {abort}"))),
        },
    }
}

async fn write(
    sink: &mut dyn Sink,
    gate: &mut Gate,
    commands: &mut mpsc::UnboundedReceiver<Command>,
    reporter: &Reporter,
) -> Result<()> {
    let mut reading = true;
    let mut progress = Watermark::MIN;
    loop {
        // Rows first: a commit that waits for a batch loses nothing.
        tokio::select! {
            biased;
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
                    sink.prepare(epoch).await?;
                    reporter.passed(epoch);
                }
                Ok(Received::End) => {
                    reading = false;
                    reporter.ended();
                }
                // A task before this one has failed, and the job is about to say so.
                Err(error) if error.kind() == ErrorKind::Closed => reading = false,
                Err(error) => return Err(error),
            },
            command = commands.recv() => match command {
                Some(Command::Commit(epoch)) => sink.commit(epoch).await?,
                Some(Command::Finish(epoch)) => {
                    sink.prepare(epoch).await?;
                    return sink.commit(epoch).await;
                }
                Some(Command::Abort) | None => return Err(Error::closed("the run has failed")),
            },
        }
    }
}

#[cfg(test)]
mod tests;
