//! What was told of sessions that may tell something else.

use std::collections::BTreeMap;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::{concat_batches, filter_record_batch, not};
use arrow::datatypes::SchemaRef;
use tidemill_core::Result;

use super::sessions::{SessionId, Sessions};
use crate::operator::noted::Noted;

/// Result rows, each with the number of its session.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// By number, in the order in which they were told.
    pub(super) rows: BTreeMap<i64, (Vec<SessionId>, RecordBatch)>,
    /// The number of the next batch.
    pub(super) next: i64,
    /// Batches that came, have lost rows, speak of other sessions, or are gone.
    pub(super) unsaved: Noted<i64>,
}

impl Told {
    pub(super) fn push(&mut self, sessions: Vec<SessionId>, rows: RecordBatch) {
        if rows.num_rows() > 0 {
            self.unsaved.note(self.next);
            self.rows.insert(self.next, (sessions, rows));
            self.next += 1;
        }
    }

    /// Takes out what was told of the given sessions, and of those that have become part of them.
    pub(super) fn take(&mut self, sessions: &Sessions, schema: &SchemaRef, ids: &[SessionId]) -> Result<RecordBatch> {
        let wanted: std::collections::HashSet<SessionId> = ids.iter().copied().collect();
        let taken = self.split_off(sessions, |id| wanted.contains(&id))?;
        Ok(concat_batches(schema, &taken)?)
    }

    /// Forgets what was told of sessions that tell nothing any more, and the numbers of merged ones.
    pub(super) fn forget(&mut self, sessions: &Sessions) -> Result<()> {
        self.split_off(sessions, |id| !sessions.is_live(id)).map(drop)
    }

    /// Takes out the rows of sessions that are `wanted`; the others are under the sessions that theirs
    /// have become part of.
    fn split_off(&mut self, sessions: &Sessions, wanted: impl Fn(SessionId) -> bool) -> Result<Vec<RecordBatch>> {
        let mut taken = vec![];
        for (number, (mut ids, rows)) in std::mem::take(&mut self.rows) {
            for id in &mut ids {
                let session = sessions.resolve(*id);
                if session != std::mem::replace(id, session) {
                    self.unsaved.note(number);
                }
            }
            let mask: BooleanArray = ids.iter().map(|&id| Some(wanted(id))).collect();
            let count = mask.true_count();
            if count > 0 {
                self.unsaved.note(number);
            }
            if count == 0 {
                self.rows.insert(number, (ids, rows));
            } else if count == ids.len() {
                taken.push(rows);
            } else {
                taken.push(filter_record_batch(&rows, &mask)?);
                ids.retain(|&id| !wanted(id));
                self.rows.insert(number, (ids, filter_record_batch(&rows, &not(&mask)?)?));
            }
        }
        Ok(taken)
    }
}
