//! What waits for a key group's turn: rows, each batch with the watermark that came before it.

use std::collections::VecDeque;

use tidemill_core::{Error, EventBatch, Result, Watermark};
use tidemill_state::{Rows, Section, SpillFolder, SpillWriter, State, StateChanges};

use super::waiting::{restored, saved};
use crate::operator::noted::Noted;

/// By number: rows that wait.
const ROWS: &str = "waiting";
/// The numbers of the batches that wait, each with the watermark before it.
const WATERMARKS: &str = "waiting since";

/// Rows that wait for a group's turn, in their order.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    entries: VecDeque<Entry>,
    /// The number of the next batch.
    next: i64,
    /// Of what waits in memory, and altogether.
    here_bytes: u64,
    bytes: u64,
    file: Option<SpillWriter>,
    unsaved: Noted<i64>,
}

#[derive(Debug)]
struct Entry {
    number: i64,
    before: Watermark,
    rows: Waiting,
    bytes: u64,
}

#[derive(Debug)]
enum Waiting {
    Here(Box<EventBatch>),
    Saved(Rows),
}

impl Inbox {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes of what waits, in memory or not.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds rows that came after `before`.
    pub(super) fn push(&mut self, before: Watermark, batch: EventBatch) {
        let bytes = batch.rows.get_array_memory_size() as u64;
        self.entries.push_back(Entry { number: self.next, before, rows: Waiting::Here(Box::new(batch)), bytes });
        self.unsaved.note(self.next);
        self.next += 1;
        self.bytes += bytes;
        self.here_bytes += bytes;
    }

    /// Takes out what has waited longest, with the watermark before it.
    pub(super) fn pop(&mut self) -> Result<Option<(Watermark, EventBatch)>> {
        let Some(entry) = self.entries.pop_front() else {
            self.file = None;
            return Ok(None);
        };
        self.unsaved.note(entry.number);
        self.bytes -= entry.bytes;
        let batch = match entry.rows {
            Waiting::Here(batch) => {
                self.here_bytes -= entry.bytes;
                *batch
            }
            Waiting::Saved(rows) => restored(&rows.read()?)?,
        };
        Ok(Some((entry.before, batch)))
    }

    /// Puts what waits out of memory, if it is more than `allowed` bytes.
    pub(super) fn spill(&mut self, allowed: u64, with_source: bool, folder: &SpillFolder) -> Result<()> {
        if self.here_bytes <= allowed {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(folder.file()?),
        };
        for entry in &mut self.entries {
            if let Waiting::Here(batch) = &entry.rows {
                entry.rows = Waiting::Saved(Rows::Spilled(file.write(&saved(batch, with_source)?)?));
            }
        }
        self.here_bytes = 0;
        Ok(())
    }

    /// Tells what has changed since it last did.
    pub(super) fn save(&mut self, with_source: bool, changes: &mut StateChanges) -> Result<()> {
        let changed = self.unsaved.take(self.entries.iter().map(|entry| entry.number));
        if changed.is_empty() {
            return Ok(());
        }
        let first = self.entries.front().map_or(self.next, |entry| entry.number);
        for number in changed {
            let section = Section::new(ROWS, number);
            let place = usize::try_from(number - first).ok();
            match place.and_then(|place| self.entries.get(place)) {
                Some(Entry { rows: Waiting::Here(batch), .. }) => {
                    changes.replace(section, vec![saved(batch, with_source)?])
                }
                Some(Entry { rows: Waiting::Saved(rows), .. }) => changes.replace_rows(section, vec![rows.clone()]),
                None => changes.remove(section),
            }
        }
        match self.entries.is_empty() {
            true => changes.remove(WATERMARKS),
            false => {
                let pairs = self.entries.iter().flat_map(|entry| [entry.number, entry.before.0]);
                changes.replace_numbers(WATERMARKS, pairs)?;
            }
        }
        Ok(())
    }

    /// Takes up what snapshots have left.
    pub(super) fn load(&mut self, state: &mut State) -> Result<()> {
        for pair in state.take_numbers(WATERMARKS)?.chunks(2) {
            let &[number, before] = pair else {
                return Err(Error::data("rows that wait in the state have no watermark"));
            };
            for rows in state.take_rows(Section::new(ROWS, number)) {
                let bytes = rows.bytes();
                self.entries.push_back(Entry { number, before: Watermark(before), rows: Waiting::Saved(rows), bytes });
                self.bytes += bytes;
            }
            self.next = number + 1;
        }
        self.unsaved.begin();
        Ok(())
    }

    /// No snapshot has any of it.
    pub(super) fn forget_saved(&mut self) {
        self.unsaved = Noted::default();
    }
}

/// Whether rows wait in the state of a key group: then it is not that of an operator alone.
#[must_use]
pub fn rows_wait(group: &State) -> bool {
    group.has(WATERMARKS)
}

#[cfg(test)]
mod tests;
