//! What to run: a DAG of operators, grouped into tasks by the exchanges between them.
//!
//! ```text
//! source ─► calc ─► pre-aggregate        one task, chained: rows pass by function call
//!                        │
//!                        ▼ edge (by key group)
//!                   aggregate ─► calc    the next task
//!                        │
//!                        ▼ edge (gather)
//!                      sink
//! ```
//!
//! A stream may be read any number of times: equal subplans of several statements are one node.

mod words;

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use datafusion::physical_expr::PhysicalExpr;
use tidemill_core::{Elements, EventTimes, Result};
use tidemill_state::SpillFolder;

use crate::connector::{Decoded, Guarantee, SinkFactory, Source};
use crate::exchange::Partitioning;
use crate::key_groups::Spill;
use crate::metrics::{Metrics, SourceMetrics};
use crate::operator::{Operator, Port};

/// Makes the operator of one subtask.
pub type MakeOperator = Arc<dyn Fn() -> Result<Box<dyn Operator>> + Send + Sync>;

/// A table to read, as a plan needs it.
#[derive(Clone)]
pub struct SourceSpec {
    /// The table's name.
    pub table: Arc<str>,
    /// The system.
    pub source: Arc<dyn Source>,
    /// The columns to decode.
    pub decoded: SchemaRef,
    /// The columns that some statement needs.
    pub columns: SchemaRef,
    /// How those are made of the decoded ones; `None` where they are the same.
    pub computed: Option<Arc<[Arc<dyn PhysicalExpr>]>>,
    /// When rows happened, if the table says so.
    pub event_time: Option<EventTimeSpec>,
    /// Whether somebody needs the rows' identity.
    pub lineage: bool,
    /// Whether somebody needs every row's watermark, not only of those that may be late.
    pub row_watermarks: bool,
    /// What can't be decoded leaves by [`Port::REJECTED`]; else it fails the run.
    pub keep_rejected: bool,
    /// Windows over the rows go by the clock: that is the source's watermark, and no row has one of its own.
    pub processing_time: bool,
    /// What makes elements of a program's own type of the rows; `None`: rows they stay.
    pub program: Option<Arc<dyn SourceProgram>>,
}

impl SourceSpec {
    /// Whether rows have a time at which they happened.
    pub(crate) fn has_event_time(&self) -> bool {
        self.event_time.is_some() || self.program.as_ref().is_some_and(|program| program.has_event_time())
    }

    /// How long it must give nothing before those that it meets go on without it, if a program says so.
    pub(crate) fn idle_after(&self) -> Option<Duration> {
        self.program.as_ref().and_then(|program| program.idle_after())
    }
}

/// The first steps of a program, which are taken where rows are decoded: so the watermark of an element follows from those
/// before it in its partition, whoever decodes them.
///
/// # Contract
/// - The same rows give the same elements, whatever else is decoded before or at the same time.
pub trait SourceProgram: Send + Sync {
    /// Whether its elements have event time.
    fn has_event_time(&self) -> bool;

    /// How long the source must give nothing before those that it meets go on without it; `None`: as the run says.
    fn idle_after(&self) -> Option<Duration>;

    /// The elements that are made of a chunk, in the order of its rows: any number of each.
    ///
    /// # Errors
    /// What the program says; a program that panics says so.
    fn elements(&self, decoded: Decoded) -> Result<SourceElements>;
}

/// What a program makes of a chunk.
#[derive(Debug)]
pub struct SourceElements {
    /// The elements.
    pub elements: Elements,
    /// Their times, if they have event time.
    pub times: Option<ElementTimes>,
}

/// When elements happened. In milliseconds since 1970, one entry an element.
#[derive(Debug, Clone, Default)]
pub struct ElementTimes {
    /// When; `i64::MIN` for one that has no time.
    pub times: Vec<i64>,
    /// The watermark that follows from it; `i64::MIN` where none does.
    pub claims: Vec<i64>,
}

