//! Runs a graph: spawns its tasks, starts epochs, commits sinks, and tells how it ended.

mod durability;
mod epochs;
mod stalls;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tidemill_core::{Epoch, Error, ErrorKind, Result};
use tidemill_state::State;
use tidemill_state::checkpoint::Owner;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::connector::{ScanRequest, Sink};
use crate::exchange::{EdgeSender, Gate, Inbox, Outbox, channel};
use crate::graph::{Head, JobGraph, SourceSpec, TaskSpec};
use crate::metrics::{Metrics, SourceMetrics, count};
use crate::task::chain::Chain;
use crate::task::sink::Command;
use crate::task::source::{Clocks, Reached, Resumed, SourcePlan, Worker};
use crate::task::{Progress, Reporter, process, sink, source};
pub use durability::Durability;
use durability::{Checkpoints, node_owner, sink_owner, source_owner};
use epochs::{Action, Epochs, Event};
pub use stalls::{Stall, StallCause};
use stalls::{Stalls, Standing};

/// How to run a graph.
#[derive(Debug)]
pub struct RunOptions {
    /// How many rows an operator is given at once.
    pub batch_rows: usize,
    /// How often sinks commit; `None` means once, at the end.
    pub epoch_interval: Option<Duration>,
    /// Whether sources that can grow are followed; else the input is what is there at the start.
    pub follow: bool,
    /// How long a source must give nothing before those that it meets go on without it; `None`: they wait.
    pub idle_timeout: Option<Duration>,
    /// Who hears of a watermark that stands still while windows wait for it; `None`: nobody.
    pub stalls: Option<StallListener>,
    /// Where each epoch's checkpoint is kept, and what to go on from; `None`: nothing is kept.
    pub durability: Option<Durability>,
}

/// Hears of watermarks that stand still.
#[derive(Clone)]
pub struct StallListener {
    /// How long one may stand before that is told the first time; the wait doubles from then on.
    pub after: Duration,
    /// Is told.
    pub tell: Arc<dyn Fn(&Stall) + Send + Sync>,
}

impl fmt::Debug for StallListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StallListener").field("after", &self.after).finish_non_exhaustive()
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// The run was stopped before its input ended: windows that were open have not fired.
    pub stopped: bool,
    /// The job had come to its end before: nothing was left to do.
    pub was_finished: bool,
    /// What was counted.
    pub metrics: Metrics,
}

/// Runs until the input ends, `stop` completes, or something fails.
///
/// On an error nothing that was not committed is left behind by the sinks; where checkpoints are kept it stays, hidden,
/// and a later run goes on from the last checkpoint.
pub async fn run(graph: JobGraph, options: RunOptions, stop: impl Future<Output = ()>) -> Result<Outcome> {
    let run = Settings::of(&options);
    let RunOptions { epoch_interval, durability, stalls, .. } = options;
    let (mut checkpoints, restored) = Checkpoints::open(durability).await?;
    let mut job = Job::new(checkpoints.is_durable(), checkpoints.epoch(), restored);
    let (line, mut progress) = mpsc::unbounded_channel();
    let sinks = job.open_sinks(&graph).await?;
    if checkpoints.finished() {
        return Ok(Outcome { stopped: false, was_finished: true, metrics: graph.metrics });
    }
    checkpoints.begin(&sinks).await?;
    job.spawn(&graph, &run, sinks, &line)?;
    drop(line);

    let mut epochs = Epochs::new(&job.sinks_among_subtasks(), checkpoints.is_durable(), checkpoints.epoch());
    let mut ticks = epoch_interval.map(|period| {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.reset();
        ticks
    });
    let windowed = graph.metrics.windows.values().any(|windows| !windows.is_empty());
    let mut looks = stalls.filter(|_| windowed).map(Looks::new);
    let mut failure: Option<Error> = None;
    let mut stopped = false;
    let mut stop = std::pin::pin!(stop);
    loop {
        let event = tokio::select! {
            Some(report) = progress.recv() => Some(job.reported(report, &epochs, &mut checkpoints)),
            Some(result) = job.tasks.join_next() => {
                let error = match result {
                    Ok(Ok(())) => None,
                    Ok(Err(error)) => Some(error),
                    Err(join) => panic_message(join),
                };
                if let Some(error) = error {
                    job.fail(error, &mut failure);
                }
                None
            },
            stored = checkpoints.stored() => match stored {
                Ok(epoch) => Some(Event::Stored(epoch)),
                Err(error) => {
                    job.fail(error, &mut failure);
                    None
                }
            },
            () = &mut stop, if !stopped => {
                stopped = true;
                Some(Event::Stop)
            },
            () = tick(&mut ticks), if !stopped => Some(Event::Tick),
            () = Looks::next(&mut looks), if !stopped && failure.is_none() => {
                if let Some(looks) = &mut looks {
                    looks.look(&job.standings(&graph));
                }
                None
            },
        };
        if failure.is_none()
            && let Some(event) = event
        {
            for action in epochs.on(event) {
                if let Err(error) = job.act(action, stopped, &mut checkpoints) {
                    job.fail(error, &mut failure);
                }
            }
        }
        if job.tasks.is_empty() {
            break;
        }
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(Outcome { stopped, was_finished: false, metrics: graph.metrics }),
    }
}

