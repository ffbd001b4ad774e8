//! Savepoints that are asked for while a job runs: each is made of the first epoch that begins after it was asked for, once
//! its sinks have committed it. So it names nothing that is still to be committed, wherever the next job writes to.

use std::future::pending;

use tidemill_core::{Epoch, Result};
use tidemill_state::checkpoint::{Place, SavepointWriter, Written};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// Asks a run that keeps checkpoints for a savepoint.
#[derive(Debug)]
pub struct SavepointRequest {
    /// Where it is to be.
    pub to: Place,
    /// Hears of the cut that it is, and what it has cost. Is dropped where the run ends before that.
    pub made: oneshot::Sender<Result<(Epoch, Written)>>,
}

/// What is asked of one run.
pub(super) struct Savepoints {
    requests: Option<mpsc::Receiver<SavepointRequest>>,
    /// For the next epoch.
    waiting: Vec<SavepointRequest>,
    /// For the epoch that is under way.
    begun: Vec<SavepointRequest>,
    /// They are written while the job goes on.
    writing: JoinSet<()>,
}

impl Savepoints {
    pub(super) fn new(requests: Option<mpsc::Receiver<SavepointRequest>>) -> Self {
        Self { requests, waiting: vec![], begun: vec![], writing: JoinSet::new() }
    }

    /// Waits until one is asked for. What was heard is not lost if the wait is given up.
    pub(super) async fn asked(&mut self) {
        let request = match &mut self.requests {
            Some(requests) => requests.recv().await,
            None => pending().await,
        };
        match request {
            Some(request) => self.waiting.push(request),
            None => {
                self.requests = None;
                pending().await
            }
        }
    }

    /// An epoch begins.
    pub(super) fn begin(&mut self) {
        self.begun.append(&mut self.waiting);
    }

    /// The epoch that was under way is committed.
    pub(super) fn make(&mut self, checkpoint: impl Fn() -> Option<SavepointWriter>) {
        for SavepointRequest { to, made } in self.begun.drain(..) {
            let Some(writer) = checkpoint() else { return };
            self.writing.spawn(async move {
                let epoch = writer.epoch();
                // Whoever has asked may have gone.
                let _ = made.send(writer.write(&to).await.map(|written| (epoch, written)));
            });
        }
    }

    /// Waits for those that are being written.
    pub(super) async fn finish(mut self) {
        while self.writing.join_next().await.is_some() {}
    }
}
