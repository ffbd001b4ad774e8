//! What snapshots hold of sessions: their keys, in the order of their numbers, and the sessions, in pages.

use std::cmp::Reverse;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch, UInt8Array, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef, UInt8Type, UInt32Type};
use tidemill_core::{Error, Result};
use tidemill_state::{Section, State as SavedState, StateChanges};

use super::{NONE, Session, SessionId, Sessions, State, number};
use crate::aggregate::Keys;
use crate::operator::fitting;
use crate::operator::pages::{PageChange, Pages};
use crate::window::Window;

/// The keys that there are.
pub(super) const KEYS: &str = "keys";
/// By page: sessions, and what has become of each.
pub(super) const SESSIONS: &str = "sessions";

/// What has changed since the last snapshot. Before the first, nothing is noted: that one tells all.
#[derive(Debug, Default)]
pub(super) struct Unsaved {
    pages: Pages,
    noted: bool,
    /// Whether the keys have got other numbers.
    other_keys: bool,
    /// Keys that came, or all if they have other numbers.
    keys: Vec<RecordBatch>,
}

impl Unsaved {
    pub(super) fn session(&mut self, id: SessionId) {
        self.pages.touch(id as usize);
    }

    /// The keys are these now, and every session has another.
    pub(super) fn other_keys(&mut self, keys: impl FnOnce() -> Result<RecordBatch>, sessions: usize) -> Result<()> {
        if self.noted {
            self.other_keys = true;
            self.keys = vec![keys()?];
            (0..sessions).for_each(|id| self.pages.touch(id));
        }
        Ok(())
    }
}

impl Sessions {
    /// Of rows with these keys, some had none of the first `known`.
    pub(super) fn note_new_keys(&mut self, key: &[ArrayRef], known: usize) -> Result<()> {
        let Some(keys) = self.keys.as_ref().filter(|keys| self.unsaved.noted && keys.len() > known) else {
            return Ok(());
        };
        // They are numbered in the order in which they come.
        let mut first_rows = Vec::with_capacity(keys.len() - known);
        for (row, &key) in (0u32..).zip(&self.key_numbers) {
            if key == known + first_rows.len() {
                first_rows.push(row);
            }
        }
        let first_rows = UInt32Array::from(first_rows);
        let columns = key.iter().map(|column| take(column, &first_rows, None)).collect::<Result<_, _>>()?;
        self.unsaved.keys.push(RecordBatch::try_new(Arc::clone(&self.key_schema), columns)?);
        Ok(())
    }

    pub(in crate::window::session) fn save(&mut self, changes: &mut StateChanges) -> Result<()> {
        if !self.unsaved.noted {
            self.unsaved.noted = true;
            self.unsaved.keys = self.all_keys()?.into_iter().collect();
        }
        let keys = std::mem::take(&mut self.unsaved.keys);
        match std::mem::take(&mut self.unsaved.other_keys) {
            true => changes.replace(KEYS, keys),
            false => keys.into_iter().for_each(|keys| changes.append(KEYS, keys)),
        }
        let (sessions, count) = (&self.sessions, self.sessions.len());
        let live = |ids: std::ops::Range<usize>| sessions[ids].iter().filter(|s| s.state != State::Free).count();
        for (page, change) in self.unsaved.pages.take(count, live) {
            let section = Section::new(SESSIONS, page as i64);
            match change {
                PageChange::Append(ids) => changes.append(section, self.rows(&ids)?),
                PageChange::Anew => {
                    let used = |id: &usize| self.sessions[*id].state != State::Free;
                    let ids: Vec<usize> = Pages::slots(page, count).filter(used).collect();
                    match ids.is_empty() {
                        true => changes.remove(section),
                        false => changes.replace(section, vec![self.rows(&ids)?]),
                    }
                }
            }
        }
        Ok(())
    }

    /// The keys by their number. The table gives them only all at once, and no longer has them then.
    fn all_keys(&mut self) -> Result<Option<RecordBatch>> {
        let Some(keys) = &mut self.keys else { return Ok(None) };
        let columns = keys.take()?;
        keys.intern(&columns, &mut self.key_numbers)?;
        Ok(Some(RecordBatch::try_new(Arc::clone(&self.key_schema), columns)?))
    }