/// What all tasks are told.
#[derive(Clone, Copy)]
struct Settings {
    batch_rows: usize,
    follow: bool,
    idle_timeout: Option<Duration>,
}

impl Settings {
    fn of(options: &RunOptions) -> Self {
        let RunOptions { batch_rows, follow, idle_timeout, .. } = *options;
        Self { batch_rows, follow, idle_timeout }
    }
}

async fn tick(ticks: &mut Option<Interval>) {
    match ticks {
        Some(ticks) => {
            ticks.tick().await;
        }
        None => std::future::pending().await,
    }
}

/// Looks at the sources now and then.
struct Looks {
    stalls: Stalls,
    ticks: Interval,
    tell: Arc<dyn Fn(&Stall) + Send + Sync>,
}

impl Looks {
    /// The parts of the wait that a stall may be told too late.
    const PARTS: u32 = 10;

    fn new(listener: StallListener) -> Self {
        let mut ticks = interval((listener.after / Self::PARTS).max(Duration::from_millis(1)));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { stalls: Stalls::new(listener.after), ticks, tell: listener.tell }
    }

    async fn next(looks: &mut Option<Self>) {
        match looks {
            Some(looks) => drop(looks.ticks.tick().await),
            None => std::future::pending().await,
        }
    }

    fn look(&mut self, standings: &[Standing]) {
        self.stalls.look(Instant::now(), standings).iter().for_each(|stall| (self.tell)(stall));
    }
}

fn panic_message(join: tokio::task::JoinError) -> Option<Error> {
    let payload = join.try_into_panic().ok()?;
    let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
    Some(
        Error::internal(format!("a task panicked: {}", text.unwrap_or("no message")))
            .hint("this is a bug in Tidemill; please report it with the SQL file"),
    )
}

struct Job {
    tasks: JoinSet<Result<()>>,
    /// By task, those that are sources.
    sources: Vec<(usize, Arc<SourcePlan>)>,
    /// By subtask, the line to those that are sinks.
    sinks: BTreeMap<usize, mpsc::UnboundedSender<Command>>,
    /// Of each subtask, whose its state is.
    owners: Vec<Vec<Owner>>,
    /// Tasks look at this between steps that may be many.
    stopped: Arc<AtomicBool>,
    durable: bool,
    /// The last epoch of the run that this one continues.
    first: Epoch,
    /// What that run has left.
    restored: BTreeMap<Owner, State>,
}

/// The sinks, by task.
type Sinks = BTreeMap<usize, Box<dyn Sink>>;

impl Job {
    fn new(durable: bool, first: Epoch, restored: BTreeMap<Owner, State>) -> Self {
        Self {
            tasks: JoinSet::new(),
            sources: vec![],
            sinks: BTreeMap::new(),
            owners: vec![],
            stopped: Arc::default(),
            durable,
            first,
            restored,
        }
    }

    /// Opens the sinks, and lets each finish what the run before has left.
    async fn open_sinks(&mut self, graph: &JobGraph) -> Result<Sinks> {
        let mut sinks = Sinks::new();
        for (number, task) in graph.tasks.iter().enumerate() {
            let Head::Sink(factory) = &task.head else { continue };
            let mut sink = factory.open()?;
            if let Some(state) = self.restored.remove(&sink_owner(number)) {
                sink::recover(sink.as_mut(), state).await?;
            }
            sinks.insert(number, sink);
        }
        Ok(sinks)
    }

    fn sinks_among_subtasks(&self) -> Vec<bool> {
        (0..self.owners.len()).map(|subtask| self.sinks.contains_key(&subtask)).collect()
    }

    /// Keeps what a subtask says of its state, and passes on that it has got so far.
    fn reported(&self, report: Progress, epochs: &Epochs, checkpoints: &mut Checkpoints) -> Event {
        match report {
            Progress::Passed { subtask, epoch, changes } => {
                checkpoints.add(&self.owners[subtask], changes, false);
                Event::Passed(subtask, epoch)
            }
            Progress::Ended { subtask, changes } => {
                checkpoints.add(&self.owners[subtask], changes, epochs.is_behind(subtask));
                Event::Ended(subtask)
            }
            Progress::Committed { subtask, epoch, changes } => {
                checkpoints.add(&self.owners[subtask], changes, false);
                Event::Committed(subtask, epoch)
            }
        }
    }

