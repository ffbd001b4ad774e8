//! Windows that tell more than once: provisional results before they fire, and what late rows change after.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use tidemill_core::Result;

use super::{WindowAggregate, emit_in_pieces};
use crate::operator::Output;
use crate::window::Window;
use crate::window::changes::changes;

impl WindowAggregate {
    /// A pane has got rows: those of its windows that have told something, or tell provisional results,
    /// and that a row is in time for, have something to tell. An earlier window may be forgotten already,
    /// and has nothing to compare with.
    pub(super) fn mark_dirty(&mut self, pane_ms: i64, part: &RecordBatch) {
        if self.spec.lateness_ms == 0 && self.early.is_none() {
            return;
        }
        let opens_at_ms = match self.spec.assigner.overlapping() {
            true => part.column(1).as_primitive::<Int64Type>().values().iter().copied().min().unwrap_or(i64::MAX),
            false => self.spec.assigner.pane_end(pane_ms),
        };
        let last_ms = if self.early.is_some() { i64::MAX } else { self.fired_ms };
        let windows = self.spec.assigner.windows(pane_ms).take_while(|window| window.end_ms <= last_ms);
        let now = Instant::now();
        for window in windows.filter(|window| window.end_ms >= opens_at_ms) {
            if window.end_ms > self.fired_ms || self.spec.lateness_ms > 0 {
                self.arm(window, now);
                self.dirty.insert(window);
            }
        }
    }

    /// The window has something to tell, now or at its pace.
    pub(super) fn arm(&mut self, window: Window, now: Instant) {
        match window.end_ms > self.fired_ms {
            true => self.early.iter_mut().for_each(|pace| pace.arm_at_once(now)),
            false => self.late.iter_mut().for_each(|pace| pace.arm(now)),
        }
    }

    /// Emits what has changed in the windows that have got rows, if they are `wanted`.
    pub(super) fn update(&mut self, wanted: impl Fn(&Window) -> bool, out: &mut Output) -> Result<()> {
        let windows: Vec<Window> = self.dirty.extract_if(.., |window| wanted(window)).collect();
        for window in windows {
            let new = self.results(window)?;
            let none = RecordBatch::new_empty(Arc::clone(&self.schema));
            let old = self.told.get(&window.end_ms).unwrap_or(&none);
            emit_in_pieces(&changes(old, &new, self.key_columns())?, out);
            self.told.insert(window.end_ms, new);
            self.unsaved.told.note(window.end_ms);
        }
        Ok(())
    }

    /// The bounds and the groups, which tell results apart.
    pub(super) fn key_columns(&self) -> usize {
        3 + self.spec.aggregation.groups.len()
    }
}
