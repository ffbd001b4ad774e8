//! A job in miniature: sources, sinks, the channels between them, a store, and whoever kills it.
//!
//! What outlives a kill is the store's last checkpoint and the rows that sinks have made visible. All else is a [`Run`].
//! Each step does one thing that can happen next, drawn by the seed.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

use super::*;

/// The source, and the number of the row in it.
type Row = (usize, u64);

/// A way to break the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Sinks commit before the checkpoint is there.
    CommitBeforeStored,
    /// The checkpoint says how far sources have come by now, not at the barrier.
    SnapshotWithoutCut,
    /// The checkpoint does not say what sinks have prepared.
    ForgottenCommitment,
    /// A sink prepares at the first barrier that comes.
    NoAlignment,
}

#[derive(Debug, Clone, Default)]
struct Stored {
    epoch: Epoch,
    finished: bool,
    /// By source.
    positions: Vec<u64>,
    /// By sink: what it has prepared and not committed.
    prepared: Vec<Vec<Row>>,
}

enum Message {
    Row(Row),
    Barrier(Epoch),
    End,
}

#[derive(Default)]
struct Source {
    position: u64,
    /// The barrier that it lets go next.
    asked: Option<Epoch>,
    /// Nothing follows the barrier that it was asked for.
    last: bool,
    /// Where the barrier of the epoch under way went out.
    cut: Option<u64>,
    ended: bool,
}

#[derive(Default)]
struct Sink {
    open: Vec<Row>,
    prepared: Vec<Row>,
    /// By source: whether its barrier is there, and whether it has ended.
    barrier: Vec<Option<Epoch>>,
    ended_channels: Vec<bool>,
    ended: bool,
    commands: VecDeque<Action>,
    done: bool,
}

/// What one process knows.
struct Run {
    epochs: Epochs,
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    /// By source and sink.
    channels: BTreeMap<(usize, usize), VecDeque<Message>>,
    /// By subtask: what the job has not heard yet.
    reports: BTreeMap<usize, VecDeque<Event>>,
    /// The checkpoint that is being written, and whether it is there already.
    storing: Option<(Stored, bool)>,
    stop_asked: bool,
    closed: bool,
}

/// What has come of a world.
pub(super) struct Told {
    pub(super) wrong: Option<String>,
    pub(super) kills: u64,
    pub(super) stops: u64,
    pub(super) trace: String,
}

pub(super) struct World {
    random: u64,
    fault: Option<Fault>,
    rows: Vec<u64>,
    sinks: usize,
    stored: Stored,
    visible: Vec<BTreeMap<Row, u64>>,
    kills_left: u64,
    stops: u64,
    kills: u64,
    trace: String,
}

/// What can happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Source(usize),
    Deliver(usize, usize),
    Command(usize),
    Report(usize),
    Land,
    TellStored,
    Tick,
    Ask,
    Stop,
    Kill,
}

