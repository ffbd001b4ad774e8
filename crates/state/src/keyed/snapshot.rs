//! Snapshots of keyed state: what has changed, as key-value parts by key group, and the catalog of states.
//!
//! ```text
//! states     the catalog, written anew when a state is new
//! keyed g    the entries of key group g, as `upserts` has them
//! ```

use std::mem;

use arrow::array::RecordBatch;
use tidemill_core::{Error, Result};

use super::KeyedState;
use super::layout::{self, HEAD_BYTES, StateId};
use crate::backend::Write;
use crate::key_group::KEY_GROUPS;
use crate::section::{Section, State, StateChanges};
use crate::upserts;

const STATES: &str = "states";
const KEYED: &str = "keyed";

/// So many entries, or bytes, of a part are written to the backend at once: they are there twice then.
const WRITES: usize = if cfg!(test) { 8 } else { 16 * 1024 };
const WRITE_BYTES: usize = 4 << 20;

impl KeyedState {
    /// Says what has changed since it last said so, or was made or restored. No key is the current one then.
    ///
    /// # Errors
    /// `Unavailable` if the backend does not do its part, `Invalid` if a value can't be written.
    pub fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        self.current = None;
        if self.store.noting() || self.store.far() {
            self.tell_changes()?;
            self.store.begin_noting()?;
        } else {
            self.forget_changes();
            self.store.begin_noting()?;
            self.tell_all()?;
        }
        for (group, rows) in self.store.changes(self.cleaned)? {
            changes.upsert(Section::new(KEYED, i64::from(group)), rows);
        }
        if let Some(states) = self.catalog.changes()? {
            changes.replace(STATES, vec![states]);
        }
        Ok(())
    }

    /// Tells all that is at hand, of a store that does not keep it.
    fn tell_all(&mut self) -> Result<()> {
        let Self { cells, keys, store, .. } = self;
        for table in cells {
            let state = table.state();
            table.tell_all(&mut |slot, entry| {
                store.note(&layout::in_place(keys.group(slot), state, keys.place(slot)), entry.as_ref())
            })?;
        }
        Ok(())
    }

    /// Goes on from what snapshots have left; the next one says what has changed since. Comes before states are
    /// registered, at most once.
    ///
    /// # Errors
    /// `Data` if it is damaged, `Internal` if states have been registered, `Unavailable` if the backend does not do its part.
    pub fn restore(&mut self, state: &mut State) -> Result<()> {
        let numbers = self.take_in(state)?;
        if !numbers.iter().enumerate().all(|(then, now)| then == usize::from(*now)) {
            // The next snapshots would call other states by these numbers.
            return Err(Error::internal("keyed state is restored after its states were registered"));
        }
        self.store.note_from_now_on();
        Ok(())
    }

    /// Takes in what the snapshots of another subtask have left of the key groups that this one owns. The first snapshot
    /// then tells all. Comes before anything else but the registering of states; as often as there are such subtasks.
    ///
    /// # Errors
    /// `Data` if it is damaged, `Invalid` if a state has been registered as something else, `Unavailable` if the backend
    /// does not do its part.
    pub fn import(&mut self, state: &mut State) -> Result<()> {
        self.take_in(state).map(drop)
    }

    /// Splits what snapshots have left into so many parts, by key group: each is what the owner of the key groups would have
    /// left for which `part_of` says its number. Nothing is read.
    ///
    /// # Errors
    /// `Data` if it is damaged.
    pub fn deal(mut state: State, parts: usize, part_of: impl Fn(u8) -> usize) -> Result<Vec<State>> {
        let mut dealt = vec![StateChanges::default(); parts];
        let states = state.take_rows(STATES);
        if !states.is_empty() {
            dealt.iter_mut().for_each(|part| part.replace_rows(STATES, states.clone()));
        }
        for group in 0..KEY_GROUPS {
            let section = Section::new(KEYED, group as i64);
            let rows = state.take_rows(section.clone());
            let part = dealt.get_mut(part_of(group as u8));
            let part = part.ok_or_else(|| Error::internal(format!("nobody has the key group {group}")))?;
            if !rows.is_empty() {
                part.replace_rows(section, rows);
            }
        }
        state.finish()?;
        let with = |changes| {
            let mut state = State::default();
            state.apply(changes);
            state
        };
        Ok(dealt.into_iter().map(with).collect())
    }

    /// Part by part: of those that are in files, one is in memory at a time beside what the backend has. By the numbers that
    /// the states had: the ones that they have now.
    fn take_in(&mut self, state: &mut State) -> Result<Vec<StateId>> {
        let mut numbers = vec![];
        for rows in state.take(STATES)? {
            numbers = self.catalog.restore(&rows)?;
        }
        for (_, parts) in state.take_all_rows(KEYED) {
            for part in parts {
                self.take_in_part(&part.read()?, &numbers)?;
            }
        }
        Ok(numbers)
    }

    fn take_in_part(&mut self, part: &RecordBatch, numbers: &[StateId]) -> Result<()> {
        let (mut writes, mut bytes): (Vec<Write>, usize) = (vec![], 0);
        for row in upserts::rows(part)? {
            let (key, entry) = row?;
            let (then, _) = layout::state_of(key)?;
            let now = numbers.get(usize::from(then));
            let now = *now.ok_or_else(|| Error::data("an entry is of a state that the checkpoint does not list"))?;
            let group = key[0];
            if !self.key_groups.contains(&usize::from(group)) {
                continue;
            }
            for timers in [&mut self.event_timers, &mut self.processing_timers] {
                if timers.state() == now {
                    timers.restored(group);
                }
            }
            bytes += key.len() + entry.as_ref().map_or(0, |entry| entry.value.len());
            writes.push(([&layout::head(group, now), &key[HEAD_BYTES..]].concat(), entry));
            if writes.len() >= WRITES || bytes >= WRITE_BYTES {
                self.store.restore(mem::take(&mut writes))?;
                bytes = 0;
            }
        }
        if writes.is_empty() { Ok(()) } else { self.store.restore(writes) }
    }
}

#[cfg(test)]
mod tests;
