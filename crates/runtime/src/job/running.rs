//! The tasks of a run: what they are made of, what they report, and what they are told.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures::future::{BoxFuture, OptionFuture, try_join_all};
use tidemill_core::{Epoch, Error, ErrorKind, Result};
use tidemill_state::State;
use tidemill_state::checkpoint::Owner;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet, spawn_blocking};

use super::Settings;
use super::durability::Checkpoints;
use super::epochs::{Action, Epochs, Event};
use super::owner::{node_owner, sink_owner, source_owner};
use super::stalls::Standing;
use super::wires::{Wires, clocks_of};
use crate::clock::{Clock, JobClock};
use crate::connector::{ScanRequest, Sink};
use crate::exchange::{EdgeSender, Gate};
use crate::graph::{Head, JobGraph, SourceSpec, TaskSpec};
use crate::key_groups::Spill;
use crate::metrics::{SourceMetrics, count};
use crate::task::chain::Chain;
use crate::task::ending::Ending;
use crate::task::sink::Command;
use crate::task::source::{Clocks, Reached, Resumed, SourcePlan, Worker};
use crate::task::{Progress, Reporter, process, sink, source};

/// The tasks of a run, and the lines to them.
pub(super) struct Job {
    pub(super) tasks: JoinSet<Result<()>>,
    /// What reads for the sources. A run that is stopped waits for none: one may hang in a request.
    pub(super) readers: JoinSet<Result<()>>,
    /// By task, those that are sources.
    sources: Vec<(usize, Arc<SourcePlan>)>,
    /// By subtask, the line to those that are sinks.
    sinks: BTreeMap<usize, mpsc::UnboundedSender<Command>>,
    /// Of each subtask, whose its state is.
    owners: Vec<Vec<Owner>>,
    /// Tasks look at this where they would wait, or have many steps to do.
    ending: watch::Sender<Ending>,
    durable: bool,
    /// The last epoch of the run that this one continues.
    first: Epoch,
    /// What that run has left.
    restored: BTreeMap<Owner, State>,
    clock: Arc<JobClock>,
}

/// The sinks, by task.
pub(super) type Sinks = BTreeMap<usize, Box<dyn Sink>>;

impl Job {
    pub(super) fn new(durable: bool, first: Epoch, restored: BTreeMap<Owner, State>, clock: Arc<dyn Clock>) -> Self {
        Self {
            tasks: JoinSet::new(),
            readers: JoinSet::new(),
            sources: vec![],
            sinks: BTreeMap::new(),
            owners: vec![],
            ending: watch::Sender::default(),
            durable,
            first,
            restored,
            clock: Arc::new(JobClock::new(clock)),
        }
    }

    /// Opens the sinks, and lets each finish what the run before has left, or what the savepoint's job has.
    pub(super) async fn open_sinks(&mut self, graph: &JobGraph, begins_from_savepoint: bool) -> Result<Sinks> {
        let mut sinks = Sinks::new();
        for (number, task) in graph.tasks.iter().enumerate() {
            let Head::Sink(factory) = &task.head else { continue };
            let mut sink = factory.open()?;
            if let Some(state) = self.restored.remove(&sink_owner(number)) {
                match begins_from_savepoint {
                    true => sink::adopt(sink.as_mut(), state).await?,
                    false => sink::recover(sink.as_mut(), state).await?,
                }
            }
            sinks.insert(number, sink);
        }
        Ok(sinks)
    }

    pub(super) fn sinks_among_subtasks(&self) -> Vec<bool> {
        (0..self.owners.len()).map(|subtask| self.sinks.contains_key(&subtask)).collect()
    }

