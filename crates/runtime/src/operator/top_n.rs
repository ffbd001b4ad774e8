//! Top-N: the first rows of each partition in an order, with their rank.
//!
//! Over rows that come once, in a window, the answer is given once, when the window is complete. Over
//! all else it is updated: a row that enters pushes others down, and one that is taken away pulls
//! others up, so all rows of a partition are kept where rows can be taken away, and the first `n`
//! where they can't.

mod partitions;
mod snapshot;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt64Array};
use arrow::compute::SortOptions;
use arrow::datatypes::{SchemaRef, TimestampMillisecondType};
use arrow::row::{OwnedRow, RowConverter, Rows, SortField};
use tidemill_core::{Epoch, EventBatch, Result, RowKind, Watermark};
use tidemill_state::{State, StateChanges};

use partitions::{Key, Partitions, Ranked};
use snapshot::Unsaved;

use super::hands::Hands;
use super::{Dealer, Operator, Output};
use crate::time_zone::TimeZone;

/// What a Top-N computes.
#[derive(Debug, Clone)]
pub struct TopNSpec {
    /// The columns of the partition.
    pub partition: Vec<usize>,
    /// The order, to the last column that could break a tie.
    pub order: Vec<(usize, SortOptions)>,
    /// How many rows a partition keeps.
    pub limit: usize,
    /// Whether rows are only added: then those beyond the limit can be forgotten.
    pub append_only: bool,
    /// The column of the window's end, where the answer is given once a window.
    pub window_end: Option<usize>,
    /// The zone whose clocks the window's end is told by.
    pub zone: TimeZone,
    /// The input's columns, and the rank (`UInt64`).
    pub schema: SchemaRef,
}

/// The first rows of each partition.
///
/// Output columns: the input's, and the rank, from 1.
pub struct TopN {
    // Configuration.
    spec: TopNSpec,
    partition_key: Option<RowConverter>,
    order_key: RowConverter,
    row: RowConverter,
    // State.
    partitions: Partitions,
    /// Partitions of windows by their window's end.
    windows: BTreeMap<i64, BTreeSet<Key>>,
    // Emptied at every barrier: never part of a snapshot.
    touched: BTreeSet<Key>,
    unsaved: Unsaved,
}

/// The rows of a batch as bytes that compare.
struct Converted {
    keys: Option<Rows>,
    order: Rows,
    rows: Rows,
}

impl Converted {
    fn row(&self, index: usize) -> (Key, Ranked) {
        let key = self.keys.as_ref().map(|keys| keys.row(index).owned());
        (key, (self.order.row(index).owned(), self.rows.row(index).owned()))
    }
}

impl TopN {
    /// A Top-N over rows of the spec's columns without the last.
    pub fn new(spec: TopNSpec) -> Result<Self> {
        let types: Vec<_> = spec.schema.fields().iter().map(|f| f.data_type().clone()).collect();
        let key = spec.partition.iter().map(|&c| SortField::new(types[c].clone())).collect::<Vec<_>>();
        let order = spec.order.iter().map(|(c, options)| SortField::new_with_options(types[*c].clone(), *options));
        let row = types[..types.len() - 1].iter().map(|t| SortField::new(t.clone())).collect();
        Ok(Self {
            partition_key: if key.is_empty() { None } else { Some(RowConverter::new(key)?) },
            order_key: RowConverter::new(order.collect())?,
            row: RowConverter::new(row)?,
            spec,
            partitions: Partitions::default(),
            windows: BTreeMap::new(),
            touched: BTreeSet::new(),
            unsaved: Unsaved::default(),
        })
    }

    /// `columns`: those of the input.
    fn converted(&self, columns: &[ArrayRef]) -> Result<Converted> {
        let chosen = |indices: &mut dyn Iterator<Item = usize>| -> Vec<ArrayRef> {
            indices.map(|c| Arc::clone(&columns[c])).collect()
        };
        let keys = match &self.partition_key {
            Some(key) => Some(key.convert_columns(&chosen(&mut self.spec.partition.iter().copied()))?),
            None => None,
        };
        let order = self.order_key.convert_columns(&chosen(&mut self.spec.order.iter().map(|(c, _)| *c)))?;
        Ok(Converted { keys, order, rows: self.row.convert_columns(columns)? })
    }

    fn take_in(&mut self, batch: &EventBatch) -> Result<()> {
        let converted = self.converted(batch.rows.columns())?;
        let ends = self.spec.window_end.map(|c| batch.rows.column(c).as_primitive::<TimestampMillisecondType>());
        for index in 0..batch.num_rows() {
            let (key, ranked) = converted.row(index);
            let end_ms = ends.map(|ends| ends.value(index));
            let adds = batch.kinds.as_ref().is_none_or(|kinds| kinds[index].adds());
            let partition = self.partitions.entry(key.clone());
            let mut changes = self.unsaved.changes(&key, end_ms);
            let different = partition.rows.len();
            if adds {
                changes.count(&ranked, 1);
                *partition.rows.entry(ranked).or_insert(0) += 1;
                if let Some(last) = partition.push_out(&self.spec) {
                    changes.forget(&last);
                }
            } else {
                changes.count(&ranked, -1);
                partition.take_away(&ranked)?;
            }
            changes.held(different, partition.rows.len());
            match end_ms {
                Some(end_ms) => drop(self.windows.entry(end_ms).or_default().insert(key)),
                None => drop(self.touched.insert(key)),
            }
        }
        Ok(())
    }

