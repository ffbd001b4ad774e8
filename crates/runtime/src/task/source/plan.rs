//! Decides what a source does next: which partition to read, and each subtask's next step.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidemill_core::{Epoch, Result, Watermark};
use tidemill_state::StateChanges;
use tokio::sync::{Notify, oneshot};

use super::clocks::{Clocks, OwnClock};
use super::progress::{Progress, Resumed};
use crate::connector::Chunk;

/// What is known at the boundary between two chunks of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Carry {
    /// The offset of the next row.
    pub(crate) offset: u64,
    /// The maximum of the watermark expression so far.
    pub(crate) watermark: Watermark,
}

/// A chunk to decode.
pub(crate) struct Work {
    pub(crate) partition: usize,
    pub(crate) partition_name: Arc<str>,
    pub(crate) chunk: Box<dyn Chunk>,
    /// From the chunk before. It is dropped unsent where that one failed.
    pub(crate) carry_in: oneshot::Receiver<Carry>,
    pub(crate) carry_out: oneshot::Sender<Carry>,
    /// It comes after the barrier of this epoch.
    pub(crate) epoch: Epoch,
    /// The place behind it.
    pub(crate) position: u64,
    /// Its rows have at least this watermark: the source was idle, and has promised it.
    pub(crate) floor: Watermark,
}

/// Which chunk of a source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkPlace {
    pub(crate) partition: usize,
    /// It comes after the barrier of this epoch.
    pub(crate) epoch: Epoch,
    /// The place behind it.
    pub(crate) position: u64,
}

/// What a subtask does next.
pub(crate) enum Step {
    Decode(Work),
    Watermark(Watermark),
    Barrier(Epoch),
    /// `complete` unless the run was stopped before the input ended.
    End {
        complete: bool,
    },
}

/// How far a source has come.
pub(crate) struct Reached {
    /// What may be published.
    pub(crate) watermark: Watermark,
    /// The partition that is furthest behind; `None` where there is none now.
    pub(crate) partition: Option<Arc<str>>,
    /// No row follows that has not been read.
    pub(crate) ended: bool,
}

/// What one subtask has done so far.
#[derive(Debug)]
pub(crate) struct Position {
    epoch: Epoch,
    watermark: Watermark,
}

impl Position {
    /// Nothing, after the epoch `first` of an earlier run.
    pub(crate) fn after(first: Epoch) -> Self {
        Self { epoch: first, watermark: Watermark::MIN }
    }
}

struct Partition {
    name: Arc<str>,
    /// The running maximum up to the last chunk whose predecessors are all decoded: no row that is
    /// still to come has a lower watermark.
    watermark: Watermark,
    chunks_read: u64,
    chunks_waiting: usize,
    read_to_end: bool,
    /// The carry that the next chunk starts from.
    carry: Option<oneshot::Receiver<Carry>>,
}

struct State {
    /// By their number, those that have not left: one leaves when its last chunk is taken.
    partitions: BTreeMap<usize, Partition>,
    /// How many partitions there have been.
    partitions_opened: usize,
    /// Partitions may appear later: while there is none, input has not ended.
    followed: bool,
    /// The highest watermark that a partition has reached.
    reached: Watermark,
    /// Nothing has come for long, so the source goes by the clocks of those that it meets.
    idle: bool,
    /// While it is idle: how far the others have come.
    others: Watermark,
    /// The highest watermark that a subtask was given: the floor of a partition that appears now.
    granted: Watermark,
    queue: VecDeque<Work>,
    epoch: Epoch,
    progress: Progress,
    /// What an earlier run has read.
    resumed: Resumed,
    /// No chunk follows: every partition is read to its end, or the run was stopped.
    ended: bool,
    stopped: bool,
}

/// The shared state of one source's reader and subtasks.
pub(crate) struct SourcePlan {
    state: Mutex<State>,
    capacity: usize,
    in_turn: bool,
    /// The clocks of the sources that it meets; `None` where none is ever taken for idle.
    clock: Option<OwnClock>,
    /// Something changed that a subtask may wait for.
    for_workers: Arc<Notify>,
    /// The queue has room, or the run was stopped.
    for_reader: Notify,
}

