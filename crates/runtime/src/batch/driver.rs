//! Runs the stages in their order: which part is next, what is tried again, and who gets what was made.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use tidemill_core::{Error, Result};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::attempt::{Input, Setting, attempt};
use super::retries::Retries;
use super::shuffle::{Left, Merge, PartId, PartWriter, Shuffle, Source, Written};
use super::sinks::{Sinks, Turn, Turns};
use super::split::{Place, Split, Splits};
use super::stragglers::{Straggler, Stragglers};
use super::{BatchOptions, BatchOutcome, Failure};
use crate::clock::JobClock;
use crate::exchange::{ElementCodec, Partitioning};
use crate::graph::{Head, JobGraph};
use crate::metrics::{Metrics, Tally, tallied};
use crate::task::ending::Ending;

/// How many buckets the rows of a stage are dealt to. What runs again after a failure, and the state that is in memory at
/// once, is this part of the whole.
const BUCKETS: usize = 32;

/// How often somebody looks for stragglers.
const LOOK: Duration = Duration::from_millis(500);

/// How many parts may be done before one that comes before them, where a sink waits for that one.
const AHEAD: usize = 64;

/// How long the end of a run waits for attempts that go on.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a source that could not be read is left alone, the first time; then twice as long.
const PAUSE: Duration = Duration::from_millis(10);

/// A batch that is running.
pub(super) struct Driver {
    graph: Arc<JobGraph>,
    options: BatchOptions,
    setting: Setting,
    ending: watch::Sender<Ending>,
    shuffle: Arc<Shuffle>,
    sinks: Sinks,
    /// By task, the number of its parts, once it is done or if it is known.
    parts: Vec<usize>,
    /// Of sources, where each split is.
    places: BTreeMap<PartId, Place>,
    retries: Retries,
    running: JoinSet<Attempted>,
    stragglers: Vec<Straggler>,
    /// The parts whose first attempt that was done is in the metrics.
    counted: BTreeSet<PartId>,
    metrics: Metrics,
}

impl Drop for Driver {
    /// Whoever drops a run wants nothing more of it.
    fn drop(&mut self) {
        self.ending.send_replace(Ending::Failed);
    }
}

/// How elements between two stages are written.
type Codec = Arc<dyn ElementCodec>;

/// What an attempt has come to.
type Attempted = (PartId, Result<Done, Failure>);

/// What an attempt has written that is done, and what its operators have counted.
type Done = (Written, Tally);

/// The parts of one stage.
#[derive(Default)]
struct Stage {
    again: VecDeque<PartId>,
    /// The next that is new.
    next: usize,
    done: usize,
    stragglers: Stragglers,
    turns: Turns,
}

impl Driver {
    pub(super) fn open(mut graph: JobGraph, options: BatchOptions) -> Result<Self> {
        let sinks = Sinks::open(&graph)?;
        let clock = Arc::new(JobClock::new(Arc::clone(&options.clock)));
        let ending = watch::Sender::default();
        let setting = Setting { batch_rows: options.batch_rows.max(1), ending: ending.subscribe(), clock };
        let shuffle = Arc::new(Shuffle::new(options.shuffle_memory, options.shuffle_folder.clone()));
        let parts = (0..graph.tasks.len()).map(|task| parts_of(&graph, task)).collect();
        let metrics = std::mem::take(&mut graph.metrics);
        Ok(Self {
            graph: Arc::new(graph),
            retries: Retries::new(options.attempts),
            options,
            setting,
            ending,
            shuffle,
            sinks,
            parts,
            places: BTreeMap::new(),
            running: JoinSet::new(),
            stragglers: vec![],
            counted: BTreeSet::new(),
            metrics,
        })
    }