    fn rows(&self, ids: &[usize]) -> Result<RecordBatch> {
        let sessions = || ids.iter().map(|&id| &self.sessions[id]);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from_iter_values(ids.iter().map(|&id| number(id)))),
            Arc::new(UInt32Array::from_iter_values(sessions().map(|session| session.key))),
            Arc::new(Int64Array::from_iter_values(sessions().map(|session| session.window.start_ms))),
            Arc::new(Int64Array::from_iter_values(sessions().map(|session| session.window.end_ms))),
            Arc::new(UInt8Array::from_iter_values(sessions().map(|session| code(session.state)))),
            Arc::new(sessions().map(|session| merged_into(session.state)).collect::<UInt32Array>()),
            Arc::new(ids.iter().map(|&id| Some(self.changed.contains(&number(id)))).collect::<BooleanArray>()),
        ];
        Ok(RecordBatch::try_new(schema(), columns)?)
    }

    pub(in crate::window::session) fn load(&mut self, state: &mut SavedState) -> Result<()> {
        let first = First { key: number(self.keys.as_ref().map_or(0, Keys::len)), session: self.len() };
        self.load_keys(state.take(KEYS)?)?;
        for (page, batches) in state.take_all(SESSIONS)? {
            for rows in fitting(SESSIONS, batches, &schema())? {
                self.load_rows(page, &rows, first)?;
            }
        }
        for id in first.session as usize..self.sessions.len() {
            self.index(number(id))?;
        }
        self.unsaved.noted = true;
        Ok(())
    }

    fn load_keys(&mut self, batches: Vec<RecordBatch>) -> Result<()> {
        for rows in fitting(KEYS, batches, &self.key_schema)? {
            let Some(keys) = &mut self.keys else { return Err(damaged(KEYS, "holds keys where there are none")) };
            let known = keys.len();
            keys.intern(rows.columns(), &mut self.key_numbers)?;
            if !self.key_numbers.iter().copied().eq(known..known + rows.num_rows()) {
                return Err(damaged(KEYS, "holds a key twice"));
            }
        }
        self.by_key.resize(self.keys.as_ref().map_or(1, Keys::len), NONE);
        Ok(())
    }

    fn load_rows(&mut self, page: i64, rows: &RecordBatch, first: First) -> Result<()> {
        let numbers = |column: usize| rows.column(column).as_primitive::<UInt32Type>();
        let times = |column: usize| rows.column(column).as_primitive::<Int64Type>();
        let (ids, keys, starts, ends) = (numbers(0), numbers(1), times(2), times(3));
        let (codes, merged_into) = (rows.column(4).as_primitive::<UInt8Type>(), numbers(5));
        let changed = rows.column(6).as_boolean();
        for row in 0..rows.num_rows() {
            let id = ids.value(row);
            if Pages::page_of(id as usize) as i64 != page {
                return Err(damaged(SESSIONS, "holds a session of another page"));
            }
            let id = behind(first.session, id)?;
            if self.sessions.len() <= id as usize {
                self.sessions.resize(id as usize + 1, Session::FREE);
            }
            let window = Window { start_ms: starts.value(row), end_ms: ends.value(row) };
            let merged_into = merged_into.is_valid(row).then(|| behind(first.session, merged_into.value(row)));
            let (key, merged_into) = (behind(first.key, keys.value(row))?, merged_into.transpose()?);
            let state = decoded(codes.value(row), merged_into)?;
            self.sessions[id as usize] = Session { window, state, key, next: NONE };
            match changed.value(row) {
                true => self.changed.insert(id),
                false => self.changed.remove(&id),
            };
        }
        self.unsaved.pages.restore(page as usize, rows.num_rows());
        Ok(())
    }

    /// Puts a session that was read where it is looked for.
    fn index(&mut self, id: SessionId) -> Result<()> {
        let Session { window, state, key, .. } = self.sessions[id as usize];
        let due_ms = match state {
            State::Open => Some(window.end_ms),
            State::Fired => Some(window.end_ms.saturating_add(self.lateness_ms)),
            State::Done => None,
            State::Merged(into) if (into as usize) < self.sessions.len() && into != id => return Ok(()),
            State::Merged(_) => return Err(damaged(SESSIONS, "holds a part of a session that is not there")),
            State::Free => {
                self.free.push(id);
                return Ok(());
            }
        };
        if let Some(due_ms) = due_ms {
            self.due.push(Reverse((due_ms, id)));
        }
        let first = self.by_key.get_mut(key as usize);
        let first = first.ok_or_else(|| damaged(SESSIONS, "holds a session without its key"))?;
        self.sessions[id as usize].next = std::mem::replace(first, id);
        Ok(())
    }

    /// How many numbers of sessions there are.
    pub(in crate::window::session) fn len(&self) -> SessionId {
        number(self.sessions.len())
    }

    /// No snapshot has any of it.
    pub(in crate::window::session) fn forget_saved(&mut self) {
        self.unsaved = Unsaved::default();
    }

    /// Whether there is a session of that number.
    pub(in crate::window::session) fn has(&self, id: SessionId) -> bool {
        self.sessions.get(id as usize).is_some_and(|session| session.state != State::Free)
    }

    /// How many keys and sessions snapshots have to hold, and how many of these have got rows.
    #[cfg(test)]
    pub(in crate::window::session) fn held(&self) -> (usize, usize, usize) {
        let sessions = self.sessions.iter().filter(|session| session.state != State::Free).count();
        (self.keys.as_ref().map_or(0, Keys::len), sessions, self.changed.len())
    }

    /// Whether some have got rows since it was last asked.
    pub(in crate::window::session) fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }
}

/// The numbers that take the place of 0: others were there before.
#[derive(Clone, Copy)]
struct First {
    key: u32,
    session: SessionId,
}

/// The number that is so many behind the first.
fn behind(first: u32, number: u32) -> Result<u32> {
    first.checked_add(number).ok_or_else(|| damaged(SESSIONS, "holds a number that none can have"))
}

pub(super) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("session", DataType::UInt32, false),
        Field::new("key", DataType::UInt32, false),
        Field::new("start", DataType::Int64, false),
        Field::new("end", DataType::Int64, false),
        Field::new("state", DataType::UInt8, false),
        Field::new("merged_into", DataType::UInt32, true),
        Field::new("changed", DataType::Boolean, false),
    ]))
}

pub(super) fn code(state: State) -> u8 {
    match state {
        State::Free => 0,
        State::Open => 1,
        State::Fired => 2,
        State::Done => 3,
        State::Merged(_) => 4,
    }
}

fn merged_into(state: State) -> Option<SessionId> {
    match state {
        State::Merged(into) => Some(into),
        _ => None,
    }
}

fn decoded(code: u8, merged_into: Option<SessionId>) -> Result<State> {
    match (code, merged_into) {
        (0, _) => Ok(State::Free),
        (1, _) => Ok(State::Open),
        (2, _) => Ok(State::Fired),
        (3, _) => Ok(State::Done),
        (4, Some(into)) => Ok(State::Merged(into)),
        _ => Err(damaged(SESSIONS, "holds a session of no known kind")),
    }
}

pub(super) fn damaged(section: &str, what: &str) -> Error {
    Error::data(format!("the section '{section}' of the state {what}"))
}