    fn act(&self, action: Action, stopped: bool, checkpoints: &mut Checkpoints) -> Result<()> {
        match action {
            Action::Begin(epoch) => self.sources.iter().for_each(|(_, plan)| plan.begin_epoch(epoch)),
            Action::BeginLast(epoch) => {
                self.stopped.store(true, Ordering::Relaxed);
                self.sources.iter().for_each(|(_, plan)| plan.begin_last_epoch(epoch));
            }
            Action::StopSources => self.stop(),
            Action::Prepare(subtask, epoch) => self.tell_sink(subtask, Command::Prepare(epoch)),
            Action::Store { epoch, finished, closing } => {
                if self.durable && !closing {
                    for (task, plan) in &self.sources {
                        checkpoints.add(&[source_owner(*task)], vec![plan.snapshot(epoch)?], false);
                    }
                }
                checkpoints.store(epoch, finished, closing);
            }
            Action::Commit(epoch) => self.tell_sinks(Command::Commit(epoch)),
            Action::Close if self.durable && stopped => self.tell_sinks(Command::Discard),
            Action::Close => self.tell_sinks(Command::Close),
        }
        Ok(())
    }

    /// Something has failed: the first cause is what the user hears.
    fn fail(&self, error: Error, failure: &mut Option<Error>) {
        if failure.is_none() {
            self.stop();
            self.tell_sinks(if self.durable { Command::Leave } else { Command::Abort });
        }
        // A task whose neighbour failed says that it is closed: that is an echo.
        if failure.as_ref().is_none_or(|f| f.kind() == ErrorKind::Closed) {
            *failure = Some(error);
        }
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.sources.iter().for_each(|(_, plan)| plan.stop());
    }

    fn tell_sinks(&self, command: Command) {
        self.sinks.keys().for_each(|subtask| self.tell_sink(*subtask, command));
    }

    fn tell_sink(&self, subtask: usize, command: Command) {
        if let Some(sink) = self.sinks.get(&subtask) {
            // A sink that has stopped has failed, and the job knows.
            let _ = sink.send(command);
        }
    }

    /// Where the sources with event time stand, in the order of their tasks.
    fn standings(&self, graph: &JobGraph) -> Vec<Standing> {
        let sources = graph.tasks.iter().filter_map(|task| match &task.head {
            Head::Source(spec, metrics) => Some((spec, metrics)),
            _ => None,
        });
        let timed = self.sources.iter().map(|(_, plan)| plan).zip(sources);
        let timed = timed.filter(|(_, (spec, _))| spec.event_time.is_some());
        let standing = |(plan, (spec, metrics)): (&Arc<SourcePlan>, (&SourceSpec, &Arc<SourceMetrics>))| {
            let Reached { watermark, partition, ended } = plan.reached();
            Standing { table: Arc::clone(&spec.table), watermark, partition, rows: count(&metrics.rows), ended }
        };
        timed.map(standing).collect()
    }

    fn spawn(
        &mut self,
        graph: &JobGraph,
        run: &Settings,
        mut sinks: Sinks,
        line: &mpsc::UnboundedSender<Progress>,
    ) -> Result<()> {
        let mut wires = Wires::new(graph);
        let clocks = run.idle_timeout.map(|_| clocks_of(graph)).unwrap_or_default();
        // Everything that can fail is made before anything runs.
        let mut ready: Vec<(Arc<str>, BoxFuture<'static, Result<()>>)> = vec![];
        for (index, task) in graph.tasks.iter().enumerate() {
            let plan = self.source_plan(index, task, clocks.get(&index))?;
            if let (Head::Source(spec, _), Some((plan, resumed))) = (&task.head, &plan) {
                self.sources.push((index, Arc::clone(plan)));
                let read = reader(spec.clone(), *run, Arc::clone(plan), resumed.clone());
                ready.push((Arc::clone(&task.name), Box::pin(read)));
            }
            for subtask in 0..task.parallelism {
                let reporter = Reporter { subtask: self.owners.len(), line: line.clone() };
                let gate = Gate::new(wires.inboxes(index, subtask));
                let edges = wires.edges(graph, index);
                let owners: Vec<Owner> = match &task.head {
                    Head::Sink(_) => vec![sink_owner(index)],
                    _ => (0..task.nodes.len()).map(|node| node_owner(index, subtask, node)).collect(),
                };
                let states = owners.iter().map(|owner| self.restored.remove(owner).unwrap_or_default()).collect();
                let task_loop: BoxFuture<'static, Result<()>> = match (&task.head, &plan) {
                    (Head::Source(spec, metrics), Some((plan, _))) => {
                        let chain = self.chain(task, edges, states)?;
                        let (batch_rows, first) = (run.batch_rows.max(1), self.first);
                        let (spec, plan, metrics) = (spec.clone(), Arc::clone(plan), Arc::clone(metrics));
                        Box::pin(source::work(Worker { spec, plan, chain, metrics, batch_rows, first, reporter }))
                    }
                    (Head::Source(..), None) => return Err(Error::internal("a source has no plan")),
                    (Head::Edges, _) => Box::pin(process::run(gate, self.chain(task, edges, states)?, reporter)),
                    (Head::Sink(_), _) => {
                        let (commands, inbox) = mpsc::unbounded_channel();
                        self.sinks.insert(reporter.subtask, commands);
                        let sink = sinks.remove(&index).ok_or_else(|| Error::internal("a sink is not open"))?;
                        Box::pin(sink::run(sink, gate, inbox, reporter, self.durable))
                    }
                };
                self.owners.push(owners);
                ready.push((Arc::clone(&task.name), task_loop));
            }
        }
        for (name, task) in ready {
            self.tasks.spawn(async move {
                task.await.map_err(|e| if e.kind() == ErrorKind::Internal { e.context(name) } else { e })
            });
        }
        Ok(())
    }

