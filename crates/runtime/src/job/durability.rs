//! Keeps a run's checkpoints: gathers what changes, and writes it while rows are processed on.

use std::collections::BTreeMap;
use std::future::pending;
use std::time::Duration;

use tidemill_core::{Epoch, Error, Result};
use tidemill_state::checkpoint::{
    CheckpointStore, Owner, Place, Pulse, Retention, Savepoint, SavepointWriter, Snapshot,
};
use tidemill_state::{State, StateChanges};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

use super::owner::{is_sink, sink_owner};
use super::running::Sinks;
use crate::graph::JobGraph;
use crate::savepoint::{Carried, carry};
use crate::task::sink::commitment;

/// How long the place of the checkpoints may be silent when the run is to stop.
const SILENCE: Duration = Duration::from_secs(5);

/// How a run survives its process.
#[derive(Debug)]
pub struct Durability {
    /// Where checkpoints are kept; it has been asked for the last.
    pub store: CheckpointStore,
    /// What the last has, if there is one, or else the savepoint that the run begins from.
    pub restored: Option<BTreeMap<Owner, State>>,
    /// The cut of that savepoint.
    savepoint: Option<Epoch>,
    /// How long a checkpoint may take to be written; then the run fails.
    pub timeout: Duration,
}

impl Durability {
    /// Finds what a run of the graph goes on from, among the checkpoints in `place`, of which `retention` are kept.
    ///
    /// # Errors
    /// `Invalid` if a source of the graph can't be read on, or if the checkpoints are of another job; `Data` if the last is
    /// damaged and `allow_older` does not let an older one take its place.
    pub async fn open(
        graph: &JobGraph,
        place: Place,
        retention: Retention,
        timeout: Duration,
        allow_older: bool,
    ) -> Result<Self> {
        if let Some(table) = graph.cannot_resume() {
            return Err(Error::invalid(format!(
                "a run can't go on reading the table '{table}' where another has stopped"
            ))
            .hint("store its input in files, or run without --data-dir"));
        }
        let mut store = CheckpointStore::new(place, retention, graph.identity()?);
        if let Some(folder) = graph.folder_to_take_up_from() {
            // What there is not memory for would not fit there for a moment either.
            store = store.spilling(folder.clone());
        }
        let place = store.place().to_string();
        let restored =
            in_time(timeout, format!("the checkpoints in '{place}' were not read"), store.resume(allow_older)).await?;
        Ok(Self { store, restored, savepoint: None, timeout })
    }

    /// Begins from a savepoint, as there is no checkpoint yet: gives what it has to the operators of the graph. With
    /// `allow_non_restored`, what they can't take up is left out; its operators are named.
    ///
    /// # Errors
    /// `Invalid`, with the names of the operators, if some of it can't be taken up; `Data` if it is damaged; `Unavailable`
    /// if it can't be read.
    pub async fn begin_from(
        &mut self,
        savepoint: &Savepoint,
        graph: &JobGraph,
        allow_non_restored: bool,
    ) -> Result<Vec<String>> {
        let state = savepoint.read(graph.folder_to_take_up_from()).await?;
        let Carried { state, left } = carry(savepoint, state, graph, allow_non_restored)?;
        self.store.begin_from(savepoint.id());
        self.savepoint = Some(savepoint.epoch());
        self.restored = Some(state);
        Ok(left)
    }
}

/// What becomes part of a checkpoint, by owner, in order.
type Changes = Vec<(Owner, StateChanges)>;

/// The checkpoints of one run, or of a run without any.
pub(super) struct Checkpoints {
    store: Store,
    /// As the user knows it.
    place: String,
    timeout: Duration,
    epoch: Epoch,
    finished: bool,
    /// The run is to stop: nobody waits any more for a place that says nothing.
    hurried: bool,
    /// What a run that begins from a savepoint has from it, until its first checkpoint is there.
    begun_with: Option<Changes>,
    /// Of the epoch that is under way, or the next.
    changes: Changes,
    /// The longest that a task took no row at the barrier of that epoch.
    longest_pause: Duration,
    /// Of the epoch after that.
    later: Changes,
}