    fn complete_windows(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        let zone = self.spec.zone;
        let complete = |end_ms: i64| watermark.closes(zone.passed_ms(end_ms));
        while let Some(window) = self.windows.first_entry().filter(|window| complete(*window.key())) {
            let mut rows = vec![];
            self.unsaved.window_gone(*window.key());
            for key in window.remove() {
                let partition = self.partitions.remove(&key).unwrap_or_default();
                rows.extend((1..).zip(partition.first(self.spec.limit)));
            }
            self.emit(&rows, None, out)?;
        }
        Ok(())
    }

    /// Emits, rank by rank, what has changed since the last time.
    fn update(&mut self, out: &mut Output) -> Result<()> {
        let (mut rows, mut kinds) = (vec![], vec![]);
        for key in std::mem::take(&mut self.touched) {
            let Some(partition) = self.partitions.get_mut(&key) else { continue };
            let now = partition.first(self.spec.limit);
            for rank in 0..now.len().max(partition.emitted.len()) {
                let number = rank as u64 + 1;
                let mut change = |row: &OwnedRow, kind| {
                    rows.push((number, row.clone()));
                    kinds.push(kind);
                };
                match (partition.emitted.get(rank), now.get(rank)) {
                    (Some(old), Some(new)) if old == new => {}
                    (Some(old), Some(new)) => {
                        change(old, RowKind::UpdateBefore);
                        change(new, RowKind::UpdateAfter);
                    }
                    (Some(old), None) => change(old, RowKind::Delete),
                    (None, Some(new)) => change(new, RowKind::Insert),
                    (None, None) => {}
                }
            }
            partition.emitted = now;
            if partition.rows.is_empty() {
                self.partitions.remove(&key);
            }
        }
        self.emit(&rows, Some(kinds), out)
    }

    fn emit(&self, rows: &[(u64, OwnedRow)], kinds: Option<Vec<RowKind>>, out: &mut Output) -> Result<()> {
        let mut columns = self.row.convert_rows(rows.iter().map(|(_, row)| row.row()))?;
        columns.push(Arc::new(UInt64Array::from_iter_values(rows.iter().map(|(rank, _)| *rank))));
        let batch = EventBatch::append(RecordBatch::try_new(Arc::clone(&self.spec.schema), columns)?);
        out.emit(EventBatch { kinds: kinds.map(Into::into), ..batch });
        Ok(())
    }
}

impl Operator for TopN {
    fn describe(&self) -> String {
        let TopNSpec { partition, order, limit, window_end, .. } = &self.spec;
        let name = |index: &usize| self.spec.schema.field(*index).name().as_str();
        let order: Vec<String> = order
            .iter()
            .map(|(column, options)| format!("{}{}", name(column), if options.descending { " DESC" } else { "" }))
            .collect();
        let partition: Vec<&str> = partition.iter().map(name).collect();
        let when = if window_end.is_some() { "once a window" } else { "updated" };
        format!("the first {limit} of ({}) by {}, {when}", partition.join(", "), order.join(", "))
    }

    fn state_words(&self) -> String {
        let nulls_first = self.spec.order.iter().filter(|(_, options)| options.nulls_first);
        let names: Vec<&str> = nulls_first.map(|(column, _)| self.spec.schema.field(*column).name().as_str()).collect();
        let nulls = if names.is_empty() { String::new() } else { format!(", NULL first in {}", names.join(", ")) };
        let rows = if self.spec.append_only { "" } else { ", of rows that may be taken back" };
        format!("{}{nulls}{rows}", self.describe())
    }

    fn unbounded_state(&self) -> Option<String> {
        let TopNSpec { partition, limit, append_only, window_end, .. } = &self.spec;
        let names: Vec<&str> = partition.iter().map(|index| self.spec.schema.field(*index).name().as_str()).collect();
        match (window_end, names.as_slice(), append_only) {
            (Some(_), ..) | (None, [], true) => None,
            (None, [], false) => Some("all rows, since one that is taken back lets another move up".to_owned()),
            (None, names, true) => Some(format!("{limit} rows for each ({})", names.join(", "))),
            (None, names, false) => Some(format!(
                "all rows of each ({}), since one that is taken back lets another move up",
                names.join(", ")
            )),
        }
    }

    fn on_batch(&mut self, batch: EventBatch, _out: &mut Output) -> Result<()> {
        self.take_in(&batch)
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        self.complete_windows(watermark, out)?;
        self.update(out)
    }

    fn on_pause(&mut self, out: &mut Output) -> Result<()> {
        self.update(out)
    }

    fn on_barrier(&mut self, _epoch: Epoch, out: &mut Output) -> Result<()> {
        self.update(out)
    }

    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        self.save(changes)
    }

    fn restore(&mut self, state: State) -> Result<()> {
        self.load(state)
    }

    fn deal(&self, state: State, dealer: &Dealer) -> Result<Vec<State>> {
        Hands::deal(state, dealer, self.partition_key.is_some(), |state, hands| self.deal_log(state, hands))
    }

    fn restore_all(&mut self, states: Vec<State>) -> Result<()> {
        self.load_anew(states)
    }
}
