//! Runs a graph: spawns its tasks, starts epochs, commits sinks, and tells how it ended.

mod epochs;
mod stalls;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tidemill_core::{Error, ErrorKind, Result};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::connector::ScanRequest;
use crate::exchange::{EdgeSender, Gate, Inbox, Outbox, channel};
use crate::graph::{Head, JobGraph, SourceSpec};
use crate::metrics::{Metrics, SourceMetrics, count};
use crate::task::chain::Chain;
use crate::task::sink::Command;
use crate::task::source::{Clocks, Reached, SourcePlan, Worker};
use crate::task::{Progress, Reporter, process, sink, source};
use epochs::Epochs;
pub use stalls::{Stall, StallCause};
use stalls::{Stalls, Standing};

/// How to run a graph.
#[derive(Debug, Clone)]
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
    /// What was counted.
    pub metrics: Metrics,
}

/// Runs until the input ends, `stop` completes, or something fails.
///
/// On an error nothing that was not committed is left behind by the sinks.
pub async fn run(graph: JobGraph, options: RunOptions, stop: impl Future<Output = ()>) -> Result<Outcome> {
    let (line, mut progress) = mpsc::unbounded_channel();
    let stopped = Arc::default();
    let mut job = Job { tasks: JoinSet::new(), sources: vec![], sinks: vec![], subtasks: 0, stopped };
    job.spawn(&graph, &options, &line)?;
    drop(line);

    let mut epochs = Epochs::new(job.subtasks);
    let mut ticks = options.epoch_interval.map(|period| {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.reset();
        ticks
    });
    let windowed = graph.metrics.windows.values().any(|windows| !windows.is_empty());
    let mut looks = options.stalls.filter(|_| windowed).map(Looks::new);
    let mut failure: Option<Error> = None;
    let mut stopped = false;
    let mut stop = std::pin::pin!(stop);
    loop {
        tokio::select! {
            Some(event) = progress.recv() => match event {
                Progress::Passed { subtask, epoch } => {
                    if epochs.passed(subtask, epoch) {
                        job.tell_sinks(Command::Commit(epoch));
                    }
                }
                Progress::Ended { subtask } => {
                    if epochs.ended(subtask) {
                        job.tell_sinks(Command::Finish(epochs.last()));
                    }
                }
            },
            Some(result) = job.tasks.join_next() => {
                let error = match result {
                    Ok(Ok(())) => None,
                    Ok(Err(error)) => Some(error),
                    Err(join) => panic_message(join),
                };
                if let Some(error) = error {
                    if failure.is_none() {
                        job.stop();
                        job.tell_sinks(Command::Abort);
                    }
                    // A task whose neighbour failed says that it is closed: that is an echo.
                    if failure.as_ref().is_none_or(|f| f.kind() == ErrorKind::Closed) {
                        failure = Some(error);
                    }
                }
            },
            () = &mut stop, if !stopped => {
                stopped = true;
                job.stop();
            },
            () = tick(&mut ticks), if !stopped && failure.is_none() => {
                if let Some(epoch) = epochs.begin() {
                    job.sources.iter().for_each(|plan| plan.begin_epoch(epoch));
                }
            },
            () = Looks::next(&mut looks), if !stopped && failure.is_none() => {
                if let Some(looks) = &mut looks {
                    looks.look(&job.standings(&graph));
                }
            },
            else => break,
        }
        if job.tasks.is_empty() {
            break;
        }
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(Outcome { stopped, metrics: graph.metrics }),
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
    sources: Vec<Arc<SourcePlan>>,
    sinks: Vec<mpsc::UnboundedSender<Command>>,
    subtasks: usize,
    /// Tasks look at this between steps that may be many.
    stopped: Arc<AtomicBool>,
}

impl Job {
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.sources.iter().for_each(|plan| plan.stop());
    }

    fn tell_sinks(&self, command: Command) {
        for sink in &self.sinks {
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
        let timed = self.sources.iter().zip(sources).filter(|(_, (spec, _))| spec.event_time.is_some());
        let standing = |(plan, (spec, metrics)): (&Arc<SourcePlan>, (&SourceSpec, &Arc<SourceMetrics>))| {
            let Reached { watermark, partition, ended } = plan.reached();
            Standing { table: Arc::clone(&spec.table), watermark, partition, rows: count(&metrics.rows), ended }
        };
        timed.map(standing).collect()
    }

    fn spawn(&mut self, graph: &JobGraph, options: &RunOptions, line: &mpsc::UnboundedSender<Progress>) -> Result<()> {
        let mut wires = Wires::new(graph);
        let clocks = options.idle_timeout.map(|_| clocks_of(graph)).unwrap_or_default();
        // Everything that can fail is made before anything runs.
        let mut ready: Vec<(Arc<str>, BoxFuture<'static, Result<()>>)> = vec![];
        for (index, task) in graph.tasks.iter().enumerate() {
            let in_turn = matches!(&task.head, Head::Source(spec, _) if spec.event_time.is_none());
            let plan = Arc::new(SourcePlan::new(task.parallelism, in_turn, clocks.get(&index)));
            if let Head::Source(spec, _) = &task.head {
                self.sources.push(Arc::clone(&plan));
                ready
                    .push((Arc::clone(&task.name), Box::pin(reader(spec.clone(), options.clone(), Arc::clone(&plan)))));
            }
            for subtask in 0..task.parallelism {
                let reporter = Reporter { subtask: self.subtasks, line: line.clone() };
                self.subtasks += 1;
                let gate = Gate::new(wires.inboxes(index, subtask));
                let edges = wires.edges(graph, index);
                match &task.head {
                    Head::Source(spec, metrics) => {
                        let chain = Chain::new(task, edges, Arc::clone(&self.stopped))?;
                        let worker = worker(spec, metrics, &plan, chain, options, reporter);
                        ready.push((Arc::clone(&task.name), Box::pin(source::work(worker))));
                    }
                    Head::Edges => ready.push((
                        Arc::clone(&task.name),
                        Box::pin(process::run(gate, Chain::new(task, edges, Arc::clone(&self.stopped))?, reporter)),
                    )),
                    Head::Sink(factory) => {
                        let (commands, inbox) = mpsc::unbounded_channel();
                        self.sinks.push(commands);
                        ready.push((
                            Arc::clone(&task.name),
                            Box::pin(sink::run(factory.open()?, gate, inbox, reporter)),
                        ));
                    }
                }
            }
        }
        for (name, task) in ready {
            self.tasks.spawn(async move {
                task.await.map_err(|e| if e.kind() == ErrorKind::Internal { e.context(name) } else { e })
            });
        }
        Ok(())
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

async fn reader(spec: SourceSpec, options: RunOptions, plan: Arc<SourcePlan>) -> Result<()> {
    let RunOptions { batch_rows, follow, idle_timeout, .. } = options;
    let request =
        ScanRequest { columns: Arc::clone(&spec.decoded), batch_rows, keep_rejected: spec.keep_rejected, follow };
    source::read(spec.source.as_ref(), &request, &plan, idle_timeout).await
}

fn worker(
    spec: &SourceSpec,
    metrics: &Arc<SourceMetrics>,
    plan: &Arc<SourcePlan>,
    chain: Chain,
    options: &RunOptions,
    reporter: Reporter,
) -> Worker {
    Worker {
        spec: spec.clone(),
        plan: Arc::clone(plan),
        chain,
        metrics: Arc::clone(metrics),
        batch_rows: options.batch_rows.max(1),
        reporter,
    }
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
