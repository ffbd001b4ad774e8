//! The first phase of a window aggregate: before the exchange, one table a source task.
//!
//! Rows fold into partial states keyed (pane, opens_at, group). `opens_at` is the end of the first
//! window that the row is in time for: window `e` later merges the partials with `opens_at ≤ e`,
//! so a row that is late for one hopping window still counts in the next. Late rows leave here.
//!
//! The table is flushed whole before anything that a snapshot or a window could miss passes by, so
//! this operator has no state of its own.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimestampMillisecondType};
use tidemill_core::{Epoch, EventBatch, Result, Watermark};

use super::late::Missed;
use super::pace::Pace;
use super::{LateOutput, TimeColumn, WindowAssigner, WindowSpec};
use crate::aggregate::{Aggregation, Table};
use crate::metrics::{LateReason, WindowMetrics, add};
use crate::operator::{Operator, Output, Port, evaluate};

/// How many groups the table holds before it is flushed: past that, folding saves little.
const MAX_GROUPS: usize = 64 * 1024;

/// Or when it takes so much memory: few groups may have many values.
const MAX_BYTES: usize = 16 << 20;

/// Folds rows into partial states by pane and group.
pub struct PreAggregate {
    // Configuration.
    time: TimeColumn,
    spec: WindowSpec,
    late: Option<LateOutput>,
    metrics: Arc<WindowMetrics>,
    schema: SchemaRef,
    // Flushed at every barrier: never part of a snapshot.
    table: Table,
    /// The end, in local time, of the first window that a row in the table is in.
    first_end_ms: i64,
    /// Flushes the table for windows that fire early.
    early: Option<Pace>,
}

/// The columns between the two phases: `pane`, `opens_at` where windows overlap, groups, states.
pub(super) fn partial_schema(assigner: &WindowAssigner, aggregation: &Aggregation) -> Result<SchemaRef> {
    let mut fields = key_fields(assigner, aggregation);
    fields.extend(aggregation.state_fields()?);
    Ok(Arc::new(Schema::new(fields)))
}

fn key_fields(assigner: &WindowAssigner, aggregation: &Aggregation) -> Vec<FieldRef> {
    let mut fields: Vec<FieldRef> = vec![Arc::new(Field::new("pane", DataType::Int64, false))];
    if assigner.overlapping() {
        fields.push(Arc::new(Field::new("opens_at", DataType::Int64, false)));
    }
    fields.extend(aggregation.group_fields());
    fields
}

impl PreAggregate {
    /// For rows with this event time.
    pub fn new(
        time: TimeColumn,
        spec: WindowSpec,
        late: Option<LateOutput>,
        metrics: Arc<WindowMetrics>,
    ) -> Result<Self> {
        Ok(Self {
            schema: partial_schema(&spec.assigner, &spec.aggregation)?,
            table: Table::new(key_fields(&spec.assigner, &spec.aggregation), &spec.aggregation.calls)?,
            first_end_ms: i64::MAX,
            early: spec.early_fire.map(Pace::new),
            time,
            spec,
            late,
            metrics,
        })
    }

    /// The columns of the partial states that hold the group's key.
    #[must_use]
    pub fn group_columns(assigner: &WindowAssigner, aggregation: &Aggregation) -> Vec<usize> {
        let first = 1 + usize::from(assigner.overlapping());
        (first..first + aggregation.groups.len()).collect()
    }