enum Store {
    /// Nothing is kept; what is to be stored counts as stored.
    None(Option<Epoch>),
    Resting(Box<CheckpointStore>),
    Writing(Pulse, JoinHandle<(Box<CheckpointStore>, Result<()>)>),
    Failed,
}

impl Checkpoints {
    /// With what the run before has left.
    pub(super) fn open(durability: Option<Durability>) -> (Self, BTreeMap<Owner, State>) {
        let mut checkpoints = Self {
            store: Store::None(None),
            place: String::new(),
            timeout: Duration::MAX,
            epoch: Epoch::default(),
            finished: false,
            hurried: false,
            begun_with: None,
            changes: vec![],
            longest_pause: Duration::ZERO,
            later: vec![],
        };
        let Some(Durability { store, restored, savepoint, timeout }) = durability else {
            return (checkpoints, BTreeMap::new());
        };
        let restored = restored.unwrap_or_default();
        checkpoints.timeout = timeout;
        checkpoints.place = store.place().to_string();
        if let Some(last) = store.last() {
            checkpoints.epoch = last.epoch();
            checkpoints.finished = last.finished();
        }
        if let Some(epoch) = savepoint {
            checkpoints.epoch = epoch;
            // What sinks have to say is another thing once they have adopted what was prepared.
            let others = restored.iter().filter(|(owner, _)| !is_sink(owner));
            checkpoints.begun_with = Some(others.map(|(owner, state)| (owner.clone(), state.changes())).collect());
        }
        checkpoints.store = Store::Resting(Box::new(store));
        (checkpoints, restored)
    }

    pub(super) fn is_durable(&self) -> bool {
        !matches!(self.store, Store::None(_))
    }

    /// The last epoch of the run that this one continues.
    pub(super) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Whether that run had come to its end.
    pub(super) fn finished(&self) -> bool {
        self.finished
    }

    /// Whether the run begins from the savepoint of another.
    pub(super) fn begin_from_savepoint(&self) -> bool {
        self.begun_with.is_some()
    }

    /// What makes a savepoint of the last checkpoint, which is committed, and of what sinks have said since.
    pub(super) fn savepoint(&self) -> Option<SavepointWriter> {
        let Store::Resting(store) = &self.store else { return None };
        let committed = self.changes.iter().filter(|(owner, _)| is_sink(owner));
        Some(store.savepoint()?.with(committed.cloned()))
    }

    /// Before anything is written: a job without a checkpoint gets its first, which says where its sinks will write, so
    /// that what they leave is found, and what a savepoint has given it.
    pub(super) async fn begin(&mut self, sinks: &Sinks) -> Result<()> {
        let Store::Resting(store) = &mut self.store else { return Ok(()) };
        if store.last().is_some() {
            return Ok(());
        }
        let mut changes = self.begun_with.take().unwrap_or_default();
        for (task, sink) in sinks {
            changes.extend(commitment(sink.as_ref())?.into_iter().map(|changes| (sink_owner(*task), changes)));
        }
        let snapshot = Snapshot { epoch: self.epoch, finished: false, changes, longest_pause: Duration::ZERO };
        write(store, snapshot, self.timeout).await
    }

    /// Adds what has changed in the states of some owners. `later`: after the barrier of the epoch that is under way.
    pub(super) fn add(&mut self, owners: &[Owner], changes: Vec<StateChanges>, later: bool) {
        let kept = if later { &mut self.later } else { &mut self.changes };
        kept.extend(owners.iter().cloned().zip(changes).filter(|(_, changes)| !changes.is_empty()));
    }

    /// At the barrier of the epoch that is under way a task took no row for so long.
    pub(super) fn paused(&mut self, pause: Duration) {
        self.longest_pause = self.longest_pause.max(pause);
    }