    /// Keeps what a subtask says of its state, and passes on that it has got so far.
    pub(super) fn reported(&self, report: Progress, epochs: &Epochs, checkpoints: &mut Checkpoints) -> Event {
        match report {
            Progress::Passed { subtask, epoch, changes, pause } => {
                checkpoints.add(&self.owners[subtask], changes, false);
                checkpoints.paused(pause);
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

    pub(super) fn act(&self, action: Action, stopped: bool, checkpoints: &mut Checkpoints) -> Result<()> {
        match action {
            Action::Begin(epoch) => self.sources.iter().for_each(|(_, plan)| plan.begin_epoch(epoch)),
            Action::BeginLast(epoch) => {
                self.ends(Ending::Stopped);
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
            // Who has asked for a savepoint is the run's business.
            Action::Complete(_) => {}
            Action::Close if self.durable && stopped => self.tell_sinks(Command::Discard),
            Action::Close => self.tell_sinks(Command::Close),
        }
        Ok(())
    }

    /// Something has failed: the first cause is what the user hears.
    pub(super) fn fail(&self, error: Error, failure: &mut Option<Error>) {
        if failure.is_none() {
            self.ends(Ending::Failed);
            self.stop();
            self.tell_sinks(if self.durable { Command::Leave } else { Command::Abort });
        }
        // A task whose neighbour failed says that it is closed: that is an echo.
        if failure.as_ref().is_none_or(|f| f.kind() == ErrorKind::Closed) {
            *failure = Some(error);
        }
    }

    /// A task has ended: well, with an error, or by a panic.
    pub(super) fn ended(&self, result: std::result::Result<Result<()>, JoinError>, failure: &mut Option<Error>) {
        let error = match result {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error),
            Err(join) => panic_message(join),
        };
        if let Some(error) = error {
            self.fail(error, failure);
        }
    }

    /// Tells tasks that the run ends before its input does.
    pub(super) fn ends(&self, ending: Ending) {
        self.ending.send_if_modified(|told| std::mem::replace(told, ending.max(*told)) < ending);
    }

    fn stop(&self) {
        self.ends(Ending::Stopped);
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
    pub(super) fn standings(&self, graph: &JobGraph) -> Vec<Standing> {
        let sources = graph.tasks.iter().filter_map(|task| match &task.head {
            Head::Source(spec, metrics) => Some((spec, metrics)),
            _ => None,
        });
        let timed = self.sources.iter().map(|(_, plan)| plan).zip(sources);
        let timed = timed.filter(|(_, (spec, _))| spec.has_event_time());
        let standing = |(plan, (spec, metrics)): (&Arc<SourcePlan>, (&SourceSpec, &Arc<SourceMetrics>))| {
            let Reached { watermark, partition, ended } = plan.reached();
            Standing { table: Arc::clone(&spec.table), watermark, partition, rows: count(&metrics.rows), ended }
        };
        timed.map(standing).collect()
    }

    /// Starts all tasks, each from what the run before has left of it.
    pub(super) async fn spawn(
        &mut self,
        graph: &JobGraph,
        run: &Settings,
        mut sinks: Sinks,
        line: &mpsc::UnboundedSender<Progress>,
    ) -> Result<()> {
        let some_idle = run.idle_timeout.is_some() || graph.some_source_idles();
        let clocks = if some_idle { clocks_of(graph) } else { HashMap::new() };
        // Everything that can fail is made before anything runs.
        let mut wired = self.wired(graph).await?.into_iter();
        let mut ready: Vec<(Arc<str>, BoxFuture<'static, Result<()>>)> = vec![];
        let mut readers: Vec<(Arc<str>, BoxFuture<'static, Result<()>>)> = vec![];
        for (index, task) in graph.tasks.iter().enumerate() {
            let plan = self.source_plan(index, task, clocks.get(&index))?;
            if let (Head::Source(spec, _), Some((plan, resumed))) = (&task.head, &plan) {
                self.sources.push((index, Arc::clone(plan)));
                let read = reader(spec.clone(), *run, Arc::clone(plan), resumed.clone());
                readers.push((Arc::clone(&task.name), Box::pin(read)));
            }
            for Wired { subtask, gate, chain } in wired.by_ref().take(task.parallelism) {
                let reporter = Reporter { subtask, line: line.clone() };
                let task_loop: BoxFuture<'static, Result<()>> = match (&task.head, &plan, chain) {
                    (Head::Source(spec, metrics), Some((plan, _)), Some(chain)) => {
                        let (batch_rows, first) = (run.batch_rows.max(1), self.first);
                        let (spec, plan, metrics) = (spec.clone(), Arc::clone(plan), Arc::clone(metrics));
                        let clock = Arc::clone(&self.clock);
                        let worker = Worker { spec, plan, chain, metrics, batch_rows, first, reporter, clock };
                        Box::pin(source::work(worker))
                    }
                    (Head::Edges, _, Some(chain)) => Box::pin(process::run(gate, chain, reporter)),
                    (Head::Sink(_), _, _) => {
                        let (commands, inbox) = mpsc::unbounded_channel();
                        self.sinks.insert(reporter.subtask, commands);
                        let sink = sinks.remove(&index).ok_or_else(|| Error::internal("a sink is not open"))?;
                        Box::pin(sink::run(sink, gate, inbox, reporter, self.durable))
                    }
                    _ => return Err(Error::internal("a task has no operators, or a source no plan")),
                };
                ready.push((Arc::clone(&task.name), task_loop));
            }
        }
        for (set, ready) in [(&mut self.tasks, ready), (&mut self.readers, readers)] {
            for (name, task) in ready {
                set.spawn(async move {
                    task.await.map_err(|e| if e.kind() == ErrorKind::Internal { e.context(name) } else { e })
                });
            }
        }
        Ok(())
    }

    /// The operators of all subtasks, task by task, with what the run before has left of their state, and their channels.
    async fn wired(&mut self, graph: &JobGraph) -> Result<Vec<Wired>> {
        let mut wires = Wires::new(graph);
        let (mut gates, mut chains) = (vec![], vec![]);
        for (index, task) in graph.tasks.iter().enumerate() {
            for subtask in 0..task.parallelism {
                gates.push(Gate::new(wires.inboxes(index, subtask)));
                let edges = wires.edges(graph, index);
                let owners: Vec<Owner> = match &task.head {
                    Head::Sink(_) => vec![sink_owner(index)],
                    _ => (0..task.nodes.len()).map(|node| node_owner(index, subtask, node)).collect(),
                };
                let states: Vec<State> =
                    owners.iter().map(|owner| self.restored.remove(owner).unwrap_or_default()).collect();
                self.owners.push(owners);
                chains.push(match &task.head {
                    Head::Sink(_) => None,
                    _ => Some((self.chain(task, graph.spill.as_ref(), edges)?, states)),
                });
            }
        }
        let chains = if self.durable { restored(chains).await? } else { without_state(chains) };
        let wired = gates.into_iter().zip(chains).enumerate();
        Ok(wired.map(|(subtask, (gate, chain))| Wired { subtask, gate, chain }).collect())
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
        let in_turn = !spec.has_event_time();
        // One without event time never says how far it has come.
        let clocks = clocks.filter(|_| spec.has_event_time() && !spec.processing_time);
        if spec.processing_time {
            self.clock.passes(resumed.granted);
        }
        let plan = SourcePlan::new(task.parallelism, in_turn, clocks, resumed.clone(), self.first);
        Ok(Some((Arc::new(plan), resumed)))
    }

    fn chain(&self, task: &TaskSpec, spill: Option<&Spill>, edges: Vec<EdgeSender>) -> Result<Chain> {
        Chain::new(task, edges, self.ending.subscribe(), spill, Arc::clone(&self.clock))
    }
}

/// What a subtask is made of: a sink has no chain.
struct Wired {
    subtask: usize,
    gate: Gate,
    chain: Option<Chain>,
}

/// Chains with what snapshots have left of the state of their operators; none for a sink.
type WithStates = Vec<Option<(Chain, Vec<State>)>>;

/// Lets all take up their states at the same time: a large one is much work, and a job goes on only when the last has it.
async fn restored(chains: WithStates) -> Result<Vec<Option<Chain>>> {
    let durable = |(chain, states): (Chain, Vec<State>)| async {
        match spawn_blocking(|| chain.durable(states)).await {
            Ok(chain) => chain,
            Err(e) => Err(Error::internal(format!("a task that takes up the state of operators has failed: {e}"))),
        }
    };
    let chains = chains.into_iter().map(|chain| async { OptionFuture::from(chain.map(durable)).await.transpose() });
    try_join_all(chains).await
}

fn without_state(chains: WithStates) -> Vec<Option<Chain>> {
    chains.into_iter().map(|chain| chain.map(|(chain, _)| chain)).collect()
}

async fn reader(spec: SourceSpec, run: Settings, plan: Arc<SourcePlan>, resumed: Resumed) -> Result<()> {
    let request = ScanRequest {
        columns: Arc::clone(&spec.decoded),
        batch_rows: run.batch_rows,
        keep_rejected: spec.keep_rejected,
        follow: run.follow,
        resume: resumed.read,
    };
    let idle_after = spec.idle_after().or(run.idle_timeout);
    source::read(spec.source.as_ref(), &request, &plan, idle_after).await
}

fn panic_message(join: JoinError) -> Option<Error> {
    let payload = join.try_into_panic().ok()?;
    let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
    Some(
        Error::internal(format!("a task panicked: {}", text.unwrap_or("no message")))
            .hint("this is a bug in Tidemill; please report it with the SQL file"),
    )
}