    /// Takes out the rows that are in no window or late for all, and tells the others' `opens_at`
    /// where it is not the end of their first window.
    fn sort_out_late(&self, batch: EventBatch, out: &mut Output) -> Result<(EventBatch, Option<Vec<i64>>)> {
        let times = batch.rows.column(self.time.index).as_primitive::<TimestampMillisecondType>();
        let unusable = times.null_count() > 0 || !self.time.range.hold_all(times.values());
        if !unusable && batch.watermarks.is_none() {
            return Ok((batch, None));
        }
        let mut missed = Missed::default();
        let mut in_time = vec![true; times.len()];
        let mut opens_at = vec![0; times.len()];
        let mut late_rows = 0;
        for (row, time) in times.iter().enumerate() {
            let Some(time_ms) = time.filter(|&ms| self.time.range.hold(ms)) else {
                let reason = LateReason::of_unusable(time);
                self.metrics.count_unusable(reason);
                in_time[row] = false;
                missed.push(row, None, reason);
                continue;
            };
            let watermark = batch.watermarks.as_ref().map_or(Watermark::MIN, |w| Watermark(w.value(row)));
            let pane = self.spec.assigner.pane(time_ms);
            if !self.takes_no_more(self.spec.assigner.pane_end(pane), watermark) {
                opens_at[row] = self.spec.assigner.pane_end(pane);
                continue;
            }
            late_rows += 1;
            let last_moment =
                self.spec.assigner.closes_at(self.spec.assigner.last_end(pane)) - 1 + self.spec.lateness_ms;
            self.metrics.missing_delay.record(watermark.0 - last_moment);
            in_time[row] = false;
            for window in self.spec.assigner.windows(pane) {
                if !self.takes_no_more(window.end_ms, watermark) {
                    in_time[row] = true;
                    opens_at[row] = window.end_ms;
                    break;
                }
                missed.push(row, Some(window), LateReason::Late);
            }
        }
        add(&self.metrics.late_rows, late_rows);
        if missed.is_empty() {
            return Ok((batch, None));
        }
        if let Some(late) = &self.late {
            out.emit_to(Port::LATE, late.batch(&batch, missed)?);
        }
        let kept = batch.filter(&BooleanArray::from(in_time.clone()))?;
        let opens_at = opens_at.into_iter().zip(in_time).filter_map(|(end, kept)| kept.then_some(end)).collect();
        Ok((kept, Some(opens_at)))
    }

    /// Whether a row with this watermark is late for a window with this end.
    fn takes_no_more(&self, end_ms: i64, watermark: Watermark) -> bool {
        watermark.closes(self.spec.assigner.closes_at(end_ms) + self.spec.lateness_ms)
    }

    fn fold(&mut self, rows: &RecordBatch, opens_at: Option<Vec<i64>>) -> Result<()> {
        let times = rows.column(self.time.index).as_primitive::<TimestampMillisecondType>();
        let panes = Int64Array::from(self.spec.assigner.panes(times.values()));
        let mut key: Vec<ArrayRef> = Vec::with_capacity(2 + self.spec.aggregation.groups.len());
        if self.spec.assigner.overlapping() {
            let opens_at = match opens_at {
                Some(opens_at) => Int64Array::from(opens_at),
                None => panes.unary(|pane| self.spec.assigner.pane_end(pane)),
            };
            self.first_end_ms = opens_at.values().iter().copied().fold(self.first_end_ms, i64::min);
            key.push(Arc::new(panes));
            key.push(Arc::new(opens_at));
        } else {
            let first_pane = panes.values().iter().copied().min();
            self.first_end_ms = first_pane.map_or(i64::MAX, |p| self.spec.assigner.pane_end(p)).min(self.first_end_ms);
            key.push(Arc::new(panes));
        }
        for (expr, _) in &self.spec.aggregation.groups {
            key.push(evaluate(expr, rows)?);
        }
        self.table.update(&key, rows)
    }

    fn flush(&mut self, out: &mut Output) -> Result<()> {
        self.early.iter_mut().for_each(Pace::disarm);
        if self.table.is_empty() {
            return Ok(());
        }
        self.first_end_ms = i64::MAX;
        out.emit(EventBatch::append(RecordBatch::try_new(Arc::clone(&self.schema), self.table.states()?)?));
        Ok(())
    }
}

impl Operator for PreAggregate {
    fn describe(&self) -> String {
        format!("fold {} panes by {}", self.spec.assigner, self.spec.aggregation)
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        add(&self.metrics.rows, batch.num_rows());
        let (batch, opens_at) = self.sort_out_late(batch, out)?;
        if batch.num_rows() > 0 {
            self.fold(&batch.rows, opens_at)?;
            self.early.iter_mut().for_each(|pace| pace.arm(Instant::now()));
        }
        if self.table.len() > MAX_GROUPS || self.table.bytes() > MAX_BYTES { self.flush(out) } else { Ok(()) }
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        if watermark.closes(self.spec.assigner.closes_at(self.first_end_ms)) { self.flush(out) } else { Ok(()) }
    }

    fn on_barrier(&mut self, _epoch: Epoch, out: &mut Output) -> Result<()> {
        self.flush(out)
    }

    fn timer(&self) -> Option<Instant> {
        self.early.as_ref().and_then(Pace::due)
    }

    fn on_timer(&mut self, _now: Instant, out: &mut Output) -> Result<()> {
        self.flush(out)
    }
}
