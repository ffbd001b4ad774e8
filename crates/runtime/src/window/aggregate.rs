//! The second phase of a window aggregate: behind the exchange, one subtask a range of key groups.
//!
//! Partial states wait as Arrow batches, a list a pane. When the watermark passes the end of a
//! window, the partials of its panes that are in time for it are merged into a fresh table, whose
//! results leave as rows. DataFusion's accumulators give their state or result by draining, so
//! a window can't be read from a table that goes on living; batches can be read as often as needed.

mod dealt;
mod sliding;
mod snapshot;
mod together;
mod update;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, TimestampMillisecondArray, UInt32Array,
    new_empty_array,
};
use arrow::compute::{filter_record_batch, take_record_batch};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, Schema, SchemaRef, TimeUnit};
use tidemill_core::{Error, EventBatch, Result, Watermark};
use tidemill_state::{State, StateChanges};

use sliding::Sliding;
use snapshot::Unsaved;

use super::changes::changes;
use super::pace::Pace;
use super::pre_aggregate::partial_schema;
use super::spec::telling_words;
use super::{Window, WindowSpec};
use crate::aggregate::{Aggregation, Table};
use crate::operator::hands::Hands;
use crate::operator::{Dealer, Operator, Output};

/// The rows of one output batch.
const OUTPUT_ROWS: usize = 8 * 1024;

/// How many windows fire before what they emit is sent.
const MAX_WINDOWS: usize = 64;

/// A pane's partials are compacted when they weigh as much as this many rows more than twice what the last compaction left.
const COMPACT_ROWS: usize = if cfg!(test) { 8 } else { 8 * 1024 };

/// Merges partial states, and emits a window's results when it is complete. With early firing it emits
/// provisional results before, with an allowed lateness what rows that come within it change: `+I` where
/// a group is new, `-U` and `+U` where its result has changed.
///
/// Output columns: `window_start` and `window_end` (local times), `window_time` (the last moment that
/// is in), the groups, the results.
pub struct WindowAggregate {
    // Configuration.
    spec: WindowSpec,
    partials: SchemaRef,
    schema: SchemaRef,
    time_zone: Option<Arc<str>>,
    /// How many columns of the partials stand before the groups.
    prefix: usize,
    // State.
    panes: BTreeMap<i64, Pane>,
    /// The panes with rows that are late for some of their windows.
    stragglers: BTreeSet<i64>,
    /// Panes merged for the windows that fire next, where that spares merges. Made again of the panes.
    sliding: Option<Sliding>,
    /// How many groups the window had that fired last.
    last_groups: usize,
    /// Windows that end here or earlier have fired.
    fired_ms: i64,
    /// By end: the last results of windows that can tell others: they still take rows, or were provisional.
    told: BTreeMap<i64, RecordBatch>,
    /// Windows that tell more than once, and have got rows since they last did.
    dirty: BTreeSet<Window>,
    /// The watermark completes more windows than have fired. False between messages.
    unfinished: bool,
    unsaved: Unsaved,
    // Processing time: never part of a snapshot.
    early: Option<Pace>,
    late: Option<Pace>,
}

/// The partial states of one pane.
#[derive(Debug, Default)]
struct Pane {
    parts: Vec<RecordBatch>,
    rows: usize,
    /// What all parts weigh, and what compacting has left last ([`weight`]).
    weight: usize,
    compacted_weight: usize,
    /// So many parts, from the first, are what the last snapshot has of it; 0 if it has others, or none.
    saved_parts: usize,
}

