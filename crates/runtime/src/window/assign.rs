//! Windows as columns: each row once for every window that it is in.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, TimestampMillisecondArray, UInt32Array};
use arrow::datatypes::{SchemaRef, TimestampMillisecondType};
use tidemill_core::{EventBatch, EventTimes, Result};

use super::{TimeColumn, Window, WindowAssigner};
use crate::metrics::{LateReason, WindowMetrics, add};
use crate::operator::{Operator, Output};

/// Puts `window_start`, `window_end` and `window_time` behind a row's columns. A row without a
/// usable time is in no window.
pub struct AssignWindows {
    time: TimeColumn,
    assigner: WindowAssigner,
    schema: SchemaRef,
    metrics: Arc<WindowMetrics>,
}

impl AssignWindows {
    /// `schema` is the output's.
    pub fn new(time: TimeColumn, assigner: WindowAssigner, schema: SchemaRef, metrics: Arc<WindowMetrics>) -> Self {
        Self { time, assigner, schema, metrics }
    }
}

impl Operator for AssignWindows {
    fn describe(&self) -> String {
        format!("assign {}", self.assigner)
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        add(&self.metrics.rows, batch.num_rows());
        let times = batch.rows.column(self.time.index).as_primitive::<TimestampMillisecondType>();
        for unusable in times.iter().filter(|time| !time.is_some_and(|ms| self.time.range.hold(ms))) {
            self.metrics.count_unusable(LateReason::of_unusable(unusable));
        }
        let (rows, bounds) = windows_of(times, self.time.range, self.assigner, |_, _| true);
        let assigned = batch.take(&rows)?;
        let columns = assigned.rows.columns().iter().cloned().chain(bounds).collect();
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        out.emit(assigned.with_rows(rows));
        Ok(())
    }
}

/// For each window of each row with a time in `range`, if it is `wanted`: the row's index, and the window's start, end and time.
pub fn windows_of(
    times: &TimestampMillisecondArray,
    range: EventTimes,
    assigner: WindowAssigner,
    wanted: impl Fn(usize, Window) -> bool,
) -> (UInt32Array, [ArrayRef; 3]) {
    let mut rows: Vec<u32> = Vec::with_capacity(times.len());
    let mut windows: Vec<Window> = Vec::with_capacity(times.len());
    for (row, index) in (0..times.len()).zip(0u32..) {
        if times.is_null(row) || !range.hold(times.value(row)) {
            continue;
        }
        for window in assigner.windows(assigner.pane(times.value(row))).filter(|w| wanted(row, *w)) {
            rows.push(index);
            windows.push(window);
        }
    }
    let bound = |of: &dyn Fn(&Window) -> i64| TimestampMillisecondArray::from_iter_values(windows.iter().map(of));
    let time = bound(&|w| assigner.closes_at(w.end_ms) - 1).with_data_type(times.data_type().clone());
    (rows.into(), [Arc::new(bound(&|w| w.start_ms)), Arc::new(bound(&|w| w.end_ms)), Arc::new(time)])
}
