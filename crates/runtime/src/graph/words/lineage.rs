//! Where rows and their columns come from, in numbers: equal ones come the same way.

use std::collections::BTreeMap;

use arrow::datatypes::FieldRef;
use xxhash_rust::xxh3::xxh3_64;

use crate::graph::{EdgeSpec, SourceSpec, Target, TaskSpec};
use crate::operator::{Derivation, DerivedColumn, without_places};

/// What is known of rows on their way.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    /// Of the words of all that they have come through.
    pub(super) lineage: u64,
    /// Their columns, as far as each is known by itself, in their order.
    columns: Vec<(String, u64)>,
    /// Of what all columns have in common: the others derive from that.
    common: u64,
}

impl Rows {
    /// Of a table. Its event time, or that the clock is its time, is part of what each column means; how late rows may be is
    /// not.
    pub(super) fn of_source(spec: &SourceSpec, name: &str, slot: usize) -> Self {
        let time = spec.event_time.as_ref().map(|time| spec.columns.field(time.column).name().as_str());
        let common = hash(&[name, time.unwrap_or_default()], &[u64::from(spec.processing_time)]);
        let computed = |index: usize| spec.computed.as_ref().map(|exprs| without_places(&exprs[index]));
        let column = |(index, field): (usize, &FieldRef)| {
            let words = computed(index).unwrap_or_default();
            (field.name().clone(), hash(&[field.name(), &field.data_type().to_string(), &words], &[common]))
        };
        let columns = spec.columns.fields().iter().enumerate().map(column).collect();
        Self { lineage: hash(&[name], &[slot as u64]), columns, common }
    }

    /// Of what comes from several inputs, or from one.
    fn together(inputs: &[Self]) -> Self {
        match inputs {
            [one] => one.clone(),
            _ => {
                let lineages: Vec<u64> = inputs.iter().map(|rows| rows.lineage).collect();
                let all: Vec<u64> = inputs.iter().map(Self::all).collect();
                Self { lineage: hash(&[], &lineages), columns: vec![], common: hash(&[], &all) }
            }
        }
    }

    fn column(&self, name: &str) -> u64 {
        let found = self.columns.iter().find(|(column, _)| column == name);
        found.map_or_else(|| hash(&[name], &[self.common]), |(_, derivation)| *derivation)
    }

    /// Of all columns, in their order.
    pub(super) fn all(&self) -> u64 {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let derivations: Vec<u64> = self.columns.iter().map(|(_, derivation)| *derivation).collect();
        hash(&names, &[&derivations[..], &[self.common]].concat())
    }

    /// Of what an operator with these words makes of them.
    fn through(&self, words: &str, derivation: Derivation) -> Self {
        let lineage = hash(&[words], &[self.lineage]);
        match derivation {
            Derivation::Same => Self { lineage, ..self.clone() },
            Derivation::All => Self { lineage, columns: vec![], common: hash(&[words], &[self.all()]) },
            Derivation::Columns(columns) => {
                let column = |column: DerivedColumn| {
                    let reads: Vec<u64> = column.reads.iter().map(|name| self.column(name)).collect();
                    // A column under another name is the same.
                    let derivation = match (&reads[..], column.reads.as_slice()) {
                        (&[one], [read]) if *read == column.words => one,
                        _ => hash(&[&column.words], &[&reads[..], &[self.common]].concat()),
                    };
                    (column.name, derivation)
                };
                Self { lineage, columns: columns.into_iter().map(column).collect(), common: self.common }
            }
        }
    }
}

/// The rows that come somewhere: edges lead to tasks that were made later, and chains to later nodes.
#[derive(Default)]
pub(super) struct Arriving {
    /// By task and node.
    by_node: BTreeMap<(usize, usize), Vec<Rows>>,
    /// By task and slot.
    by_edge: BTreeMap<(usize, usize), Rows>,
}

impl Arriving {
    /// By an edge.
    pub(super) fn by_edge(&self, task: usize, slot: usize) -> Rows {
        self.by_edge.get(&(task, slot)).cloned().unwrap_or_default()
    }

    /// At an operator, by all its inputs.
    pub(super) fn at(&self, task: usize, node: usize) -> Rows {
        self.by_node.get(&(task, node)).map_or_else(Rows::default, |inputs| Rows::together(inputs))
    }

    pub(super) fn pass(&mut self, number: usize, task: &TaskSpec, target: Target, rows: Rows) {
        match target {
            Target::Node { node, .. } => self.by_node.entry((number, node)).or_default().push(rows),
            Target::Edge(edge) => {
                let EdgeSpec { to_task, to_slot, .. } = task.edges[edge];
                self.by_edge.insert((to_task, to_slot), rows);
            }
        }
    }
}

/// What leaves an operator by one of its outputs.
pub(super) fn leaving(rows: &Rows, words: &str, port: u8, derivation: Derivation) -> Rows {
    let rows = rows.through(words, derivation);
    Rows { lineage: hash(&[], &[rows.lineage, u64::from(port)]), ..rows }
}

pub(super) fn hash(words: &[&str], numbers: &[u64]) -> u64 {
    xxh3_64(format!("{words:?}{numbers:x?}").as_bytes())
}