impl WindowAggregate {
    /// `time` is the type of the event time.
    pub fn new(spec: WindowSpec, time: &DataType) -> Result<Self> {
        let DataType::Timestamp(TimeUnit::Millisecond, time_zone) = time else {
            return Err(Error::internal(format!("event time has the type {time}")));
        };
        Ok(Self {
            partials: partial_schema(&spec.assigner, &spec.aggregation)?,
            schema: Self::output_schema(&spec.aggregation, time),
            time_zone: time_zone.clone(),
            prefix: 1 + usize::from(spec.assigner.overlapping()),
            early: spec.early_fire.map(Pace::new),
            late: spec.late_fire.map(Pace::new),
            spec,
            told: BTreeMap::new(),
            unfinished: false,
            dirty: BTreeSet::new(),
            panes: BTreeMap::new(),
            stragglers: BTreeSet::new(),
            sliding: None,
            last_groups: 0,
            fired_ms: i64::MIN,
            unsaved: Unsaved::default(),
        })
    }

    /// The columns of the results.
    #[must_use]
    pub fn output_schema(aggregation: &Aggregation, time: &DataType) -> SchemaRef {
        let bound = |name, data_type: &DataType| Arc::new(Field::new(name, data_type.clone(), false)) as FieldRef;
        let local = DataType::Timestamp(TimeUnit::Millisecond, None);
        let mut fields = vec![bound("window_start", &local), bound("window_end", &local), bound("window_time", time)];
        fields.extend(aggregation.group_fields());
        fields.extend(aggregation.result_fields());
        Arc::new(Schema::new(fields))
    }

    fn store(&mut self, pane_ms: i64, part: RecordBatch) -> Result<()> {
        self.mark_dirty(pane_ms, &part);
        self.mark_stragglers(pane_ms, &part);
        self.unsaved.panes.note(pane_ms);
        let pane = self.panes.entry(pane_ms).or_default();
        pane.rows += part.num_rows();
        pane.weight += weight(&part);
        pane.parts.push(part);
        if pane.weight > 2 * pane.compacted_weight + COMPACT_ROWS {
            self.compact(pane_ms)?;
        }
        Ok(())
    }

    fn mark_stragglers(&mut self, pane_ms: i64, part: &RecordBatch) {
        if !self.spec.assigner.overlapping() {
            return;
        }
        let first_end_ms = self.spec.assigner.pane_end(pane_ms);
        let opens_at = part.column(1).as_primitive::<Int64Type>().values();
        if opens_at.iter().any(|&end_ms| end_ms > first_end_ms) {
            self.stragglers.insert(pane_ms);
        }
    }

    /// Merges the partials of equal `opens_at` and group.
    fn compact(&mut self, pane_ms: i64) -> Result<()> {
        let key = self.partials.fields()[..self.prefix + self.spec.aggregation.groups.len()].to_vec();
        let states = key.len();
        let mut table = Table::new(key, &self.spec.aggregation.calls)?;
        let Some(pane) = self.panes.get_mut(&pane_ms) else { return Ok(()) };
        for part in pane.parts.drain(..) {
            table.merge(&part.columns()[..states], &part.columns()[states..], part.num_rows())?;
        }
        let part = RecordBatch::try_new(Arc::clone(&self.partials), table.states()?)?;
        pane.rows = part.num_rows();
        pane.weight = weight(&part);
        pane.compacted_weight = pane.weight;
        pane.saved_parts = 0;
        pane.parts.push(part);
        Ok(())
    }

    /// The first window that has not fired and holds a row.
    fn next_window(&self) -> Option<Window> {
        // No pane's next window ends before that of an earlier pane.
        self.panes.keys().find_map(|&pane_ms| self.spec.assigner.next_window(pane_ms, self.fired_ms))
    }

    fn fire(&mut self, window: Window, watermark: Watermark, out: &mut Output) -> Result<()> {
        let table = self.final_results(window)?;
        let results = self.rows_of(window, table)?;
        self.fired_ms = window.end_ms;
        self.dirty.remove(&window);
        match self.told.remove(&window.end_ms) {
            Some(provisional) => emit_in_pieces(&changes(&provisional, &results, self.key_columns())?, out),
            None => emit_in_pieces(&EventBatch::append(results.clone()), out),
        }
        if self.spec.lateness_ms > 0 {
            self.told.insert(window.end_ms, results);
        }
        self.unsaved.told.note(window.end_ms);
        self.forget(watermark);
        Ok(())
    }