impl World {
    pub(super) fn new(seed: u64, fault: Option<Fault>) -> Self {
        let mut world = Self {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d,
            fault,
            rows: vec![],
            sinks: 0,
            stored: Stored::default(),
            visible: vec![],
            kills_left: 0,
            stops: 0,
            kills: 0,
            trace: String::new(),
        };
        let sources = 1 + world.below(3);
        world.rows = (0..sources).map(|_| world.below(8) as u64).collect();
        world.sinks = 1 + world.below(2);
        world.kills_left = world.below(5) as u64;
        world.visible = vec![BTreeMap::new(); world.sinks];
        world.stored.positions = vec![0; sources];
        world.stored.prepared = vec![vec![]; world.sinks];
        world
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % bound as u64) as usize
    }

    /// Runs one process after the other, until one comes to the end of the input.
    pub(super) fn run(mut self) -> Told {
        let mut wrong = None;
        for process in 0.. {
            if self.stored.finished {
                self.recover();
                break;
            }
            if process == 100 {
                wrong = Some("it does not come to an end".to_owned());
                break;
            }
            if let Err(stuck) = self.process() {
                wrong = Some(stuck);
                break;
            }
        }
        let wrong = wrong.or_else(|| self.wrong_rows());
        Told { wrong, kills: self.kills, stops: self.stops, trace: self.trace }
    }

    /// What is not there once in each sink.
    fn wrong_rows(&self) -> Option<String> {
        for (sink, visible) in self.visible.iter().enumerate() {
            for (source, rows) in self.rows.iter().enumerate() {
                for row in 0..*rows {
                    let times = visible.get(&(source, row)).copied().unwrap_or_default();
                    if times != 1 {
                        return Some(format!("row {row} of source {source} is {times} times in sink {sink}"));
                    }
                }
            }
        }
        None
    }

    /// What a sink does first: commits what the checkpoint says is prepared, unless the process before has.
    fn recover(&mut self) {
        let prepared = std::mem::replace(&mut self.stored.prepared, vec![vec![]; self.sinks]);
        for (visible, prepared) in self.visible.iter_mut().zip(&prepared) {
            for row in prepared {
                // A part has a name: that it is there already can be seen.
                visible.entry(*row).or_insert(1);
            }
        }
        self.stored.prepared = prepared;
    }

    fn process(&mut self) -> Result<(), String> {
        self.recover();
        let mut run = Run::new(&self.stored, self.rows.len(), self.sinks);
        for _ in 0..10_000 {
            if run.closed {
                return Ok(());
            }
            let steps = self.possible(&run);
            if steps.is_empty() {
                return Err("nothing can happen, and it has not ended".to_owned());
            }
            let step = steps[self.below(steps.len())];
            let _ = write!(self.trace, "{step:?} ");
            match step {
                Step::Kill => {
                    self.kills += 1;
                    self.kills_left -= 1;
                    return Ok(());
                }
                Step::Land => {
                    if let Some((stored, landed)) = &mut run.storing {
                        self.stored = stored.clone();
                        *landed = true;
                    }
                }
                Step::Stop => self.stops += 1,
                _ => {}
            }
            self.step(&mut run, step);
        }
        Err("it goes on for ever".to_owned())
    }

    fn possible(&self, run: &Run) -> Vec<Step> {
        let mut steps = vec![];
        steps.extend((0..run.sources.len()).filter(|&s| !run.sources[s].ended).map(Step::Source));
        for (&(source, sink), channel) in &run.channels {
            let waits = run.sinks[sink].barrier[source].is_some() && self.fault != Some(Fault::NoAlignment);
            if !channel.is_empty() && !waits {
                steps.push(Step::Deliver(source, sink));
            }
        }
        steps.extend((0..run.sinks.len()).filter(|&s| !run.sinks[s].commands.is_empty()).map(Step::Command));
        steps.extend(
            run.reports.iter().filter(|(_, reports)| !reports.is_empty()).map(|(subtask, _)| Step::Report(*subtask)),
        );
        match run.storing {
            Some((_, false)) => steps.push(Step::Land),
            Some((_, true)) => steps.push(Step::TellStored),
            None => {}
        }
        if steps.is_empty() {
            return steps;
        }
        steps.extend([Step::Tick, Step::Ask]);
        if !run.stop_asked && self.stops < 2 {
            steps.push(Step::Stop);
        }
        if self.kills_left > 0 {
            steps.push(Step::Kill);
        }
        steps
    }

    fn step(&mut self, run: &mut Run, step: Step) {
        match step {
            Step::Source(source) => run.read(source, self.rows[source], self.sinks),
            Step::Deliver(source, sink) => run.deliver(source, sink, self.fault),
            Step::Command(sink) => self.command(run, sink),
            Step::Report(subtask) => {
                if let Some(event) = run.reports.get_mut(&subtask).and_then(VecDeque::pop_front) {
                    run.event(event, self.fault);
                }
            }
            Step::TellStored => {
                if let Some((stored, _)) = run.storing.take() {
                    run.event(Event::Stored(stored.epoch), self.fault);
                }
            }
            Step::Tick => run.event(Event::Tick, self.fault),
            Step::Ask => run.event(Event::Asked, self.fault),
            Step::Stop => {
                run.stop_asked = true;
                run.event(Event::Stop, self.fault);
            }
            Step::Land | Step::Kill => {}
        }
    }

    fn command(&mut self, run: &mut Run, sink: usize) {
        let subtask = run.sources.len() + sink;
        match run.sinks[sink].commands.pop_front() {
            Some(Action::Prepare(_, epoch)) => run.prepare(sink, epoch),
            Some(Action::Commit(epoch)) => {
                for row in std::mem::take(&mut run.sinks[sink].prepared) {
                    *self.visible[sink].entry(row).or_default() += 1;
                }
                run.report(subtask, Event::Committed(subtask, epoch));
            }
            Some(Action::Close) => {
                run.sinks[sink].done = true;
                run.closed = run.sinks.iter().all(|sink| sink.done);
            }
            _ => {}
        }
    }
}

impl Run {
    fn new(stored: &Stored, sources: usize, sinks: usize) -> Self {
        let is_sink: Vec<bool> = (0..sources + sinks).map(|subtask| subtask >= sources).collect();
        let source = |&position: &u64| Source { position, ..Source::default() };
        let sink = |_| Sink { barrier: vec![None; sources], ended_channels: vec![false; sources], ..Sink::default() };
        Self {
            epochs: Epochs::new(&is_sink, true, stored.epoch),
            sources: stored.positions.iter().map(source).collect(),
            sinks: (0..sinks).map(sink).collect(),
            channels: BTreeMap::new(),
            reports: BTreeMap::new(),
            storing: None,
            stop_asked: false,
            closed: false,
        }
    }

