//! What was told of sessions that may tell something else.

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::{concat_batches, filter_record_batch, not};
use arrow::datatypes::SchemaRef;
use tidemill_core::Result;

use super::sessions::{SessionId, Sessions};

/// Result rows, each with the number of its session.
#[derive(Debug, Default)]
pub(super) struct Told {
    rows: Vec<(Vec<SessionId>, RecordBatch)>,
}

impl Told {
    pub(super) fn push(&mut self, sessions: Vec<SessionId>, rows: RecordBatch) {
        if rows.num_rows() > 0 {
            self.rows.push((sessions, rows));
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
        for (mut ids, rows) in std::mem::take(&mut self.rows) {
            ids.iter_mut().for_each(|id| *id = sessions.resolve(*id));
            let mask: BooleanArray = ids.iter().map(|&id| Some(wanted(id))).collect();
            match mask.true_count() {
                0 => self.rows.push((ids, rows)),
                all if all == ids.len() => taken.push(rows),
                _ => {
                    taken.push(filter_record_batch(&rows, &mask)?);
                    ids.retain(|&id| !wanted(id));
                    self.rows.push((ids, filter_record_batch(&rows, &not(&mask)?)?));
                }
            }
        }
        Ok(taken)
    }
}