    /// The window's results as they are now.
    fn results(&self, window: Window) -> Result<RecordBatch> {
        self.rows_of(window, self.merged(window)?)
    }

    /// The partials of the window's panes that are in time for it, merged.
    fn merged(&self, window: Window) -> Result<Table> {
        let mut table = self.table()?;
        for (_, pane) in self.panes.range(window.start_ms..window.end_ms) {
            self.merge_parts(&mut table, pane, |opens_at| opens_at <= window.end_ms)?;
        }
        Ok(table)
    }

    fn table(&self) -> Result<Table> {
        Table::new(self.spec.aggregation.group_fields(), &self.spec.aggregation.calls)
    }

    /// Merges the partials that are `wanted` by the end of the first window that they are in time for.
    fn merge_parts(&self, table: &mut Table, pane: &Pane, wanted: impl Fn(i64) -> bool) -> Result<()> {
        let states = self.prefix + self.spec.aggregation.groups.len();
        for part in &pane.parts {
            let part = self.opening(part, &wanted)?;
            table.merge(&part.columns()[self.prefix..states], &part.columns()[states..], part.num_rows())?;
        }
        Ok(())
    }

    fn rows_of(&self, window: Window, mut table: Table) -> Result<RecordBatch> {
        let rows = table.len();
        let bound = |ms| TimestampMillisecondArray::from_value(ms, rows);
        let time = bound(self.spec.assigner.closes_at(window.end_ms) - 1).with_timezone_opt(self.time_zone.clone());
        let mut columns: Vec<ArrayRef> =
            vec![Arc::new(bound(window.start_ms)), Arc::new(bound(window.end_ms)), Arc::new(time)];
        columns.extend(if rows > 0 { table.results()? } else { self.no_results() });
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }

    fn no_results(&self) -> Vec<ArrayRef> {
        self.schema.fields()[3..].iter().map(|field| new_empty_array(field.data_type())).collect()
    }

    /// Drops what no row to come can change.
    fn forget(&mut self, watermark: Watermark) {
        let (assigner, lateness_ms, fired_ms) = (self.spec.assigner, self.spec.lateness_ms, self.fired_ms);
        let done = |end_ms: i64| end_ms <= fired_ms && watermark.closes(assigner.closes_at(end_ms) + lateness_ms);
        while let Some((&pane_ms, _)) = self.panes.first_key_value().filter(|(p, _)| done(assigner.last_end(**p))) {
            self.panes.pop_first();
            self.stragglers.remove(&pane_ms);
            self.unsaved.panes.note(pane_ms);
        }
        while let Some((&end_ms, _)) = self.told.first_key_value().filter(|(end_ms, _)| done(**end_ms)) {
            self.told.pop_first();
            self.unsaved.told.note(end_ms);
        }
    }

    /// The partials that are `wanted` by the end of the first window that they are in time for.
    fn opening(&self, part: &RecordBatch, wanted: impl Fn(i64) -> bool) -> Result<RecordBatch> {
        if !self.spec.assigner.overlapping() {
            return Ok(part.clone());
        }
        let opens_at = part.column(1).as_primitive::<Int64Type>();
        if opens_at.values().iter().all(|&end_ms| wanted(end_ms)) {
            return Ok(part.clone());
        }
        let mask: BooleanArray = opens_at.values().iter().map(|&end_ms| Some(wanted(end_ms))).collect();
        Ok(filter_record_batch(part, &mask)?)
    }
}

/// How many rows partial states are, and how many values they list: compacting makes one row of those of a group, and
/// keeps its values.
fn weight(part: &RecordBatch) -> usize {
    let listed = part.columns().iter().map(|column| match column.data_type() {
        DataType::List(_) => column.as_list::<i32>().offsets().lengths().sum(),
        DataType::LargeList(_) => column.as_list::<i64>().offsets().lengths().sum(),
        _ => 0,
    });
    part.num_rows() + listed.sum::<usize>()
}

