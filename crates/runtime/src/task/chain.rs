//! Operators that run in one task: rows pass from one to the next by function call.

mod waiting;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use tidemill_core::{Epoch, EventBatch, Result, Watermark};
use tidemill_state::{State, StateChanges};
use tokio::sync::watch;

use super::ending::Ending;
use super::under_way::UnderWay;
use crate::clock::{Clock, JobClock, at};
use crate::exchange::{EdgeSender, Message};
use crate::graph::{Target, TaskSpec};
use crate::key_groups::{ByKeyGroup, Spill};
use crate::operator::{Operator, Output, Port};

struct Node {
    operator: Box<dyn Operator>,
    targets: Vec<(Port, Target)>,
    /// The watermark of each input, and their minimum.
    slots: Vec<Watermark>,
    watermark: Watermark,
    /// The watermark that its output has reached.
    reached: Watermark,
}

/// One subtask's operators with its outgoing edges. Nodes stand in topological order.
pub(crate) struct Chain {
    nodes: Vec<Node>,
    head_targets: Vec<Vec<Target>>,
    edges: Vec<EdgeSender>,
    /// What waits to be sent. Operators can't wait for a channel, so the task sends after each step.
    pending: Vec<(usize, Message)>,
    /// Nodes that have not yet emitted all that their watermark completes.
    unfinished: BTreeSet<usize>,
    /// The requests of its nodes.
    under_way: UnderWay,
    /// Whether snapshots are kept.
    durable: bool,
    /// A step happens at one moment of it.
    clock: Arc<JobClock>,
}

impl Chain {
    /// `spill`: what becomes of keyed state for which there is no memory; then it is kept by key group. `ending`: whether the
    /// run is to end before its input does.
    pub(crate) fn new(
        task: &TaskSpec,
        edges: Vec<EdgeSender>,
        ending: watch::Receiver<Ending>,
        spill: Option<&Spill>,
        clock: Arc<JobClock>,
    ) -> Result<Self> {
        let mut nodes = vec![];
        for (index, node) in task.nodes.iter().enumerate() {
            let operator = match spill {
                // What follows in the chain keeps nothing by key.
                Some(spill) if index == 0 && !task.key.is_empty() => {
                    Box::new(ByKeyGroup::new(Arc::clone(&node.make), task.key.clone(), spill.clone())?)
                }
                _ => (node.make)()?,
            };
            nodes.push(Node {
                operator,
                targets: node.targets.clone(),
                slots: vec![Watermark::MIN; node.slots],
                watermark: Watermark::MIN,
                reached: Watermark::MIN,
            });
        }
        let head_targets = task.head_targets.clone();
        Ok(Self {
            nodes,
            head_targets,
            edges,
            pending: vec![],
            unfinished: BTreeSet::new(),
            under_way: UnderWay::new(ending),
            durable: false,
            clock,
        })
    }

    /// From now on operators say what changes in their state, from what `states` says of each.
    pub(crate) fn durable(mut self, states: impl IntoIterator<Item = State>) -> Result<Self> {
        self.durable = true;
        for (node, state) in self.nodes.iter_mut().zip(states) {
            if !state.is_empty() {
                node.operator.restore(state).map_err(|e| e.context(node.operator.describe()))?;
            }
        }
        Ok(self)
    }

