//! Decides when an epoch begins, is complete, is stored and is committed: a pure function of what is reported.
//!
//! ```text
//!            tick                all passed           stored             all committed
//! resting ──────────► aligning ─────────────► storing ───────► committing ─────────────► resting
//!                       │  a sink that has ended passes by command, another task by having ended
//! ```
//!
//! One epoch is under way at a time, from the barrier to the last sink's commit: a checkpoint names what the sinks have
//! yet to commit, so the next may not take its place before that is done.

use tidemill_core::Epoch;

/// What is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// It is time for an epoch, if none is under way.
    Tick,
    /// An epoch is asked for that begins now, or behind the one that is under way.
    Asked,
    /// The run is to stop before its input ends.
    Stop,
    /// The subtask has passed the barrier; of a sink, it has prepared the epoch.
    Passed(usize, Epoch),
    /// The subtask has passed on, or written, all that there will be.
    Ended(usize),
    /// The checkpoint is there.
    Stored(Epoch),
    /// The sink has committed.
    Committed(usize, Epoch),
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Sources let a barrier go.
    Begin(Epoch),
    /// Sources let a barrier go, and nothing after it.
    BeginLast(Epoch),
    /// Sources give nothing more.
    StopSources,
    /// A sink that no barrier reaches any more prepares.
    Prepare(usize, Epoch),
    /// The snapshot is stored; `closing`: of what sinks have committed, nothing else has changed.
    Store { epoch: Epoch, finished: bool, closing: bool },
    /// All sinks commit.
    Commit(Epoch),
    /// All sinks have: what was asked of the epoch is answered.
    Complete(Epoch),
    /// All is done; sinks take back what they have not committed, and stop.
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Resting,
    Aligning,
    Storing,
    Committing,
    Closing,
}

#[derive(Debug, Clone, Copy)]
struct Subtask {
    is_sink: bool,
    passed: bool,
    ended: bool,
    committed: bool,
}

impl Subtask {
    /// What a task that is no sink does when it ends is part of the epoch that is under way, or of the next.
    fn has_passed(self) -> bool {
        self.passed || (self.ended && !self.is_sink)
    }
}

/// How a stop that was asked for stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    No,
    Wanted,
    /// What follows the epoch that is under way, or was last, is not kept.
    Begun,
}

/// The epochs of one run.
#[derive(Debug)]
pub(super) struct Epochs {
    epoch: Epoch,
    phase: Phase,
    subtasks: Vec<Subtask>,
    /// Whether checkpoints are kept: then a run that is stopped goes on later, behind its last epoch.
    durable: bool,
    stop: Stop,
    /// An epoch is asked for.
    asked: bool,
    /// The epoch under way holds the end of the input.
    last: bool,
}

impl Epochs {
    /// `sinks` says of each subtask whether it is one; `before` is the last epoch of the run that this one continues.
    pub(super) fn new(sinks: &[bool], durable: bool, before: Epoch) -> Self {
        let subtask = |&is_sink| Subtask { is_sink, passed: false, ended: false, committed: false };
        let subtasks = sinks.iter().map(subtask).collect();
        Self { epoch: before, phase: Phase::Resting, subtasks, durable, stop: Stop::No, asked: false, last: false }
    }

    /// What follows from an event.
    pub(super) fn on(&mut self, event: Event) -> Vec<Action> {
        let mut actions = vec![];
        match event {
            Event::Tick => {
                if self.phase == Phase::Resting && self.stop == Stop::No && !self.all_ended() {
                    self.begin(Some(Action::Begin), &mut actions);
                }
            }
            Event::Asked => self.asked = true,
            Event::Stop if self.durable => {
                if self.stop == Stop::No {
                    self.stop = Stop::Wanted;
                }
            }
            Event::Stop => actions.push(Action::StopSources),
            Event::Passed(subtask, epoch) => {
                debug_assert_eq!(epoch, self.epoch, "one epoch is under way");
                self.subtasks[subtask].passed = true;
            }
            Event::Ended(subtask) => {
                self.subtasks[subtask].ended = true;
                let Subtask { is_sink, passed, .. } = self.subtasks[subtask];
                if is_sink && !passed && self.phase == Phase::Aligning {
                    actions.push(Action::Prepare(subtask, self.epoch));
                }
            }
            Event::Stored(epoch) => {
                debug_assert_eq!(epoch, self.epoch, "one epoch is under way");
                match self.phase {
                    Phase::Closing => actions.push(Action::Close),
                    _ => {
                        self.phase = Phase::Committing;
                        self.subtasks.iter_mut().for_each(|subtask| subtask.committed = !subtask.is_sink);
                        actions.push(Action::Commit(epoch));
                    }
                }
            }
            Event::Committed(subtask, epoch) => {
                debug_assert_eq!(epoch, self.epoch, "one epoch is under way");
                self.subtasks[subtask].committed = true;
            }
        }
        self.go_on(&mut actions);
        actions
    }

    /// Whether what a subtask does now is part of the epoch after the one that is under way.
    pub(super) fn is_behind(&self, subtask: usize) -> bool {
        self.phase == Phase::Aligning && self.subtasks[subtask].passed
    }

    fn all_ended(&self) -> bool {
        self.subtasks.iter().all(|subtask| subtask.ended)
    }

    /// Does what has become possible.
    fn go_on(&mut self, actions: &mut Vec<Action>) {
        if self.phase == Phase::Aligning && self.subtasks.iter().all(|subtask| subtask.has_passed()) {
            self.phase = Phase::Storing;
            actions.push(Action::Store { epoch: self.epoch, finished: self.last, closing: false });
        }
        if self.phase == Phase::Committing && self.subtasks.iter().all(|subtask| subtask.committed) {
            self.phase = Phase::Resting;
            actions.push(Action::Complete(self.epoch));
        }
        if self.phase != Phase::Resting {
            return;
        }
        let kept = self.durable && self.stop == Stop::Begun;
        if self.last || (self.all_ended() && kept) {
            self.close(actions);
        } else if self.all_ended() {
            self.last = true;
            self.begin(None, actions);
        } else if self.stop == Stop::Wanted {
            self.stop = Stop::Begun;
            self.begin(Some(Action::BeginLast), actions);
        } else if self.asked && self.stop == Stop::No {
            self.begin(Some(Action::Begin), actions);
        }
    }

    fn begin(&mut self, tell_sources: Option<fn(Epoch) -> Action>, actions: &mut Vec<Action>) {
        self.epoch = self.epoch.next();
        self.asked = false;
        self.phase = Phase::Aligning;
        self.subtasks.iter_mut().for_each(|subtask| subtask.passed = false);
        actions.extend(tell_sources.map(|tell| tell(self.epoch)));
        for (number, subtask) in self.subtasks.iter().enumerate() {
            if subtask.is_sink && subtask.ended {
                actions.push(Action::Prepare(number, self.epoch));
            }
        }
    }

    /// All is committed. A checkpoint that says so is the last, so that a later run asks for no file of a sink's.
    fn close(&mut self, actions: &mut Vec<Action>) {
        if !self.durable {
            self.phase = Phase::Closing;
            actions.push(Action::Close);
            return;
        }
        self.epoch = self.epoch.next();
        self.phase = Phase::Closing;
        actions.push(Action::Store { epoch: self.epoch, finished: self.last, closing: true });
    }
}

#[cfg(test)]
mod tests;
