//! A graph in words: for people, to tell it from others, and to find its operators again in one that has changed.

mod lineage;

use std::collections::BTreeMap;

use tidemill_core::Result;
use tidemill_state::checkpoint::{JobIdentity, OperatorIdentity};

use lineage::{Arriving, Rows, hash, leaving};

use super::{EdgeSpec, EventTimeSpec, Head, JobGraph, Target, TaskSpec};
use crate::exchange::Partitioning;
use crate::job::owner::{node_operator, sink_operator, source_operator};
use crate::operator::Port;

impl TaskSpec {
    /// One line: where rows of `from` go.
    fn target(&self, from: &str, port: Port, target: Target) -> String {
        let what = match port {
            Port::LATE => " late rows",
            Port::REJECTED => " bad rows",
            _ => "",
        };
        let to = match target {
            Target::Node { node, .. } => letter(node),
            Target::Edge(edge) => {
                let EdgeSpec { partitioning, to_task, .. } = &self.edges[edge];
                match partitioning {
                    Partitioning::Gather => format!("task {to_task}"),
                    Partitioning::KeyGroups(columns) => {
                        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
                        format!("task {to_task}, dealt by columns {}", columns.join(", "))
                    }
                    Partitioning::Elements(_) => format!("task {to_task}, dealt by key"),
                    Partitioning::Broadcast => format!("task {to_task}, all to each subtask"),
                }
            }
        };
        format!("      {from}{what} -> {to}\n")
    }
}

/// The name of an operator within its task: a, b, c, ...
fn letter(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}

impl JobGraph {
    /// The tasks, each with its operators and where their rows go; for people.
    ///
    /// # Errors
    /// If an operator can't be made.
    pub fn describe(&self) -> Result<String> {
        let mut text = String::new();
        for (number, task) in self.tasks.iter().enumerate() {
            text += &format!("{number}: {} (parallelism {})\n", task.name, task.parallelism);
            for (index, targets) in task.head_targets.iter().enumerate() {
                let port =
                    if matches!(task.head, Head::Source(..)) && index == 1 { Port::REJECTED } else { Port::MAIN };
                targets.iter().for_each(|target| text += &task.target("rows", port, *target));
            }
            for (index, node) in task.nodes.iter().enumerate() {
                text += &format!("   {}: {}\n", letter(index), (node.make)()?.describe());
                node.targets.iter().for_each(|(port, target)| text += &task.target(&letter(index), *port, *target));
            }
        }
        Ok(text)
    }

    /// What tells the job from others, and its operators from each other.
    ///
    /// # Errors
    /// If an operator can't be made.
    pub(crate) fn identity(&self) -> Result<JobIdentity> {
        Ok(JobIdentity { plan: self.plan()?, operators: self.operators()? })
    }

    /// The job in words that tell it from others: what a state is of no use to. Its settings of processing time, and where
    /// its tables are, are no part of it.
    fn plan(&self) -> Result<String> {
        let mut text = self.describe()?;
        if self.spill.is_some() {
            text += "keyed state has a limit of memory\n";
        }
        for (spec, _) in self.sources() {
            let columns: Vec<String> =
                spec.columns.fields().iter().map(|f| format!("{} {}", f.name(), f.data_type())).collect();
            text += &format!("{} has {}", spec.table, columns.join(", "));
            if let Some(EventTimeSpec { column, watermark, .. }) = &spec.event_time {
                text += &format!(", its time is column {column}, its watermark {watermark}");
            }
            if spec.processing_time {
                text += ", its watermark is the clock";
            }
            text.push('\n');
        }
        Ok(text)
    }

    /// What may have state, by the name that [`crate::job::owner`] gives it.
    fn operators(&self) -> Result<BTreeMap<String, OperatorIdentity>> {
        let mut operators = BTreeMap::new();
        let mut arriving = Arriving::default();
        for (number, task) in self.tasks.iter().enumerate() {
            let identity = |words: String, lineage: u64, derivation: u64, by_key_group: bool| OperatorIdentity {
                name: task.name.to_string(),
                words,
                lineage: format!("{lineage:016x}"),
                derivation: format!("{derivation:016x}"),
                subtasks: task.parallelism,
                by_key_group,
            };
            // What was read of a table, and written to one, is told apart by its name alone.
            let own = || identity(task.name.to_string(), hash(&[&task.name], &[]), 0, false);
            match &task.head {
                Head::Source(..) => drop(operators.insert(source_operator(number), own())),
                Head::Sink(_) => drop(operators.insert(sink_operator(number), own())),
                Head::Edges => {}
            }
            for (slot, targets) in task.head_targets.iter().enumerate() {
                let rows = match &task.head {
                    Head::Source(spec, _) => Rows::of_source(spec, &task.name, slot),
                    _ => arriving.by_edge(number, slot),
                };
                targets.iter().for_each(|target| arriving.pass(number, task, *target, rows.clone()));
            }
            for (index, node) in task.nodes.iter().enumerate() {
                let operator = (node.make)()?;
                let (words, rows) = (operator.state_words(), arriving.at(number, index));
                for (Port(port), target) in &node.targets {
                    let leaving = leaving(&rows, &operator.describe(), *port, operator.derivation());
                    arriving.pass(number, task, *target, leaving);
                }
                let (lineage, by_key_group) = (hash(&[&words], &[rows.lineage]), self.is_by_key_group(task, index));
                operators.insert(node_operator(number, index), identity(words, lineage, rows.all(), by_key_group));
            }
        }
        Ok(operators)
    }

    /// Whether a node's state is kept key group by key group. What follows the first in a chain keeps nothing by key.
    pub(crate) fn is_by_key_group(&self, task: &TaskSpec, node: usize) -> bool {
        self.spill.is_some() && node == 0 && !task.key.is_empty()
    }
}