/// `WATERMARK FOR column AS expression`.
#[derive(Debug, Clone)]
pub struct EventTimeSpec {
    /// The index of the event time in the source's columns: `Timestamp(Millisecond, _)`.
    pub column: usize,
    /// The times that rows can have; one with another moves no watermark.
    pub range: EventTimes,
    /// The watermark that follows from a row, over the source's columns: `Timestamp(Millisecond, _)`.
    pub watermark: Arc<dyn PhysicalExpr>,
}

/// A stream of rows in a graph under construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stream {
    task: usize,
    origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Origin {
    /// The task's source: its rows, or by [`Port::REJECTED`] what could not be decoded.
    Source(Port),
    Node(usize, Port),
}

impl Stream {
    /// A side output of the source or operator that made this stream.
    #[must_use]
    pub fn side(self, port: Port) -> Self {
        match self.origin {
            Origin::Source(_) => Self { origin: Origin::Source(port), ..self },
            Origin::Node(node, _) => Self { origin: Origin::Node(node, port), ..self },
        }
    }
}

/// The place of a source's output among its task's head targets.
pub(crate) fn source_slot(port: Port) -> usize {
    usize::from(port == Port::REJECTED)
}

/// Where a chain passes rows on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Node {
        node: usize,
        slot: usize,
    },
    /// An index into the task's outgoing edges.
    Edge(usize),
}

pub(crate) enum Head {
    Source(SourceSpec, Arc<SourceMetrics>),
    Edges,
    Sink(Arc<dyn SinkFactory>),
}

pub(crate) struct TaskSpec {
    pub(crate) name: Arc<str>,
    pub(crate) parallelism: usize,
    pub(crate) head: Head,
    pub(crate) nodes: Vec<NodeSpec>,
    /// What the source, or each incoming edge, feeds.
    pub(crate) head_targets: Vec<Vec<Target>>,
    pub(crate) edges: Vec<EdgeSpec>,
    /// The columns of the key by which rows are dealt to it, in the input of its first operator; none where they are not.
    pub(crate) key: Vec<usize>,
}

pub(crate) struct NodeSpec {
    pub(crate) make: MakeOperator,
    pub(crate) slots: usize,
    pub(crate) targets: Vec<(Port, Target)>,
}

pub(crate) struct EdgeSpec {
    pub(crate) partitioning: Partitioning,
    pub(crate) to_task: usize,
    pub(crate) to_slot: usize,
}

/// State that grows as long as a job runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnboundedState {
    /// What the operator does.
    pub operator: String,
    /// What it keeps.
    pub keeps: String,
}

/// A job, ready to run. Build it from its sources to its sinks.
pub struct JobGraph {
    pub(crate) tasks: Vec<TaskSpec>,
    parallelism: usize,
    /// What becomes of keyed state for which there is no memory: it is kept key group by key group then, so that it can be
    /// spilled, and what checkpoints hold of it is another form. `None`: it stays in memory.
    pub spill: Option<Spill>,
    /// Where state is put that a run begins with, until its operators have taken it up, if there may not be memory for it:
    /// they read it part by part. With `spill` that is its folder. `None`: in memory.
    pub taken_up_from: Option<SpillFolder>,
    /// The counters that the job's operators keep.
    pub metrics: Metrics,
}

impl JobGraph {
    /// An empty graph whose tasks have `parallelism` subtasks (sinks have one).
    #[must_use]
    pub fn new(parallelism: usize) -> Self {
        Self { tasks: vec![], parallelism, spill: None, taken_up_from: None, metrics: Metrics::default() }
    }

    /// The folder for state that a run begins with, if that is not to be in memory.
    pub(crate) fn folder_to_take_up_from(&self) -> Option<&SpillFolder> {
        self.spill.as_ref().map(|spill| &spill.folder).or(self.taken_up_from.as_ref())
    }