pub(super) fn emit_in_pieces(batch: &EventBatch, out: &mut Output) {
    for offset in (0..batch.num_rows()).step_by(OUTPUT_ROWS) {
        out.emit(batch.slice(offset, OUTPUT_ROWS.min(batch.num_rows() - offset)));
    }
}

impl Operator for WindowAggregate {
    fn describe(&self) -> String {
        format!("window {} by {}", self.spec.assigner, self.spec.aggregation)
    }

    fn state_words(&self) -> String {
        let WindowSpec { lateness_ms, early_fire, late_fire, .. } = self.spec;
        self.describe() + &telling_words(lateness_ms, early_fire.is_some(), late_fire.is_some())
    }

    fn on_batch(&mut self, batch: EventBatch, _out: &mut Output) -> Result<()> {
        let panes = batch.rows.column(0).as_primitive::<Int64Type>().clone();
        let Some(&first) = panes.values().first() else { return Ok(()) };
        if panes.values().iter().all(|&pane| pane == first) {
            return self.store(first, batch.rows);
        }
        // By pane, and in a pane as they came; many panes come at once where a source is read in large chunks.
        let mut order: Vec<u32> = (0u32..).take(panes.len()).collect();
        order.sort_by_key(|&row| panes.value(row as usize));
        let rows = take_record_batch(&batch.rows, &UInt32Array::from(order))?;
        let sorted = rows.column(0).as_primitive::<Int64Type>().clone();
        let mut start = 0;
        for pane in sorted.values().chunk_by(|a, b| a == b) {
            self.store(pane[0], rows.slice(start, pane.len()))?;
            start += pane.len();
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        if self.fires_together() {
            self.unfinished = self.fire_together(watermark, out)?;
            return Ok(());
        }
        let WindowSpec { assigner, lateness_ms, .. } = self.spec;
        let (fired_ms, at_once) = (self.fired_ms, self.late.is_none());
        let final_soon = |window: &Window| watermark.closes(assigner.closes_at(window.end_ms) + lateness_ms);
        self.update(|window| window.end_ms <= fired_ms && (at_once || final_soon(window)), out)?;
        let complete = |window: &Window| watermark.closes(assigner.closes_at(window.end_ms));
        let mut windows = 0;
        let mut next = self.next_window().filter(complete);
        while let Some(window) = next
            && windows < MAX_WINDOWS
            && out.rows() < OUTPUT_ROWS
        {
            self.fire(window, watermark, out)?;
            windows += 1;
            next = self.next_window().filter(complete);
        }
        self.unfinished = next.is_some();
        self.forget(watermark);
        Ok(())
    }

    fn unfinished(&self) -> bool {
        self.unfinished
    }

    fn timer(&self) -> Option<Instant> {
        [&self.early, &self.late].into_iter().flatten().filter_map(Pace::due).min()
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) -> Result<()> {
        let fired_ms = self.fired_ms;
        if self.early.as_mut().is_some_and(|pace| pace.take(now)) {
            self.update(|window| window.end_ms > fired_ms, out)?;
        }
        if self.late.as_mut().is_some_and(|pace| pace.take(now)) {
            self.update(|window| window.end_ms <= fired_ms, out)?;
        }
        Ok(())
    }

    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        self.save(changes)
    }

    fn restore(&mut self, state: State) -> Result<()> {
        self.load(state)
    }

    fn deal(&self, state: State, dealer: &Dealer) -> Result<Vec<State>> {
        Hands::deal(state, dealer, !self.spec.aggregation.groups.is_empty(), |state, hands| {
            self.deal_panes(state, hands)
        })
    }

    fn restore_all(&mut self, states: Vec<State>) -> Result<()> {
        self.load_anew(states)
    }
}
