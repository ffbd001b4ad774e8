//! A `GROUP BY` over a result that is updated: rows come, and are taken back.
//!
//! Nothing is folded before the exchange, for a row and its withdrawal must meet. Each group keeps
//! accumulators that take rows back, and the number of its rows: at 0 it is gone.

mod snapshot;

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array, new_empty_array};
use arrow::compute::{concat_batches, take, take_record_batch};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Accumulator;
use datafusion::physical_plan::aggregates::group_values::{GroupValues, new_group_values};
use datafusion::physical_plan::aggregates::order::GroupOrdering;
use tidemill_core::{Epoch, EventBatch, Result, RowKind, Watermark};
use tidemill_state::{State, StateChanges};

use snapshot::Unsaved;

use super::slots::Slots;
use super::{Aggregation, GroupAggregate};
use crate::engine_error;
use crate::operator::hands::Hands;
use crate::operator::{Dealer, Operator, Output, evaluate};

/// A round begins at the latest when so many rows wait.
const MAX_WAITING_ROWS: usize = 64 * 1024;

/// Groups of rows that may be taken back; emits what changed.
///
/// Input columns: the groups, then the rows that the aggregates' arguments are over. Output columns:
/// the groups, the results.
pub struct RetractGroup {
    // Configuration.
    aggregation: Aggregation,
    /// The columns of the rows, without the groups.
    input: SchemaRef,
    schema: SchemaRef,
    // State.
    /// `None` where there is no key: then there is one group, with number 0, which stays.
    keys: Option<Box<dyn GroupValues>>,
    groups: Vec<Group>,
    results: Slots,
    waiting: Vec<EventBatch>,
    waiting_rows: usize,
    unsaved: Unsaved,
}

#[derive(Default)]
struct Group {
    rows: i64,
    /// Empty until a row comes.
    accumulators: Vec<Box<dyn Accumulator>>,
}

/// The rows of a round that one group gets and loses.
#[derive(Default)]
struct Changes {
    added: Vec<u32>,
    taken_back: Vec<u32>,
}

impl RetractGroup {
    /// `input` are the columns that the aggregates' arguments are over.
    ///
    /// # Errors
    /// If an aggregate can't take rows back.
    pub fn new(aggregation: Aggregation, input: SchemaRef) -> Result<Self> {
        let schema = GroupAggregate::output_schema(&aggregation);
        let key = Arc::new(Schema::new(aggregation.group_fields()));
        let keys = match key.fields().is_empty() {
            true => None,
            false => Some(new_group_values(key, &GroupOrdering::None).map_err(engine_error)?),
        };
        accumulators(&aggregation)?;
        let results = Slots::new(Arc::clone(&schema));
        Ok(Self {
            aggregation,
            input,
            schema,
            keys,
            groups: vec![],
            results,
            waiting: vec![],
            waiting_rows: 0,
            unsaved: Unsaved::default(),
        })
    }