    /// Reads a table.
    pub fn source(&mut self, spec: SourceSpec) -> Stream {
        // A table that is read by both kinds of time is counted once.
        let metrics = match self.metrics.sources.entry(Arc::clone(&spec.table)) {
            Entry::Vacant(new) => Arc::clone(new.insert(Arc::default())),
            Entry::Occupied(_) => Arc::default(),
        };
        let by = if spec.processing_time { " by processing time" } else { "" };
        let name = format!("source {}{by}", spec.table);
        // Elements of one key keep the order of their partition on their way through a single subtask alone.
        let parallelism = if spec.program.is_some() { 1 } else { self.parallelism };
        let task = self.task(name, parallelism, Head::Source(spec, metrics));
        self.tasks[task].head_targets = vec![vec![]; 2];
        Stream { task, origin: Origin::Source(Port::MAIN) }
    }

    /// Chains an operator: it runs in the task of its input. A stream of another graph is passed over, here and below.
    pub fn chain(&mut self, input: Stream, make: MakeOperator) -> Stream {
        if !self.has(input) {
            return input;
        }
        let node = self.node(input.task, make);
        let slot = self.slot(input.task, node);
        self.connect(input, Target::Node { node, slot });
        Stream { task: input.task, origin: Origin::Node(node, Port::MAIN) }
    }

    /// Starts a task behind an exchange.
    pub fn exchange(
        &mut self,
        inputs: &[Stream],
        partitioning: &Partitioning,
        name: impl Into<String>,
        make: MakeOperator,
    ) -> Stream {
        self.exchange_and_broadcast(inputs, partitioning, &[], name, make)
    }

    /// The same; each subtask of the task also gets all rows of the streams `broadcast`, in whatever order the two meet.
    pub fn exchange_and_broadcast(
        &mut self,
        inputs: &[Stream],
        partitioning: &Partitioning,
        broadcast: &[Stream],
        name: impl Into<String>,
        make: MakeOperator,
    ) -> Stream {
        let parallelism = if matches!(partitioning, Partitioning::Gather) { 1 } else { self.parallelism };
        let task = self.task(name.into(), parallelism, Head::Edges);
        if let Partitioning::KeyGroups(columns) = partitioning {
            self.tasks[task].key.clone_from(columns);
        }
        let node = self.node(task, make);
        let dealt = inputs.iter().map(|input| (input, partitioning));
        let all = dealt.chain(broadcast.iter().map(|input| (input, &Partitioning::Broadcast)));
        for (input, partitioning) in all {
            if !self.has(*input) {
                continue;
            }
            let slot = self.slot(task, node);
            self.edge(*input, partitioning.clone(), task, vec![Target::Node { node, slot }]);
        }
        Stream { task, origin: Origin::Node(node, Port::MAIN) }
    }

    /// Ends streams in a sink.
    pub fn sink(&mut self, inputs: &[Stream], name: impl Into<String>, sink: Arc<dyn SinkFactory>) {
        let task = self.task(name.into(), 1, Head::Sink(sink));
        for input in inputs {
            if self.has(*input) {
                self.edge(*input, Partitioning::Gather, task, vec![]);
            }
        }
    }

    fn has(&self, stream: Stream) -> bool {
        self.tasks.get(stream.task).is_some_and(|task| match stream.origin {
            Origin::Source(_) => matches!(task.head, Head::Source(..)),
            Origin::Node(node, _) => node < task.nodes.len(),
        })
    }

    /// A table that a later run could not read on.
    pub(crate) fn cannot_resume(&self) -> Option<&str> {
        self.sources().find(|(spec, _)| !spec.source.resumes()).map(|(spec, _)| &*spec.table)
    }

    /// A table that has no end.
    pub(crate) fn unbounded_source(&self) -> Option<&str> {
        self.sources().find(|(spec, _)| !spec.source.bounded()).map(|(spec, _)| &*spec.table)
    }

    /// Whether a program says of a source when it is idle.
    pub(crate) fn some_source_idles(&self) -> bool {
        self.sources().any(|(spec, _)| spec.idle_after().is_some())
    }

