//! The second phase of a `GROUP BY` without a window: a result that is updated as rows come.
//!
//! ```text
//! partial states ─► waiting ── the input pauses, or much is waiting ─► merged with the groups' states
//!                                                                          │
//!                                            +I new · -U old, +U new ◄─────┘
//! ```
//!
//! A group's state is a row of partial states, and its last result a row too: DataFusion's
//! accumulators give state or result by draining, so each round merges the states of the groups that
//! it touches into fresh tables. Rounds are as large as the input is fast, so the cost a row falls as
//! the load rises, and a row that comes alone is answered at once.

mod snapshot;

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::row::{RowConverter, SortField};
use tidemill_core::{Epoch, EventBatch, Result, RowKind, Watermark};
use tidemill_state::{State, StateChanges};

use snapshot::Unsaved;

use super::keys::Keys;
use super::pre_group::partial_schema;
use super::slots::Slots;
use super::{Aggregation, Table};
use crate::operator::hands::Hands;
use crate::operator::{Dealer, Operator, Output};

/// A round begins at the latest when so many partial states wait.
const MAX_WAITING_ROWS: usize = 64 * 1024;

/// Groups with their states and results; emits what changed.
///
/// Output columns: the groups, the results.
pub struct GroupAggregate {
    // Configuration.
    aggregation: Aggregation,
    /// The columns of the rows before the first phase.
    input: SchemaRef,
    partials: SchemaRef,
    schema: SchemaRef,
    // State.
    /// `None` where there is no key: then there is one group, with number 0.
    keys: Option<Keys>,
    states: Slots,
    /// Of groups that were restored, only if they have changed since.
    results: Slots,
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    unsaved: Unsaved,
}

impl GroupAggregate {
    /// `input` are the columns that the aggregates' arguments are over.
    pub fn new(aggregation: Aggregation, input: SchemaRef) -> Result<Self> {
        let partials = partial_schema(&aggregation)?;
        let schema = Self::output_schema(&aggregation);
        let key = Arc::new(Schema::new(aggregation.group_fields()));
        let keys = (!key.fields().is_empty()).then(|| Keys::new(&key)).transpose()?;
        Ok(Self {
            states: Slots::new(Arc::clone(&partials)),
            results: Slots::new(Arc::clone(&schema)),
            keys,
            aggregation,
            input,
            partials,
            schema,
            waiting: vec![],
            waiting_rows: 0,
            unsaved: Unsaved::default(),
        })
    }

    /// The columns of the results.
    #[must_use]
    pub fn output_schema(aggregation: &Aggregation) -> SchemaRef {
        let mut fields = aggregation.group_fields();
        fields.extend(aggregation.result_fields());
        Arc::new(Schema::new(fields))
    }