    /// What comes is in the order of its time.
    pub(crate) fn in_order(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.operator.in_order());
    }

    /// Rows from the source (slot 0) or from an incoming edge.
    pub(crate) fn data(&mut self, slot: usize, batch: EventBatch) -> Result<()> {
        self.data_at(self.clock.now_ms(), slot, batch)
    }

    /// The same, with their present moment (milliseconds since 1970).
    pub(crate) fn data_at(&mut self, moment_ms: i64, slot: usize, batch: EventBatch) -> Result<()> {
        let targets = self.head_targets[slot].clone();
        at(moment_ms, || self.pass(&targets, batch))
    }

    fn pass(&mut self, targets: &[Target], batch: EventBatch) -> Result<()> {
        let Some((last, others)) = targets.split_last() else { return Ok(()) };
        for target in others {
            self.deliver(*target, batch.clone())?;
        }
        self.deliver(*last, batch)
    }

    fn deliver(&mut self, target: Target, batch: EventBatch) -> Result<()> {
        match target {
            Target::Edge(edge) => {
                self.pending.push((edge, Message::Data(batch)));
                Ok(())
            }
            Target::Node { node, .. } => {
                let mut out = Output::default();
                self.nodes[node].operator.on_batch(batch, &mut out)?;
                self.emitted(node, out)?;
                self.tell_reached(node)
            }
        }
    }

    fn emitted(&mut self, node: usize, mut out: Output) -> Result<()> {
        for (port, batch) in out.take() {
            let targets: Vec<Target> =
                self.nodes[node].targets.iter().filter(|(p, _)| *p == port).map(|(_, t)| *t).collect();
            self.pass(&targets, batch)?;
        }
        Ok(())
    }

    /// The source or an edge has reached a watermark.
    pub(crate) async fn watermark(&mut self, slot: usize, watermark: Watermark) -> Result<()> {
        for target in self.head_targets[slot].clone() {
            at(self.clock.now_ms(), || self.advance(target, watermark))?;
        }
        self.send().await
    }

    /// Lets a node emit what its watermark completes, and passes the watermark on behind all of that.
    fn complete(&mut self, node: usize, watermark: Watermark) -> Result<()> {
        let mut out = Output::default();
        self.nodes[node].operator.on_watermark(watermark, &mut out)?;
        self.emitted(node, out)?;
        self.tell_reached(node)
    }

    /// Passes the watermark on that a node's output has reached by now, if that is news.
    fn tell_reached(&mut self, node: usize) -> Result<()> {
        let of_node = &mut self.nodes[node];
        if of_node.operator.unfinished() {
            return Ok(());
        }
        let reached = of_node.operator.reached(of_node.watermark);
        if reached <= of_node.reached {
            return Ok(());
        }
        of_node.reached = reached;
        let targets = of_node.targets.clone();
        targets.into_iter().try_for_each(|(_, target)| self.advance(target, reached))
    }

    fn advance(&mut self, target: Target, watermark: Watermark) -> Result<()> {
        let (node, slot) = match target {
            Target::Edge(edge) => {
                self.pending.push((edge, Message::Watermark(watermark)));
                return Ok(());
            }
            Target::Node { node, slot } => (node, slot),
        };
        let state = &mut self.nodes[node];
        debug_assert!(watermark >= state.slots[slot], "a watermark never goes back");
        state.slots[slot] = watermark;
        let minimum = state.slots.iter().copied().min().unwrap_or(watermark);
        if minimum <= state.watermark {
            return Ok(());
        }
        state.watermark = minimum;
        self.complete(node, minimum)?;
        if self.nodes[node].operator.unfinished() {
            self.unfinished.insert(node);
        }
        Ok(())
    }

    /// The cut has reached every input of the task. What has changed, by operator.
    pub(crate) async fn barrier(&mut self, epoch: Epoch) -> Result<Vec<StateChanges>> {
        self.in_turn(|operator, out| operator.on_barrier(epoch, out)).await?;
        self.tell_all_edges(&Message::Barrier(epoch));
        self.changes()
    }

    fn changes(&mut self) -> Result<Vec<StateChanges>> {
        if !self.durable {
            return Ok(vec![]);
        }
        let changes = |node: &mut Node| {
            let mut changes = StateChanges::default();
            node.operator.snapshot(&mut changes)?;
            Ok(changes)
        };
        self.nodes.iter_mut().map(changes).collect()
    }

    /// Nothing more is there for the moment.
    pub(crate) fn pause(&mut self) -> Result<()> {
        self.each(|operator, out| operator.on_pause(out))
    }

    /// Calls all operators, and passes on what each emits before the next is called.
    fn each(&mut self, call: impl Fn(&mut dyn Operator, &mut Output) -> Result<()>) -> Result<()> {
        at(self.clock.now_ms(), || (0..self.nodes.len()).try_for_each(|node| self.call(node, &call)))
    }

    fn call(&mut self, node: usize, call: impl Fn(&mut dyn Operator, &mut Output) -> Result<()>) -> Result<()> {
        let mut out = Output::default();
        call(self.nodes[node].operator.as_mut(), &mut out)?;
        self.emitted(node, out)?;
        self.tell_reached(node)
    }

    /// When the first timer of an operator is due.
    pub(crate) fn timer(&self) -> Option<Instant> {
        self.nodes.iter().filter_map(|node| node.operator.timer()).min()
    }

    /// Calls the operators whose timer is due.
    pub(crate) fn on_timer(&mut self) -> Result<()> {
        if self.timer().is_none() {
            return Ok(());
        }
        self.each(|operator, out| {
            // One that goes by the clock says when from now on: so it is asked before the time is looked at.
            let timer = operator.timer();
            let now = Instant::now();
            if timer.is_some_and(|due| due <= now) { operator.on_timer(now, out) } else { Ok(()) }
        })
    }

    /// Nothing follows. What has changed, by operator.
    pub(crate) async fn end(&mut self) -> Result<Vec<StateChanges>> {
        self.in_turn(|operator, out| operator.on_pause(out)).await?;
        self.tell_all_edges(&Message::End);
        self.changes()
    }

    fn tell_all_edges(&mut self, message: &Message) {
        self.pending.extend((0..self.edges.len()).map(|edge| (edge, message.clone())));
    }
}

#[cfg(test)]
mod tests;