    /// The sinks whose rows come again where a run fails and another goes on.
    pub fn at_least_once(&self) -> impl Iterator<Item = &str> {
        self.tasks.iter().filter_map(|task| match &task.head {
            Head::Sink(sink) if sink.guarantee() == Guarantee::AtLeastOnce => Some(&*task.name),
            _ => None,
        })
    }

    fn sources(&self) -> impl Iterator<Item = (&SourceSpec, &Arc<SourceMetrics>)> {
        self.tasks.iter().filter_map(|task| match &task.head {
            Head::Source(spec, metrics) => Some((spec, metrics)),
            _ => None,
        })
    }

    /// The operators that keep state for ever.
    ///
    /// # Errors
    /// If an operator can't be made.
    pub fn unbounded_state(&self) -> Result<Vec<UnboundedState>> {
        let mut found = vec![];
        for node in self.tasks.iter().flat_map(|task| &task.nodes) {
            let operator = (node.make)()?;
            let kept = operator.unbounded_state();
            found.extend(kept.map(|keeps| UnboundedState { operator: operator.describe(), keeps }));
        }
        Ok(found)
    }

    /// The source tasks whose rows meet in an operator, set by set; a source that meets no other is alone.
    pub(crate) fn meeting_sources(&self) -> Vec<Vec<usize>> {
        let is_source = |task: &usize| matches!(self.tasks[*task].head, Head::Source(..));
        let mut sets: Vec<Vec<usize>> = (0..self.tasks.len()).filter(is_source).map(|task| vec![task]).collect();
        // Edges lead to tasks that were made later, so what reaches a task is known when its turn comes.
        let mut reaching: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.tasks.len()];
        for (number, task) in self.tasks.iter().enumerate() {
            match task.head {
                Head::Source(..) => drop(reaching[number].insert(number)),
                // Time does not matter to a sink.
                Head::Sink(_) => continue,
                Head::Edges => {}
            }
            let met = reaching[number].clone();
            let (meeting, others): (Vec<_>, Vec<_>) =
                sets.into_iter().partition(|set: &Vec<usize>| set.iter().any(|source| met.contains(source)));
            sets = others;
            if !meeting.is_empty() {
                sets.push(meeting.concat());
            }
            task.edges.iter().for_each(|edge| reaching[edge.to_task].extend(&met));
        }
        sets
    }

    fn task(&mut self, name: String, parallelism: usize, head: Head) -> usize {
        let name = Arc::from(name);
        self.tasks.push(TaskSpec {
            name,
            parallelism,
            head,
            nodes: vec![],
            head_targets: vec![],
            edges: vec![],
            key: vec![],
        });
        self.tasks.len() - 1
    }

    fn node(&mut self, task: usize, make: MakeOperator) -> usize {
        self.tasks[task].nodes.push(NodeSpec { make, slots: 0, targets: vec![] });
        self.tasks[task].nodes.len() - 1
    }

    fn slot(&mut self, task: usize, node: usize) -> usize {
        let slots = &mut self.tasks[task].nodes[node].slots;
        *slots += 1;
        *slots - 1
    }

    fn edge(&mut self, from: Stream, partitioning: Partitioning, to_task: usize, feeds: Vec<Target>) {
        let to_slot = self.tasks[to_task].head_targets.len();
        self.tasks[to_task].head_targets.push(feeds);
        let edges = &mut self.tasks[from.task].edges;
        edges.push(EdgeSpec { partitioning, to_task, to_slot });
        let edge = edges.len() - 1;
        self.connect(from, Target::Edge(edge));
    }

    fn connect(&mut self, from: Stream, target: Target) {
        let task = &mut self.tasks[from.task];
        match from.origin {
            Origin::Source(port) => task.head_targets[source_slot(port)].push(target),
            Origin::Node(node, port) => task.nodes[node].targets.push((port, target)),
        }
    }
}