    fn round(&mut self, out: &mut Output) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = concat_batches(&self.partials, &self.waiting)?;
        self.waiting.clear();
        self.waiting_rows = 0;
        let mut touched = self.groups_of(&waiting)?;
        touched.sort_unstable();
        touched.dedup();
        let old: Vec<usize> = touched.iter().copied().filter(|&group| self.states.is_set(group)).collect();
        self.make_results(&old)?;
        let states = self.merged(&[self.states.get(&old)?, waiting])?.states()?;
        let states = self.rows(&self.partials, states)?;
        let results = self.merged(std::slice::from_ref(&states))?.results()?;
        let results = self.rows(&self.schema, results)?;
        let groups = self.groups_of(&states)?;
        self.emit_changes(&groups, &results, out)?;
        self.unsaved.touch(&groups);
        self.states.set(&groups, states)?;
        self.results.set(&groups, results)
    }

    fn groups_of(&mut self, rows: &RecordBatch) -> Result<Vec<usize>> {
        let Some(keys) = &mut self.keys else { return Ok(vec![0; rows.num_rows()]) };
        let mut groups = vec![];
        let key: Vec<ArrayRef> = rows.columns()[..self.aggregation.groups.len()].to_vec();
        keys.intern(&key, &mut groups)?;
        Ok(groups)
    }

    /// The results that groups which were restored had told.
    fn make_results(&mut self, groups: &[usize]) -> Result<()> {
        let missing: Vec<usize> = groups.iter().copied().filter(|&group| !self.results.is_set(group)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let results = self.merged(&[self.states.get(&missing)?])?.results()?;
        self.results.set(&missing, self.rows(&self.schema, results)?)
    }

    fn merged(&self, parts: &[RecordBatch]) -> Result<Table> {
        let mut table = Table::new(self.aggregation.group_fields(), &self.aggregation.calls)?;
        for part in parts.iter().filter(|part| part.num_rows() > 0) {
            let (key, states) = part.columns().split_at(self.aggregation.groups.len());
            table.merge(key, states, part.num_rows())?;
        }
        Ok(table)
    }

    fn results_of_none(&self) -> Result<RecordBatch> {
        let mut table = self.merged(&[])?;
        table.occupy(&self.input)?;
        self.rows(&self.schema, table.results()?)
    }

    /// Columns with their number of rows, which there may be no column to tell.
    fn rows(&self, schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
        let rows = columns.first().map_or(1, arrow::array::Array::len);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
    }

    /// `+I` for a new group, `-U` and `+U` for one whose result has changed, nothing for one whose
    /// result has not.
    fn emit_changes(&self, groups: &[usize], results: &RecordBatch, out: &mut Output) -> Result<()> {
        let known: Vec<usize> = groups.iter().copied().filter(|&group| self.results.is_set(group)).collect();
        let old = self.results.get(&known)?;
        let same = equal_rows(&self.schema)?;
        let both = concat_batches(&self.schema, [&old, results])?;
        let equal = same.compare(&both)?;
        let (mut indices, mut kinds) = (vec![], vec![]);
        let mut next_old = 0;
        for (row, &group) in groups.iter().enumerate() {
            let new = old.num_rows() + row;
            if !self.results.is_set(group) {
                indices.push(new as u32);
                kinds.push(RowKind::Insert);
                continue;
            }
            if !equal(next_old, new) {
                indices.extend([next_old as u32, new as u32]);
                kinds.extend([RowKind::UpdateBefore, RowKind::UpdateAfter]);
            }
            next_old += 1;
        }
        let rows = take_record_batch(&both, &UInt32Array::from(indices))?;
        let kinds = if kinds.iter().all(|&kind| kind == RowKind::Insert) { None } else { Some(kinds.into()) };
        out.emit(EventBatch { kinds, ..EventBatch::append(rows) });
        Ok(())
    }
}

/// Compares rows of one batch.
pub(super) struct EqualRows(RowConverter);

pub(super) fn equal_rows(schema: &Schema) -> Result<EqualRows> {
    let fields = schema.fields().iter().map(|f| SortField::new(f.data_type().clone())).collect();
    Ok(EqualRows(RowConverter::new(fields)?))
}

impl EqualRows {
    pub(super) fn compare(&self, rows: &RecordBatch) -> Result<impl Fn(usize, usize) -> bool + use<>> {
        let rows = self.0.convert_columns(rows.columns())?;
        Ok(move |a, b| rows.row(a) == rows.row(b))
    }
}

impl Operator for GroupAggregate {
    fn describe(&self) -> String {
        format!("group by {}", self.aggregation)
    }

    fn unbounded_state(&self) -> Option<String> {
        self.aggregation.unbounded_state(false)
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        self.waiting_rows += batch.num_rows();
        self.waiting.push(batch.rows);
        if self.waiting_rows > MAX_WAITING_ROWS { self.round(out) } else { Ok(()) }
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        self.round(out)?;
        // The aggregate of no rows is a row too, once it is known that none will come.
        if watermark == Watermark::MAX && self.keys.is_none() && !self.states.is_set(0) && !self.results.is_set(0) {
            let results = self.results_of_none()?;
            self.results.set(&[0], results.clone())?;
            out.emit(EventBatch::append(results));
        }
        Ok(())
    }

    fn on_pause(&mut self, out: &mut Output) -> Result<()> {
        self.round(out)
    }

    fn on_barrier(&mut self, _epoch: Epoch, out: &mut Output) -> Result<()> {
        self.round(out)
    }

    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        self.save(changes)
    }

    fn restore(&mut self, state: State) -> Result<()> {
        self.load(state)
    }

    fn deal(&self, state: State, dealer: &Dealer) -> Result<Vec<State>> {
        Hands::deal(state, dealer, self.keys.is_some(), |state, hands| self.deal_groups(state, hands))
    }

    fn restore_all(&mut self, states: Vec<State>) -> Result<()> {
        self.load_anew(states)
    }
}