    /// True if it was stopped.
    pub(super) async fn run(&mut self, stop: impl Future<Output = ()>) -> Result<bool> {
        let mut stop = std::pin::pin!(stop);
        for task in 0..self.graph.tasks.len() {
            if matches!(self.graph.tasks[task].head, Head::Sink(_)) {
                continue;
            }
            let stopped = tokio::select! {
                biased;
                () = &mut stop => true,
                // Sinks must hear of the end, whatever a source does.
                done = AssertUnwindSafe(self.stage(task)).catch_unwind() => match done {
                    Ok(done) => done.map(|()| false)?,
                    Err(panic) => return Err(panicked(panic.as_ref())),
                },
            };
            if stopped {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Commits, or takes back.
    pub(super) async fn close(mut self, ended: Result<bool>) -> Result<BatchOutcome> {
        // Attempts hear of it between their steps; one that does not is left alone.
        self.ending.send_replace(Ending::Failed);
        let ended_all = async { while self.running.join_next().await.is_some() {} };
        let _ = timeout(PATIENCE, ended_all).await;
        let ended = match ended {
            Ok(false) => self.sinks.commit().await.map(|()| false),
            other => other,
        };
        if !matches!(ended, Ok(false))
            && let Err(abort) = self.sinks.abort().await
        {
            let also = format!("also, what was staged could not be taken back: {abort}");
            return Err(ended.err().unwrap_or_else(|| Error::closed("the run was stopped")).hint(also));
        }
        let stopped = ended?;
        Ok(BatchOutcome {
            stopped,
            re_executed: self.retries.take(),
            stragglers: std::mem::take(&mut self.stragglers),
            spilled_bytes: self.shuffle.spilled_bytes(),
            metrics: std::mem::take(&mut self.metrics),
        })
    }

    /// Runs all parts of a task.
    async fn stage(&mut self, task: usize) -> Result<()> {
        let mut reading = match &self.graph.tasks[task].head {
            Head::Source(spec, _) => Some(read(Splits::new(spec.clone(), self.setting.batch_rows))),
            _ => None,
        };
        let mut stage = Stage::default();
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut reading_failed = 0;
        loop {
            while self.running.len() < self.options.parallelism
                && let Some(part) = stage.again.pop_front()
            {
                let input = self.input(part)?;
                self.begin(&mut stage, part, input);
            }
            let room = self.running.len() < self.options.parallelism && stage.next < stage.turns.turn() + AHEAD;
            if reading.is_none() && room && stage.next < self.parts[task] {
                let part = PartId { task, part: stage.next };
                stage.next += 1;
                let input = self.input(part)?;
                self.begin(&mut stage, part, input);
                continue;
            }
            if self.running.is_empty() && reading.is_none() && stage.done == self.parts[task] {
                return Ok(());
            }
            tokio::select! {
                biased;
                Some(joined) = self.running.join_next() => {
                    let (part, attempted) = joined.map_err(lost_attempt)?;
                    self.ended(&mut stage, part, attempted).await?;
                }
                (splits, split) = next_split(&mut reading), if room && reading.is_some() => match split {
                    Ok(Some(split)) => {
                        reading = Some(read(splits));
                        reading_failed = 0;
                        let part = PartId { task, part: stage.next };
                        stage.next += 1;
                        self.places.insert(part, split.place.clone());
                        self.begin(&mut stage, part, Input::Read(split));
                    }
                    Ok(None) => {
                        self.parts[task] = stage.next;
                        reading = None;
                    }
                    Err(error) => {
                        reading = Some(read(splits));
                        reading_failed += 1;
                        let part = PartId { task, part: stage.next };
                        self.retries.failed_times(&self.graph.tasks[task], part, reading_failed, error)?;
                        sleep(PAUSE * 2u32.pow(u32::try_from(reading_failed).unwrap_or(u32::MAX).min(7))).await;
                    }
                },
                _ = looks.tick() => self.look(&mut stage, task, reading.is_none()),
            }
        }
    }

    fn look(&mut self, stage: &mut Stage, task: usize, all_known: bool) {
        if !all_known {
            return;
        }
        let name = &self.graph.tasks[task].name;
        for straggler in stage.stragglers.look(name, self.parts[task], Instant::now()) {
            if let Some(listener) = &self.options.on_straggler {
                (listener.0)(&straggler);
            }
            self.stragglers.push(straggler);
        }
    }

    fn begin(&mut self, stage: &mut Stage, part: PartId, input: Input) {
        stage.stragglers.begun(part.part, Instant::now());
        let attempt = self.attempt(part, input);
        self.running.spawn_blocking(move || (part, attempt()));
    }

    async fn ended(&mut self, stage: &mut Stage, part: PartId, attempted: Result<Done, Failure>) -> Result<()> {
        stage.stragglers.ended(part.part, attempted.is_ok(), Instant::now());
        match attempted {
            Ok((Written { left, for_sinks }, tally)) => {
                if self.counted.insert(part) {
                    tally.add();
                }
                self.shuffle.put(part, left);
                stage.done += 1;
                stage.turns.put(part.part, for_sinks);
                self.hand_over(stage, part.task).await?;
            }
            Err(Failure::Failed(error)) => {
                self.failed(part, error)?;
                stage.again.push_back(part);
            }
            Err(Failure::Lost(lost, left, error)) => {
                self.make_again(lost, &left, error).await?;
                stage.again.push_back(part);
            }
        }
        Ok(())
    }

    /// Gives sinks what comes next.
    async fn hand_over(&mut self, stage: &mut Stage, task: usize) -> Result<()> {
        while let Some(turn) = stage.turns.next() {
            match turn {
                Turn::Ready(batches) => {
                    for (edge, batch) in batches {
                        self.sinks.write(self.graph.tasks[task].edges[edge].to_task, &batch).await?;
                    }
                }
                Turn::Lost(part, error) => {
                    let part = PartId { task, part };
                    self.failed(part, error)?;
                    stage.done -= 1;
                    stage.again.push_back(part);
                }
            }
        }
        Ok(())
    }

    /// What a part had left can't be read: it is run again, and if need be what it read itself. Unless that was done already:
    /// others have missed the same.
    fn make_again<'a>(&'a mut self, lost: PartId, left: &'a Arc<Left>, error: Error) -> BoxFuture<'a, Result<()>> {
        async move {
            if self.shuffle.get(lost).is_some_and(|now| !Arc::ptr_eq(&now, left)) {
                return Ok(());
            }
            self.failed(lost, error)?;
            loop {
                let input = self.input(lost)?;
                match spawn_blocking(self.attempt(lost, input)).await.map_err(lost_attempt)? {
                    // Sinks have what it made for them, and the metrics what it counted.
                    Ok((Written { left, .. }, _)) => {
                        self.shuffle.put(lost, left);
                        return Ok(());
                    }
                    Err(Failure::Lost(before, left, error)) => self.make_again(before, &left, error).await?,
                    Err(Failure::Failed(error)) => self.failed(lost, error)?,
                }
            }
        }
        .boxed()
    }

    fn failed(&mut self, part: PartId, error: Error) -> Result<()> {
        self.retries.failed(&self.graph.tasks[part.task], part, error)
    }

    /// What a part reads, from its beginning.
    fn input(&self, part: PartId) -> Result<Input> {
        if let Some(place) = self.places.get(&part) {
            return Ok(Input::ReadAgain(place.clone()));
        }
        let (sources, codec) = self.sources(part.task)?;
        let (bucket, batch_rows) = (part.part, self.setting.batch_rows);
        Ok(Input::Left(Box::new(move || Merge::open(sources, bucket, codec, batch_rows))))
    }

    /// What has been left for a task, edge by edge.
    fn sources(&self, task: usize) -> Result<(Vec<Source>, Option<Codec>)> {
        let (mut sources, mut codec) = (vec![], None);
        for (from, of) in self.graph.tasks.iter().enumerate().take(task) {
            for (edge, spec) in of.edges.iter().enumerate().filter(|(_, edge)| edge.to_task == task) {
                if let Partitioning::Elements(keys) = &spec.partitioning {
                    codec = Some(Arc::clone(keys) as Codec);
                }
                let for_all = matches!(spec.partitioning, Partitioning::Broadcast);
                for part in (0..self.parts[from]).map(|part| PartId { task: from, part }) {
                    let left = self.shuffle.get(part).ok_or_else(|| Error::internal("a part is not done"))?;
                    sources.push(Source { part, left, edge, for_all });
                }
            }
        }
        Ok((sources, codec))
    }

    /// An attempt at a part, which keeps the thread that makes it: a program may be busy for long, and the run's own threads
    /// must go on looking at clocks and sockets.
    fn attempt(&self, part: PartId, input: Input) -> impl FnOnce() -> Result<Done, Failure> + Send + 'static {
        let (graph, setting) = (Arc::clone(&self.graph), self.setting.clone());
        let edges = graph.tasks[part.task].edges.iter().map(|edge| match graph.tasks[edge.to_task].head {
            Head::Sink(_) => None,
            // One copy is enough.
            _ if matches!(edge.partitioning, Partitioning::Broadcast) => Some((edge.partitioning.clone(), 1)),
            _ => Some((edge.partitioning.clone(), self.parts[edge.to_task])),
        });
        let writer = PartWriter::new(Arc::clone(&self.shuffle), edges.collect());
        let runtime = Handle::current();
        move || {
            let attempt = || runtime.block_on(attempt(&graph.tasks[part.task], input, writer, &setting));
            let (attempted, tally) = tallied(|| catch_unwind(AssertUnwindSafe(attempt)));
            let attempted = attempted.unwrap_or_else(|panic| Err(Failure::Failed(panicked(panic.as_ref()))));
            attempted.map(|written| (written, tally))
        }
    }
}

fn lost_attempt(error: JoinError) -> Error {
    Error::internal(format!("an attempt is lost: {error}"))
}

/// How many parts a task has, where that is known before it begins.
fn parts_of(graph: &JobGraph, task: usize) -> usize {
    let mut into = graph.tasks.iter().flat_map(|task| &task.edges).filter(|edge| edge.to_task == task);
    match &graph.tasks[task].head {
        Head::Edges if into.all(|edge| matches!(edge.partitioning, Partitioning::Gather)) => 1,
        Head::Edges => BUCKETS,
        Head::Source(..) | Head::Sink(_) => 0,
    }
}

/// The next split, and those behind it. It may take longer than the run can wait for it without looking at others.
type Reading = BoxFuture<'static, (Splits, Result<Option<Split>>)>;

fn read(mut splits: Splits) -> Reading {
    async move {
        let next = splits.next().await;
        (splits, next)
    }
    .boxed()
}

async fn next_split(reading: &mut Option<Reading>) -> (Splits, Result<Option<Split>>) {
    match reading {
        Some(reading) => reading.await,
        None => pending().await,
    }
}

/// What a program's own code does is an error already: this is ours.
fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    Error::internal(format!("a task panicked: {}", text.unwrap_or("no message")))
}