impl SourcePlan {
    /// `in_turn`: partitions are read one after the other, as where no time tells which is behind.
    ///
    /// `resumed`: what an earlier run has read; `first`: its last epoch.
    pub(crate) fn new(
        subtasks: usize,
        in_turn: bool,
        clocks: Option<&Arc<Clocks>>,
        resumed: Resumed,
        first: Epoch,
    ) -> Self {
        let for_workers = Arc::new(Notify::new());
        Self {
            state: Mutex::new(State::new(resumed, first)),
            capacity: 2 * subtasks,
            in_turn,
            clock: clocks.map(|clocks| clocks.join(Arc::clone(&for_workers))),
            for_workers,
            for_reader: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock can panic half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on chunks belong to the epoch after `epoch`; each subtask is told at its next step.
    pub(crate) fn begin_epoch(&self, epoch: Epoch) {
        self.state().begin_epoch(epoch);
        self.for_workers.notify_waiters();
    }

    /// The same, and no chunk belongs to that epoch: those that no subtask has begun are dropped.
    pub(crate) fn begin_last_epoch(&self, epoch: Epoch) {
        let mut state = self.state();
        for work in std::mem::take(&mut state.queue) {
            state.progress.reopened(work.partition);
        }
        state.begin_epoch(epoch);
        self.stop_with(state);
    }

    /// What has been read before the barrier of `epoch`, which every subtask has passed, or of an epoch without one: then
    /// they have ended.
    pub(crate) fn snapshot(&self, epoch: Epoch) -> Result<StateChanges> {
        let mut state = self.state();
        let granted = state.granted;
        state.progress.snapshot(epoch, granted)
    }

    /// Ends the run early: chunks that no subtask has begun are dropped.
    pub(crate) fn stop(&self) {
        self.stop_with(self.state());
    }

    fn stop_with(&self, mut state: MutexGuard<'_, State>) {
        state.stopped = true;
        state.ended = true;
        state.queue.clear();
        drop(state);
        self.for_workers.notify_waiters();
        self.for_reader.notify_one();
    }

    /// Waits until the run is stopped.
    pub(crate) async fn stopped(&self) {
        while !self.state().stopped {
            self.for_reader.notified().await;
        }
    }

    /// How far the source has come, and the partition that holds it there.
    pub(crate) fn reached(&self) -> Reached {
        let state = self.state();
        let slowest = state.partitions.values().min_by_key(|partition| partition.watermark);
        let partition = slowest.map(|partition| Arc::clone(&partition.name));
        Reached { watermark: state.watermark(), partition, ended: state.ended }
    }

    // The reader's side.

    /// From now on the end of all partitions is not the end of input.
    pub(crate) fn follow(&self) {
        self.state().followed = true;
    }

    /// There are these partitions too, numbered on, each at a position. What has gone out was promised without them:
    /// their rows have no lower watermark than that.
    pub(crate) fn open(&self, partitions: impl Iterator<Item = (Arc<str>, u64)>) {
        let mut state = self.state();
        let floor = state.granted;
        for (name, position) in partitions {
            let number = state.partitions_opened;
            state.partitions_opened += 1;
            let carry = state.resumed.carries.remove(&name).unwrap_or(Carry { offset: 0, watermark: floor });
            let carry = Carry { watermark: carry.watermark.max(floor), ..carry };
            state.progress.opened(number, Arc::clone(&name), carry, position);
            state.partitions.insert(number, Partition::new(name, carry));
        }
    }

    /// The partition to read next, when the queue has room; `None` when there is nothing left.
    pub(crate) async fn next_to_read(&self) -> Option<usize> {
        loop {
            let room = self.for_reader.notified();
            match self.state().next_to_read(self.capacity, self.in_turn) {
                Next::Read(partition) => return Some(partition),
                Next::Done => return None,
                Next::Wait => {}
            }
            room.await;
        }
    }

    /// `position` is that behind the chunk.
    pub(crate) fn enqueue(&self, partition: usize, partition_name: Arc<str>, chunk: Box<dyn Chunk>, position: u64) {
        let mut state = self.state();
        if state.ended {
            return;
        }
        let epoch = state.epoch;
        let woken = std::mem::replace(&mut state.idle, false);
        let floor = if woken { state.granted } else { Watermark::MIN };
        let (carry_out, next_carry) = oneshot::channel();
        let Some(reading) = state.partitions.get_mut(&partition) else { return };
        reading.watermark = reading.watermark.max(floor);
        let Some(carry_in) = reading.carry.replace(next_carry) else { return };
        reading.chunks_read += 1;
        reading.chunks_waiting += 1;
        state.queue.push_back(Work { partition, partition_name, chunk, carry_in, carry_out, epoch, position, floor });
        drop(state);
        if let Some(clock) = self.clock.as_ref().filter(|_| woken) {
            clock.set_idle(false);
        }
        self.for_workers.notify_waiters();
    }

    /// Nothing has come for long. False if that is because subtasks are busy with what came.
    pub(crate) fn rest(&self) -> bool {
        let Some(clock) = &self.clock else { return false };
        let mut state = self.state();
        if !state.queue.is_empty() || state.ended {
            return false;
        }
        state.idle = true;
        drop(state);
        clock.set_idle(true);
        true
    }

    pub(crate) fn read_to_end(&self, partition: usize) {
        let mut state = self.state();
        state.progress.ended(partition);
        state.change(partition, |p| p.read_to_end = true);
        drop(state);
        self.for_workers.notify_waiters();
    }

    pub(crate) fn all_read(&self) {
        self.state().ended = true;
        if let Some(clock) = &self.clock {
            clock.ended();
        }
        self.for_workers.notify_waiters();
    }

    // The subtasks' side.

    /// Whether a watermark is news to a subtask, which publishes it, that the clock has reached and not the partitions.
    pub(crate) fn promise(&self, position: &mut Position, watermark: Watermark) -> bool {
        let is_news = watermark > position.watermark;
        if is_news {
            position.watermark = watermark;
            let mut state = self.state();
            state.granted = state.granted.max(watermark);
            state.progress.promised(watermark);
        }
        is_news
    }

    /// A chunk is decoded, and so are all before it in its partition: what it was, and what is known behind it.
    pub(crate) fn decoded(&self, chunk: ChunkPlace, carry: Carry) {
        let ChunkPlace { partition, epoch, position } = chunk;
        let watermark = carry.watermark;
        let mut state = self.state();
        state.progress.decoded(partition, epoch, position, carry);
        state.reached = state.reached.max(watermark);
        state.change(partition, |p| p.watermark = p.watermark.max(watermark));
        drop(state);
        self.for_workers.notify_waiters();
    }

    fn next_step_now(&self, position: &mut Position) -> Option<Step> {
        let mut state = self.state();
        if let Some(clock) = &self.clock {
            let own = state.own_watermark();
            clock.reached(own);
            state.others = if state.idle { clock.others() } else { Watermark::MIN };
        }
        state.next_step(position)
    }

    /// A subtask's next step. All rows that it passed on so far came from chunks before it.
    pub(crate) async fn next_step(&self, position: &mut Position) -> Step {
        loop {
            let change = self.for_workers.notified();
            let step = self.next_step_now(position);
            if let Some(step) = step {
                if matches!(step, Step::Decode(_)) {
                    self.for_reader.notify_one();
                }
                return step;
            }
            change.await;
        }
    }
}

/// What the reader does next.
enum Next {
    Read(usize),
    Wait,
    Done,
}

impl Partition {
    /// Where this is known of what comes before.
    fn new(name: Arc<str>, before: Carry) -> Self {
        let (first, carry) = oneshot::channel();
        let _ = first.send(before);
        let watermark = before.watermark;
        Self { name, watermark, chunks_read: 0, chunks_waiting: 0, read_to_end: false, carry: Some(carry) }
    }
}

impl State {
    fn new(resumed: Resumed, first: Epoch) -> Self {
        Self {
            partitions: BTreeMap::new(),
            partitions_opened: 0,
            followed: false,
            reached: resumed.granted,
            idle: false,
            others: Watermark::MIN,
            granted: resumed.granted,
            queue: VecDeque::new(),
            epoch: first,
            progress: Progress::of(&resumed),
            resumed,
            ended: false,
            stopped: false,
        }
    }

    fn begin_epoch(&mut self, epoch: Epoch) {
        self.epoch = epoch;
        self.progress.cut(epoch, self.granted);
    }

    /// Changes a partition that has not left; it leaves when it is read to its end and no chunk of it waits.
    fn change(&mut self, partition: usize, change: impl FnOnce(&mut Partition)) {
        let Some(changed) = self.partitions.get_mut(&partition) else { return };
        change(changed);
        if changed.read_to_end && changed.chunks_waiting == 0 {
            self.partitions.remove(&partition);
        }
    }

    /// The partition that is furthest behind comes first, so that files of one time and files of
    /// one hour after the other both work in bounded state.
    fn next_to_read(&self, capacity: usize, in_turn: bool) -> Next {
        if self.ended {
            return Next::Done;
        }
        if self.queue.len() >= capacity {
            return Next::Wait;
        }
        let mut unread = self.partitions.iter().filter(|(_, p)| !p.read_to_end);
        let next = if in_turn { unread.next() } else { unread.min_by_key(|(_, p)| (p.watermark, p.chunks_read)) };
        match next {
            Some((partition, _)) => Next::Read(*partition),
            None if self.followed => Next::Wait,
            None => Next::Done,
        }
    }

    fn next_step(&mut self, position: &mut Position) -> Option<Step> {
        // A barrier comes after the chunks of its epoch and before those of the next.
        let behind = match self.queue.front() {
            Some(work) => position.epoch < work.epoch,
            None => position.epoch < self.epoch,
        };
        if behind {
            position.epoch = position.epoch.next();
            return Some(Step::Barrier(position.epoch));
        }
        let watermark = self.watermark();
        if watermark > position.watermark && watermark < Watermark::MAX {
            position.watermark = watermark;
            self.granted = self.granted.max(watermark);
            return Some(Step::Watermark(watermark));
        }
        if let Some(work) = self.queue.pop_front() {
            self.change(work.partition, |p| p.chunks_waiting -= 1);
            return Some(Step::Decode(work));
        }
        if !self.ended {
            return None;
        }
        if !self.stopped {
            // The end of the input completes all windows: whatever a later run finds more of it is late for them.
            self.granted = Watermark::MAX;
        }
        Some(Step::End { complete: !self.stopped })
    }

    /// What may be published: of an idle source, what the others have reached.
    fn watermark(&self) -> Watermark {
        self.own_watermark().max(self.others)
    }

    /// The lowest watermark that a row of a chunk which no subtask has begun can have.
    fn own_watermark(&self) -> Watermark {
        match self.partitions.values().map(|p| p.watermark).min() {
            Some(watermark) => watermark,
            // Before anything is opened, this is nothing.
            None => self.reached,
        }
    }
}
