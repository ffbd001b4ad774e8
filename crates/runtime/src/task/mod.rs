//! The loops that drive operators: one for sources, one for what stands behind an exchange, one for sinks.

pub(crate) mod chain;
pub(crate) mod ending;
pub(crate) mod process;
pub(crate) mod sink;
pub(crate) mod source;
mod under_way;

use std::time::{Duration, Instant};

use tidemill_core::Epoch;
use tidemill_state::StateChanges;
use tokio::sync::mpsc;
use tokio::time::sleep_until;

/// What `next` gives, unless a timer is due before: then `None`, and `next` must not have lost anything.
pub(crate) async fn before<T>(timer: Option<Instant>, next: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        next = next => Some(next),
        () = due(timer) => None,
    }
}

/// Waits until a timer is due: for ever, if there is none.
async fn due(timer: Option<Instant>) {
    match timer {
        Some(due) => sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

/// What a subtask tells the job; with it, what has changed in the state of each of its operators, or of its sink.
#[derive(Debug)]
pub(crate) enum Progress {
    /// The subtask has passed the barrier with all that came before it.
    /// Meanwhile it took no row for so long.
    Passed { subtask: usize, epoch: Epoch, changes: Vec<StateChanges>, pause: Duration },
    /// The subtask has passed on, or written, all that there will be.
    Ended { subtask: usize, changes: Vec<StateChanges> },
    /// The sink has committed.
    Committed { subtask: usize, epoch: Epoch, changes: Vec<StateChanges> },
}

/// A subtask's line to the job. The job outlives its subtasks, so a lost line is not an error:
/// the job has failed already.
#[derive(Debug, Clone)]
pub(crate) struct Reporter {
    pub(crate) subtask: usize,
    pub(crate) line: mpsc::UnboundedSender<Progress>,
}

impl Reporter {
    /// `begun`: when it began with that and took no more rows.
    pub(crate) fn passed(&self, epoch: Epoch, changes: Vec<StateChanges>, begun: Instant) {
        let pause = begun.elapsed();
        let _ = self.line.send(Progress::Passed { subtask: self.subtask, epoch, changes, pause });
    }

    pub(crate) fn ended(&self, changes: Vec<StateChanges>) {
        let _ = self.line.send(Progress::Ended { subtask: self.subtask, changes });
    }

    pub(crate) fn committed(&self, epoch: Epoch, changes: Vec<StateChanges>) {
        let _ = self.line.send(Progress::Committed { subtask: self.subtask, epoch, changes });
    }
}
