//! What connects subtasks: the channels of the exchanges, and the clocks of sources that meet.

use std::collections::HashMap;
use std::sync::Arc;

use crate::exchange::{EdgeSender, Inbox, Outbox, channel};
use crate::graph::{JobGraph, TaskSpec};
use crate::task::source::Clocks;

/// By source task: the clocks of the sources whose rows meet in an operator.
pub(super) fn clocks_of(graph: &JobGraph) -> HashMap<usize, Arc<Clocks>> {
    let mut all: HashMap<usize, Arc<Clocks>> = HashMap::new();
    for meeting in graph.meeting_sources() {
        let clocks = Arc::new(Clocks::default());
        all.extend(meeting.into_iter().map(|task| (task, Arc::clone(&clocks))));
    }
    all
}

/// The channels between all subtasks.
pub(super) struct Wires {
    /// By task, subtask and slot: the receiving ends.
    inboxes: Vec<Vec<Vec<Vec<Inbox>>>>,
}

impl Wires {
    pub(super) fn new(graph: &JobGraph) -> Self {
        let slots = |task: &TaskSpec| (0..task.head_targets.len()).map(|_| vec![]).collect();
        Self { inboxes: graph.tasks.iter().map(|t| (0..t.parallelism).map(|_| slots(t)).collect()).collect() }
    }

    /// The sending ends of one subtask's edges. Edges lead to tasks that are made later.
    pub(super) fn edges(&mut self, graph: &JobGraph, task: usize) -> Vec<EdgeSender> {
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
                EdgeSender::Subtasks(edge.partitioning.clone(), outboxes)
            })
            .collect()
    }

    pub(super) fn inboxes(&mut self, task: usize, subtask: usize) -> Vec<Vec<Inbox>> {
        std::mem::take(&mut self.inboxes[task][subtask])
    }
}
