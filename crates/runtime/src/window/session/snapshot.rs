//! What the snapshots of sessions hold: rows that wait, sessions, their rows and partial states, and what was told.
//!
//! ```text
//! pending      a section a batch
//! keys         in the order of their numbers
//! sessions     in pages
//! rows         grow as they come ─┐
//! states       written anew  ◄────┘ when they are compacted
//! told         a section a batch
//! ```

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use tidemill_core::{Error, Result};
use tidemill_state::{Section, State, StateChanges};

use super::buffer::Buffer;
use super::operator::SessionAggregate;
use super::sessions::{SessionId, Sessions};
use super::told::Told;
use crate::operator::fitting;

/// Rows with their session.
pub(super) const ROWS: &str = "rows";
/// Partial states with their session.
pub(super) const STATES: &str = "states";
/// By number: results that were told, with their session.
pub(super) const TOLD: &str = "told";

impl SessionAggregate {
    pub(super) fn save(&mut self, changes: &mut StateChanges) -> Result<()> {
        self.pending.save(self.spec.late.is_some(), changes)?;
        self.sessions.save(changes)?;
        self.buffer.save(changes)?;
        self.told.save(changes)
    }

    /// Takes up what has been left, behind what there is.
    pub(super) fn load(&mut self, mut state: State) -> Result<()> {
        let first = self.sessions.len();
        self.pending.load(self.spec.late.is_some(), &self.buffer.rows_schema, &mut state)?;
        self.sessions.load(&mut state)?;
        self.buffer.load(&self.sessions, first, &mut state)?;
        self.told.load(&self.sessions, first, &self.schema, &mut state)?;
        if self.sessions.has_changed() {
            self.arm();
        }
        state.finish()
    }
}

impl Buffer {
    fn save(&mut self, changes: &mut StateChanges) -> Result<()> {
        if self.saved_rows.is_none() {
            changes.remove(ROWS);
            match self.states.is_empty() {
                true => changes.remove(STATES),
                false => changes.replace(STATES, self.states.clone()),
            }
        }
        for (ids, rows) in &self.rows[self.saved_rows.unwrap_or(0)..] {
            changes.append(ROWS, with_sessions(ids, rows)?);
        }
        self.saved_rows = Some(self.rows.len());
        Ok(())
    }

    /// `first`: the session that was number 0 when this was left; so below.
    fn load(&mut self, sessions: &Sessions, first: SessionId, state: &mut State) -> Result<()> {
        self.rows.extend(without_sessions(ROWS, state.take(ROWS)?, &self.rows_schema, sessions, first)?);
        for states in fitting(STATES, state.take(STATES)?, &self.states_schema)? {
            let ids = found(STATES, &states, sessions, first)?;
            let columns = std::iter::once(Arc::new(ids) as ArrayRef).chain(states.columns()[1..].iter().cloned());
            self.states.push(RecordBatch::try_new(Arc::clone(&self.states_schema), columns.collect())?);
        }
        self.compacted_rows = self.states.iter().map(RecordBatch::num_rows).sum();
        self.buffered_rows = self.compacted_rows + self.rows.iter().map(|(ids, _)| ids.len()).sum::<usize>();
        self.saved_rows = Some(self.rows.len());
        Ok(())
    }
}

impl Told {
    fn save(&mut self, changes: &mut StateChanges) -> Result<()> {
        for number in self.unsaved.take(self.rows.keys().copied()) {
            let section = Section::new(TOLD, number);
            match self.rows.get(&number) {
                Some((ids, rows)) => changes.replace(section, vec![with_sessions(ids, rows)?]),
                None => changes.remove(section),
            }
        }
        Ok(())
    }

    fn load(&mut self, sessions: &Sessions, first: SessionId, schema: &SchemaRef, state: &mut State) -> Result<()> {
        let before = self.next;
        for (number, batches) in state.take_all(TOLD)? {
            let number = number.saturating_add(before);
            for rows in without_sessions(TOLD, batches, schema, sessions, first)? {
                self.rows.insert(number, rows);
            }
            self.next = number.saturating_add(1);
        }
        self.unsaved.begin();
        Ok(())
    }
}

/// The number of each row's session before its columns.
fn with_sessions(ids: &[SessionId], rows: &RecordBatch) -> Result<RecordBatch> {
    let ids: ArrayRef = Arc::new(UInt32Array::from(ids.to_vec()));
    let columns = std::iter::once(ids).chain(rows.columns().iter().cloned()).collect();
    Ok(RecordBatch::try_new(schema_with_sessions(rows.schema_ref()), columns)?)
}

pub(super) fn schema_with_sessions(rows: &Schema) -> SchemaRef {
    let session = Arc::new(Field::new("session", DataType::UInt32, false));
    Arc::new(Schema::new(std::iter::once(session).chain(rows.fields().iter().cloned()).collect::<Vec<_>>()))
}

fn without_sessions(
    section: &str,
    batches: Vec<RecordBatch>,
    schema: &SchemaRef,
    sessions: &Sessions,
    first: SessionId,
) -> Result<Vec<(Vec<SessionId>, RecordBatch)>> {
    let mut split = vec![];
    for batch in fitting(section, batches, &schema_with_sessions(schema))? {
        let ids = found(section, &batch, sessions, first)?.values().to_vec();
        let options = RecordBatchOptions::new().with_row_count(Some(ids.len()));
        let columns = batch.columns()[1..].to_vec();
        split.push((ids, RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?));
    }
    Ok(split)
}

/// The sessions of rows.
fn found(section: &str, rows: &RecordBatch, sessions: &Sessions, first: SessionId) -> Result<UInt32Array> {
    let ids = rows.column(0).as_primitive::<UInt32Type>();
    let there = |id: u32| id.checked_add(first).filter(|id| sessions.has(*id)).ok_or_else(|| no_session(section, id));
    ids.values().iter().map(|&id| there(id)).collect::<Result<Vec<u32>>>().map(UInt32Array::from)
}

pub(super) fn no_session(section: &str, id: SessionId) -> Error {
    Error::data(format!("the section '{section}' of the state speaks of session {id}, which is none"))
}

#[cfg(test)]
mod tests;
