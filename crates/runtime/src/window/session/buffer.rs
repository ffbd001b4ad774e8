//! The rows of live sessions, compacted to partial states: results are made when they are told.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, UInt32Type};
use tidemill_core::Result;

use super::sessions::{SessionId, Sessions};
use crate::aggregate::{Aggregation, Table};
use crate::operator::evaluate;

/// Compact when there are this many rows more than twice what the last compaction left.
const COMPACT_ROWS: usize = if cfg!(test) { 8 } else { 64 * 1024 };

/// Compact, too, when so many times as many rows have been looked at as there are: most were not asked for.
const LOOKS: usize = 8;

/// But not for fewer rows than these.
const FEW_ROWS: usize = if cfg!(test) { 4 } else { 1024 };

/// Rows and partial states, each with the number of its session.
pub(super) struct Buffer {
    aggregation: Aggregation,
    /// `session`, the groups.
    key: Vec<FieldRef>,
    /// The key, the states.
    pub(super) states_schema: SchemaRef,
    pub(super) rows_schema: SchemaRef,
    /// Rows of `rows_schema`.
    pub(super) rows: Vec<(Vec<SessionId>, RecordBatch)>,
    /// Rows of `states_schema`.
    pub(super) states: Vec<RecordBatch>,
    pub(super) buffered_rows: usize,
    pub(super) compacted_rows: usize,
    /// How many rows have been looked at for results since then.
    looked_at: usize,
    /// So many of `rows` are in the last snapshot, and the states; `None` if it has others, or none.
    pub(super) saved_rows: Option<usize>,
}

impl Buffer {
    /// For rows with the columns of `rows_schema`.
    pub(super) fn new(aggregation: Aggregation, rows_schema: SchemaRef) -> Result<Self> {
        let mut key: Vec<FieldRef> = vec![Arc::new(Field::new("session", DataType::UInt32, false))];
        key.extend(aggregation.group_fields());
        let mut fields = key.clone();
        fields.extend(aggregation.state_fields()?);
        Ok(Self {
            aggregation,
            key,
            states_schema: Arc::new(Schema::new(fields)),
            rows_schema,
            rows: vec![],
            states: vec![],
            buffered_rows: 0,
            compacted_rows: 0,
            looked_at: 0,
            saved_rows: None,
        })
    }

    /// Adds rows; there is one session a row.
    pub(super) fn push(&mut self, sessions: Vec<SessionId>, rows: RecordBatch) {
        self.buffered_rows += sessions.len();
        self.rows.push((sessions, rows));
    }

    /// Whether compacting pays.
    pub(super) fn is_full(&self) -> bool {
        self.buffered_rows > 2 * self.compacted_rows + COMPACT_ROWS
            || self.looked_at > LOOKS * self.buffered_rows.max(FEW_ROWS)
    }

    /// Folds rows into partial states, and drops those of sessions that take no more.
    pub(super) fn compact(&mut self, sessions: &Sessions) -> Result<()> {
        let mut table = self.folded(sessions, |id| sessions.is_live(id))?;
        let groups = table.len();
        self.rows.clear();
        self.states.clear();
        if groups > 0 {
            self.states.push(RecordBatch::try_new(Arc::clone(&self.states_schema), table.states()?)?);
        }
        self.buffered_rows = groups;
        self.compacted_rows = groups;
        self.looked_at = 0;
        self.saved_rows = None;
        Ok(())
    }

    /// The results of the given sessions: `session`, the groups, the results.
    pub(super) fn results(&mut self, sessions: &Sessions, ids: &[SessionId]) -> Result<Vec<ArrayRef>> {
        self.looked_at += self.buffered_rows;
        let last = ids.iter().copied().max().unwrap_or(0);
        let mut wanted = vec![false; last as usize + 1];
        ids.iter().for_each(|&id| wanted[id as usize] = true);
        self.folded(sessions, |id| wanted.get(id as usize).copied().unwrap_or(false))?.results()
    }

    fn folded(&self, sessions: &Sessions, wanted: impl Fn(SessionId) -> bool) -> Result<Table> {
        let mut table = Table::new(self.key.clone(), &self.aggregation.calls)?;
        for (ids, rows) in &self.rows {
            let (ids, rows) = chosen(ids, rows, sessions, &wanted)?;
            if rows.num_rows() > 0 {
                let mut key: Vec<ArrayRef> = vec![Arc::new(ids)];
                for (expr, _) in &self.aggregation.groups {
                    key.push(evaluate(expr, &rows)?);
                }
                table.update(&key, &rows)?;
            }
        }
        for part in &self.states {
            let ids = part.column(0).as_primitive::<UInt32Type>();
            let (ids, part) = chosen(ids.values(), part, sessions, &wanted)?;
            if part.num_rows() > 0 {
                let mut key: Vec<ArrayRef> = part.columns()[..self.key.len()].to_vec();
                key[0] = Arc::new(ids);
                table.merge(&key, &part.columns()[self.key.len()..], part.num_rows())?;
            }
        }
        Ok(table)
    }
}

/// The rows of wanted sessions, with the sessions that theirs have become part of.
fn chosen(
    ids: &[SessionId],
    rows: &RecordBatch,
    sessions: &Sessions,
    wanted: impl Fn(SessionId) -> bool,
) -> Result<(UInt32Array, RecordBatch)> {
    let (mut chosen, mut indices) = (vec![], vec![]);
    for (&id, index) in ids.iter().zip(0u32..) {
        let id = sessions.resolve(id);
        if wanted(id) {
            chosen.push(id);
            indices.push(index);
        }
    }
    let rows = match indices.len() {
        0 => rows.slice(0, 0),
        all if all == ids.len() => rows.clone(),
        // Few are, of many: a mask would cost more than they do.
        _ => take_record_batch(rows, &UInt32Array::from(indices))?,
    };
    Ok((chosen.into(), rows))
}
