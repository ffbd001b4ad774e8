//! The requests of a task's operators, which are under way while the task does other things.

use std::future::pending;
use std::time::{Duration, Instant};

use tidemill_core::{Error, Result};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};

use super::due;
use super::ending::Ending;
use crate::operator::Request;

/// How long a run that is to stop waits without hearing anything, where it has to wait for answers.
pub(super) const SILENCE: Duration = Duration::from_secs(5);

/// What a task hears that waits for answers.
pub(super) enum Heard {
    /// A request has ended.
    Answer,
    /// The run is stopped, and nobody goes on with it: there is nothing to wait for.
    GiveUp,
    /// The run is to stop, a later one goes on with it, and nothing has been heard for long.
    Silence,
}

/// Requests under way. They are dropped with it.
pub(super) struct UnderWay {
    requests: JoinSet<Result<()>>,
    ending: watch::Receiver<Ending>,
    /// While a stop waits for answers: since when none has come.
    silent_since: Option<Instant>,
}

impl UnderWay {
    pub(super) fn new(ending: watch::Receiver<Ending>) -> Self {
        Self { requests: JoinSet::new(), ending, silent_since: None }
    }

    pub(super) fn begin(&mut self, request: Request) {
        self.requests.spawn(request);
    }

    /// Whether what would take long is left.
    pub(super) fn stopped(&self) -> bool {
        *self.ending.borrow() >= Ending::Stopped
    }

    /// Looks at what has ended.
    ///
    /// # Errors
    /// That of a request; the same holds for all that follows.
    pub(super) fn look(&mut self) -> Result<()> {
        while let Some(ended) = self.requests.try_join_next() {
            self.silent_since = None;
            outcome(ended)?;
        }
        Ok(())
    }

    /// Waits until one has ended: for ever, if none is under way. Nothing is lost if nobody waits to the end.
    pub(super) async fn answered(&mut self) -> Result<()> {
        let Some(ended) = self.requests.join_next().await else { return pending().await };
        self.silent_since = None;
        outcome(ended)
    }

    /// The same, for a task that can do nothing else; `kept`: a later run goes on with what this one has done.
    pub(super) async fn hear(&mut self, kept: bool) -> Result<Heard> {
        loop {
            let ending = *self.ending.borrow_and_update();
            match ending {
                Ending::Failed => return Err(Error::closed("the run has failed")),
                Ending::Stopped if !kept => return Ok(Heard::GiveUp),
                Ending::No | Ending::Wanted | Ending::Stopped => {}
            }
            let hurried = kept && ending >= Ending::Wanted;
            self.silent_since = self.silent_since.or_else(|| Some(Instant::now())).filter(|_| hurried);
            let patience = self.silent_since.map(|since| since + SILENCE);
            tokio::select! {
                biased;
                Some(ended) = self.requests.join_next() => {
                    self.silent_since = None;
                    return outcome(ended).map(|()| Heard::Answer);
                }
                // The job outlives its tasks.
                changed = self.ending.changed() => changed.map_err(|_| Error::closed("the run is over"))?,
                () = due(patience) => return Ok(Heard::Silence),
            }
        }
    }

    /// Drops all that is under way.
    pub(super) fn give_up(&mut self) {
        self.requests = JoinSet::new();
    }
}

/// What a request has come to. One that panics says so itself, unless it is none of a program's.
fn outcome(ended: std::result::Result<Result<()>, JoinError>) -> Result<()> {
    ended.unwrap_or_else(|e| Err(Error::internal(format!("a request of an operator has failed: {e}"))))
}