    /// Of a source: what its reader and its subtasks share, and what an earlier run has read.
    fn source_plan(
        &mut self,
        index: usize,
        task: &TaskSpec,
        clocks: Option<&Arc<Clocks>>,
    ) -> Result<Option<(Arc<SourcePlan>, Resumed)>> {
        let Head::Source(spec, _) = &task.head else { return Ok(None) };
        let resumed = match self.restored.remove(&source_owner(index)) {
            Some(state) => Resumed::from_state(state).map_err(|e| e.context(Arc::clone(&task.name)))?,
            None => Resumed::default(),
        };
        let in_turn = spec.event_time.is_none();
        let plan = SourcePlan::new(task.parallelism, in_turn, clocks, resumed.clone(), self.first);
        Ok(Some((Arc::new(plan), resumed)))
    }

    fn chain(&self, task: &TaskSpec, edges: Vec<EdgeSender>, states: Vec<State>) -> Result<Chain> {
        let chain = Chain::new(task, edges, Arc::clone(&self.stopped))?;
        if self.durable { chain.durable(states) } else { Ok(chain) }
    }
}

/// By source task: the clocks of the sources whose rows meet in an operator.
fn clocks_of(graph: &JobGraph) -> HashMap<usize, Arc<Clocks>> {
    let mut all: HashMap<usize, Arc<Clocks>> = HashMap::new();
    for meeting in graph.meeting_sources() {
        let clocks = Arc::new(Clocks::default());
        all.extend(meeting.into_iter().map(|task| (task, Arc::clone(&clocks))));
    }
    all
}

async fn reader(spec: SourceSpec, run: Settings, plan: Arc<SourcePlan>, resumed: Resumed) -> Result<()> {
    let request = ScanRequest {
        columns: Arc::clone(&spec.decoded),
        batch_rows: run.batch_rows,
        keep_rejected: spec.keep_rejected,
        follow: run.follow,
        resume: resumed.read,
    };
    source::read(spec.source.as_ref(), &request, &plan, run.idle_timeout).await
}

/// The channels between all subtasks.
struct Wires {
    /// By task, subtask and slot: the receiving ends.
    inboxes: Vec<Vec<Vec<Vec<Inbox>>>>,
}

impl Wires {
    fn new(graph: &JobGraph) -> Self {
        let slots = |task: &crate::graph::TaskSpec| (0..task.head_targets.len()).map(|_| vec![]).collect();
        Self { inboxes: graph.tasks.iter().map(|t| (0..t.parallelism).map(|_| slots(t)).collect()).collect() }
    }

    /// The sending ends of one subtask's edges. Edges lead to tasks that are made later.
    fn edges(&mut self, graph: &JobGraph, task: usize) -> Vec<EdgeSender> {
        let edges = graph.tasks[task].edges.iter();
        edges
            .map(|edge| {
                let outboxes: Vec<Outbox> = self.inboxes[edge.to_task]
                    .iter_mut()
                    .map(|slots| {
                        let (outbox, inbox) = channel();
                        slots[edge.to_slot].push(inbox);
                        outbox
                    })
                    .collect();
                EdgeSender::new(edge.partitioning.clone(), outboxes)
            })
            .collect()
    }

    fn inboxes(&mut self, task: usize, subtask: usize) -> Vec<Vec<Inbox>> {
        std::mem::take(&mut self.inboxes[task][subtask])
    }
}