    fn report(&mut self, subtask: usize, event: Event) {
        self.reports.entry(subtask).or_default().push_back(event);
    }

    fn send(&mut self, source: usize, message: impl Fn() -> Message) {
        for sink in 0..self.sinks.len() {
            self.channels.entry((source, sink)).or_default().push_back(message());
        }
    }

    /// A source lets a barrier go, ends, or gives a row to each sink.
    fn read(&mut self, number: usize, rows: u64, _sinks: usize) {
        let source = &mut self.sources[number];
        if let Some(epoch) = source.asked.take() {
            source.cut = Some(source.position);
            self.send(number, || Message::Barrier(epoch));
            self.report(number, Event::Passed(number, epoch));
        } else if source.last || source.position == rows {
            source.ended = true;
            self.send(number, || Message::End);
            self.report(number, Event::Ended(number));
        } else {
            let row = (number, source.position);
            source.position += 1;
            self.send(number, || Message::Row(row));
        }
    }

    fn deliver(&mut self, source: usize, number: usize, fault: Option<Fault>) {
        let message = self.channels.get_mut(&(source, number)).and_then(VecDeque::pop_front);
        let sink = &mut self.sinks[number];
        match message {
            Some(Message::Row(row)) => sink.open.push(row),
            Some(Message::Barrier(epoch)) => sink.barrier[source] = Some(epoch),
            Some(Message::End) => sink.ended_channels[source] = true,
            None => {}
        }
        let all_there =
            sink.barrier.iter().zip(&sink.ended_channels).all(|(barrier, ended)| *ended || barrier.is_some());
        let reached = sink.barrier.iter().flatten().next().copied();
        match reached {
            Some(epoch) if all_there => {
                sink.barrier.fill(None);
                if fault != Some(Fault::NoAlignment) {
                    self.prepare(number, epoch);
                }
            }
            Some(epoch) if fault == Some(Fault::NoAlignment) && sink.barrier.iter().flatten().count() == 1 => {
                self.prepare(number, epoch);
            }
            _ => {}
        }
        let sink = &mut self.sinks[number];
        if sink.ended_channels.iter().all(|&ended| ended) && !sink.ended {
            sink.ended = true;
            let subtask = self.sources.len() + number;
            self.report(subtask, Event::Ended(subtask));
        }
    }

    fn prepare(&mut self, number: usize, epoch: Epoch) {
        let sink = &mut self.sinks[number];
        let open = std::mem::take(&mut sink.open);
        sink.prepared.extend(open);
        let subtask = self.sources.len() + number;
        self.report(subtask, Event::Passed(subtask, epoch));
    }

    fn event(&mut self, event: Event, fault: Option<Fault>) {
        for action in self.epochs.on(event) {
            match action {
                Action::Begin(epoch) | Action::BeginLast(epoch) => {
                    for source in self.sources.iter_mut().filter(|source| !source.ended) {
                        source.asked = Some(epoch);
                        source.last = matches!(action, Action::BeginLast(_));
                    }
                }
                Action::Store { epoch, finished, closing: _ } => {
                    self.storing = Some((self.snapshot(epoch, finished, fault), false));
                    if fault == Some(Fault::CommitBeforeStored) {
                        self.tell_sinks(Action::Commit(epoch));
                    }
                }
                Action::Commit(_) if fault == Some(Fault::CommitBeforeStored) => {}
                Action::Complete(_) => {}
                Action::Prepare(subtask, _) => {
                    let sinks_begin = self.sources.len();
                    self.sinks[subtask - sinks_begin].commands.push_back(action);
                }
                Action::Commit(_) | Action::Close => self.tell_sinks(action),
                Action::StopSources => self.sources.iter_mut().for_each(|source| source.last = true),
            }
        }
    }

    fn tell_sinks(&mut self, action: Action) {
        self.sinks.iter_mut().for_each(|sink| sink.commands.push_back(action));
    }

    fn snapshot(&mut self, epoch: Epoch, finished: bool, fault: Option<Fault>) -> Stored {
        let position = |source: &mut Source| match source.cut.take() {
            Some(cut) if fault != Some(Fault::SnapshotWithoutCut) => cut,
            _ => source.position,
        };
        let prepared =
            |sink: &Sink| if fault == Some(Fault::ForgottenCommitment) { vec![] } else { sink.prepared.clone() };
        Stored {
            epoch,
            finished,
            positions: self.sources.iter_mut().map(position).collect(),
            prepared: self.sinks.iter().map(prepared).collect(),
        }
    }
}
