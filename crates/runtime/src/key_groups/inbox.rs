//! What waits for a key group's turn: rows, each batch with the watermark that came before it.

use std::collections::VecDeque;

use arrow::array::{Array, RecordBatch};
use tidemill_core::{Error, EventBatch, Result, Watermark};
use tidemill_state::{Rows, Section, SpillFolder, SpillWriter, State, StateChanges};

use super::waiting::{joined, saved, split};
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

/// One batch, or several that were put out of memory together.
#[derive(Debug)]
struct Entry {
    number: i64,
    /// The watermark before the first.
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
        let bytes = memory_bytes(&batch);
        self.entries.push_back(Entry { number: self.next, before, rows: Waiting::Here(Box::new(batch)), bytes });
        self.unsaved.note(self.next);
        self.next += 1;
        self.bytes += bytes;
        self.here_bytes += bytes;
    }

    /// Takes out what has waited longest: some batches, each with the watermark before it; none if nothing waits.
    pub(super) fn pop(&mut self) -> Result<Vec<(Watermark, EventBatch)>> {
        let Some(entry) = self.entries.pop_front() else {
            self.file = None;
            return Ok(vec![]);
        };
        self.unsaved.note(entry.number);
        self.bytes -= entry.bytes;
        match entry.rows {
            Waiting::Here(batch) => {
                self.here_bytes -= entry.bytes;
                Ok(vec![(entry.before, *batch)])
            }
            Waiting::Saved(rows) => split(&rows.read()?, entry.before),
        }
    }

    /// Puts what waits out of memory, if it is more than `allowed` bytes.
    pub(super) fn spill(&mut self, allowed: u64, with_source: bool, folder: &SpillFolder) -> Result<()> {
        if self.here_bytes <= allowed {
            return Ok(());
        }
        let here = self.entries.partition_point(|entry| matches!(entry.rows, Waiting::Saved(_)));
        let mut batches: Vec<(Entry, RecordBatch)> = vec![];
        for entry in self.entries.split_off(here) {
            let Waiting::Here(batch) = &entry.rows else { return Err(Error::internal("rows wait out of their order")) };
            let rows = saved(batch, with_source)?;
            batches.push((entry, rows));
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(folder.file()?),
        };
        for alike in batches.chunk_by(|(_, a), (_, b)| a.schema_ref() == b.schema_ref()) {
            let rows: Vec<_> = alike.iter().map(|(entry, rows)| (entry.before, rows.clone())).collect();
            let (Entry { number, before, .. }, _) = alike[0];
            alike.iter().for_each(|(entry, _)| self.unsaved.note(entry.number));
            let bytes = alike.iter().map(|(entry, _)| entry.bytes).sum();
            let rows = Waiting::Saved(Rows::Spilled(file.write(&joined(&rows)?)?));
            self.entries.push_back(Entry { number, before, rows, bytes });
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
        for number in changed {
            let section = Section::new(ROWS, number);
            let place = self.entries.binary_search_by_key(&number, |entry| entry.number);
            match place.ok().and_then(|place| self.entries.get(place)) {
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

/// How much memory rows take with what is known of them, but for what they share with others.
fn memory_bytes(batch: &EventBatch) -> u64 {
    let watermarks = batch.watermarks.as_ref().map_or(0, Array::get_array_memory_size);
    let indices = batch.lineage.as_ref().and_then(|lineage| lineage.indices.as_ref());
    (batch.rows.get_array_memory_size() + watermarks + indices.map_or(0, Array::get_array_memory_size)) as u64
}

#[cfg(test)]
mod tests;