    fn round(&mut self, out: &mut Output) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_rows = 0;
        let Some(first) = waiting.first() else { return Ok(()) };
        let rows = concat_batches(first.rows.schema_ref(), waiting.iter().map(|batch| &batch.rows))?;
        let kinds: Vec<RowKind> = waiting.iter().flat_map(kinds).collect();
        let (touched, changes) = self.changes(&rows, &kinds)?;
        self.apply(&rows, &touched, &changes)?;
        self.emit(&touched, &rows, &changes, out)?;
        self.unsaved.note(&touched, &self.results);
        Ok(())
    }

    /// The groups that the rows belong to, each with its rows, in the order in which they come.
    fn changes(&mut self, rows: &RecordBatch, kinds: &[RowKind]) -> Result<(Vec<usize>, Vec<Changes>)> {
        let mut numbers = vec![0; rows.num_rows()];
        if let Some(keys) = &mut self.keys {
            let key: Vec<ArrayRef> = rows.columns()[..self.aggregation.groups.len()].to_vec();
            keys.intern(&key, &mut numbers).map_err(engine_error)?;
        }
        let count = numbers.iter().max().map_or(0, |&group| group + 1).max(self.groups.len());
        self.groups.resize_with(count, Group::default);
        let mut touched: Vec<usize> = numbers.clone();
        touched.sort_unstable();
        touched.dedup();
        let mut changes: Vec<Changes> = touched.iter().map(|_| Changes::default()).collect();
        for ((group, kind), row) in numbers.iter().zip(kinds).zip(0u32..) {
            let place = touched.partition_point(|other| other < group);
            match kind {
                RowKind::Insert | RowKind::UpdateAfter => changes[place].added.push(row),
                RowKind::UpdateBefore | RowKind::Delete => changes[place].taken_back.push(row),
            }
        }
        Ok((touched, changes))
    }

    fn apply(&mut self, rows: &RecordBatch, touched: &[usize], changes: &[Changes]) -> Result<()> {
        let columns: Vec<usize> = (self.aggregation.groups.len()..rows.num_columns()).collect();
        let rows = RecordBatch::try_new_with_options(
            Arc::clone(&self.input),
            rows.project(&columns)?.columns().to_vec(),
            &RecordBatchOptions::new().with_row_count(Some(rows.num_rows())),
        )?;
        for (&group, changes) in touched.iter().zip(changes) {
            let group = &mut self.groups[group];
            if group.accumulators.is_empty() {
                group.accumulators = accumulators(&self.aggregation)?;
            }
            group.rows += changes.added.len() as i64 - changes.taken_back.len() as i64;
        }
        for (number, call) in self.aggregation.calls.iter().enumerate() {
            let arguments =
                call.function.expressions().iter().map(|e| evaluate(e, &rows)).collect::<Result<Vec<_>>>()?;
            let filter = call.filter.as_ref().map(|f| evaluate(f, &rows)).transpose()?;
            let counts = |row: &u32| {
                let filter = filter.as_ref().map(|filter| filter.as_boolean());
                filter.is_none_or(|f| arrow::array::Array::is_valid(f, *row as usize) && f.value(*row as usize))
            };
            for (&group, changes) in touched.iter().zip(changes) {
                let accumulator = &mut self.groups[group].accumulators[number];
                let added: Vec<u32> = changes.added.iter().copied().filter(counts).collect();
                if !added.is_empty() {
                    accumulator.update_batch(&of(&arguments, added)?).map_err(engine_error)?;
                }
                let taken_back: Vec<u32> = changes.taken_back.iter().copied().filter(counts).collect();
                if !taken_back.is_empty() {
                    accumulator.retract_batch(&of(&arguments, taken_back)?).map_err(engine_error)?;
                }
            }
        }
        Ok(())
    }

    /// `+I` for a new group, `-U` and `+U` for one whose result has changed, `-D` for one that is gone.
    fn emit(&mut self, touched: &[usize], rows: &RecordBatch, changes: &[Changes], out: &mut Output) -> Result<()> {
        let keyless = self.keys.is_none();
        let gone: HashSet<usize> =
            touched.iter().copied().filter(|&group| !keyless && self.groups[group].rows <= 0).collect();
        let old: Vec<usize> = touched.iter().copied().filter(|&group| self.results.is_set(group)).collect();
        let staying: Vec<(usize, u32)> = touched
            .iter()
            .zip(changes)
            .filter(|(group, _)| !gone.contains(*group))
            .filter_map(|(&group, changes)| Some((group, *changes.added.first().or(changes.taken_back.first())?)))
            .collect();
        let old_rows = self.results.get(&old)?;
        let new_rows = self.new_results(&staying, rows)?;
        let both = concat_batches(&self.schema, [&old_rows, &new_rows])?;
        let equal = super::group::equal_rows(&self.schema)?.compare(&both)?;
        let (mut indices, mut kinds) = (vec![], vec![]);
        let (mut next_old, mut next_new) = (0, old.len());
        for group in touched {
            let before = self.results.is_set(*group).then(|| (next_old, next_old += 1).0);
            let after = staying.get(next_new - old.len()).is_some_and(|(next, _)| next == group);
            let after = after.then(|| (next_new, next_new += 1).0);
            match (before, after) {
                (None, Some(new)) => {
                    indices.push(new as u32);
                    kinds.push(RowKind::Insert);
                }
                (Some(old), Some(new)) if !equal(old, new) => {
                    indices.extend([old as u32, new as u32]);
                    kinds.extend([RowKind::UpdateBefore, RowKind::UpdateAfter]);
                }
                (Some(old), None) => {
                    indices.push(old as u32);
                    kinds.push(RowKind::Delete);
                }
                _ => {}
            }
        }
        let emitted = take_record_batch(&both, &UInt32Array::from(indices))?;
        out.emit(EventBatch { kinds: Some(kinds.into()), ..EventBatch::append(emitted) });
        let numbers: Vec<usize> = staying.iter().map(|(group, _)| *group).collect();
        self.results.set(&numbers, new_rows)?;
        for group in gone {
            self.results.unset(group);
            self.groups[group] = Group::default();
        }
        Ok(())
    }

    /// The results of groups; each comes with a row that has its key.
    fn new_results(&mut self, groups: &[(usize, u32)], rows: &RecordBatch) -> Result<RecordBatch> {
        let of_key = UInt32Array::from(groups.iter().map(|(_, row)| *row).collect::<Vec<_>>());
        let keys = rows.columns()[..self.aggregation.groups.len()].iter();
        let mut columns: Vec<ArrayRef> = keys.map(|key| take(key, &of_key, None)).collect::<Result<_, _>>()?;
        for number in 0..self.aggregation.calls.len() {
            let result =
                |(group, _): &(usize, u32)| self.groups[*group].accumulators[number].evaluate().map_err(engine_error);
            let results: Vec<ScalarValue> = groups.iter().map(result).collect::<Result<_>>()?;
            let field = self.schema.field(columns.len());
            columns.push(match results.is_empty() {
                true => new_empty_array(field.data_type()),
                false => ScalarValue::iter_to_array(results).map_err(engine_error)?,
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(groups.len()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }
}

fn accumulators(aggregation: &Aggregation) -> Result<Vec<Box<dyn Accumulator>>> {
    let make = |call: &super::AggregateCall| call.function.create_sliding_accumulator().map_err(engine_error);
    aggregation.calls.iter().map(make).collect()
}

fn kinds(batch: &EventBatch) -> Vec<RowKind> {
    match &batch.kinds {
        Some(kinds) => kinds.to_vec(),
        None => vec![RowKind::Insert; batch.num_rows()],
    }
}

fn of(arguments: &[ArrayRef], rows: Vec<u32>) -> Result<Vec<ArrayRef>> {
    let rows = UInt32Array::from(rows);
    Ok(arguments.iter().map(|argument| take(argument, &rows, None)).collect::<Result<_, _>>()?)
}

impl Operator for RetractGroup {
    fn describe(&self) -> String {
        format!("group what is updated by {}", self.aggregation)
    }

    fn unbounded_state(&self) -> Option<String> {
        self.aggregation.unbounded_state(true)
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        self.waiting_rows += batch.num_rows();
        self.waiting.push(batch);
        if self.waiting_rows > MAX_WAITING_ROWS { self.round(out) } else { Ok(()) }
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        self.round(out)?;
        // The aggregate of no rows is a row too, once it is known that none will come.
        if watermark == Watermark::MAX && self.keys.is_none() && !self.results.is_set(0) {
            self.groups = vec![Group { rows: 0, accumulators: accumulators(&self.aggregation)? }];
            let none = RecordBatch::new_empty(Arc::clone(&self.input));
            let results = self.new_results(&[(0, 0)], &none)?;
            self.results.set(&[0], results.clone())?;
            self.unsaved.note(&[0], &self.results);
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