    /// Begins to write a checkpoint. `closing`: all that has changed since the last one is what sinks have committed.
    pub(super) fn store(&mut self, epoch: Epoch, finished: bool, closing: bool) {
        let mut changes = std::mem::replace(&mut self.changes, std::mem::take(&mut self.later));
        if closing {
            changes.retain(|(owner, _)| is_sink(owner));
        }
        let longest_pause = std::mem::take(&mut self.longest_pause);
        let snapshot = Snapshot { epoch, finished, changes, longest_pause };
        let limit = self.timeout;
        self.store = match std::mem::replace(&mut self.store, Store::Failed) {
            Store::None(_) => Store::None(Some(epoch)),
            Store::Resting(mut store) => {
                self.epoch = epoch;
                let pulse = store.pulse();
                let writing = async move {
                    let written = write(&mut store, snapshot, limit).await;
                    (store, written)
                };
                Store::Writing(pulse, tokio::spawn(writing))
            }
            other => other,
        };
    }

    /// The run is to stop: a checkpoint that is being written is given up where its place does not answer.
    pub(super) fn hurry(&mut self) {
        self.hurried = true;
    }

    /// Waits until the checkpoint that is being written is there.
    pub(super) async fn stored(&mut self) -> Result<Epoch> {
        let done = match &mut self.store {
            Store::None(epoch) => match epoch.take() {
                Some(epoch) => return Ok(epoch),
                None => return pending().await,
            },
            Store::Writing(pulse, writing) if self.hurried => match while_it_answers(pulse, writing).await {
                Some(done) => done,
                None => {
                    writing.abort();
                    self.store = Store::Failed;
                    return Err(silent(&self.place));
                }
            },
            Store::Writing(_, writing) => writing.await,
            Store::Resting(_) | Store::Failed => return pending().await,
        };
        self.store = Store::Failed;
        let (store, written) =
            done.map_err(|e| Error::internal(format!("the task that writes checkpoints has failed: {e}")))?;
        written.map_err(|e| match e.hint_text() {
            Some(_) => e,
            None => e.hint("the job can be run again: it goes on from its last checkpoint"),
        })?;
        self.store = Store::Resting(store);
        Ok(self.epoch)
    }
}

/// Writes a checkpoint, and deletes what is too old.
async fn write(store: &mut CheckpointStore, snapshot: Snapshot, limit: Duration) -> Result<()> {
    let place = store.place().to_string();
    in_time(limit, format!("a checkpoint was not written to '{place}'"), store.write(snapshot)).await?;
    let not_deleted = format!("an old checkpoint was not deleted from '{place}'");
    in_time(limit, not_deleted, store.drop_oldest()).await
}

/// What the task gives; `None` once the place has done nothing for long.
async fn while_it_answers<T>(pulse: &Pulse, task: &mut JoinHandle<T>) -> Option<std::result::Result<T, JoinError>> {
    loop {
        let before = pulse.beats();
        match timeout(SILENCE, &mut *task).await {
            Ok(done) => return Some(done),
            Err(_) if pulse.beats() == before => return None,
            Err(_) => {}
        }
    }
}

fn silent(place: &str) -> Error {
    let seconds = SILENCE.as_secs();
    Error::unavailable(format!(
        "the run is stopped without its last checkpoint: '{place}' has not answered for {seconds} s"
    ))
    .hint("nothing is lost: run it again once that answers, and it goes on from the checkpoint before")
}

/// Gives up what takes longer than `limit`, which `failed` says.
async fn in_time<T>(limit: Duration, failed: String, work: impl Future<Output = Result<T>>) -> Result<T> {
    match timeout(limit, work).await {
        Ok(done) => done,
        Err(_) => Err(Error::unavailable(format!("{failed} within {} s", limit.as_secs_f64()))
            .hint("see to it that the place of the checkpoints answers, or raise 'execution.checkpointing.timeout'")),
    }
}
