//! Entries of a backend with what was read and written since: so that a batch is one read and one write, and a snapshot
//! knows what has changed.

use std::collections::BTreeMap;
use std::mem;

use arrow::array::RecordBatch;
use tidemill_core::{Error, Result};

use crate::backend::{Backend, Clocks, Entry, KeyRange, Page, Write};
use crate::upserts::UpsertsBuilder;

/// So many entries, or bytes, are held before they go to the backend.
const HELD_ENTRIES: usize = if cfg!(test) { 8 } else { 64 * 1024 };
const HELD_BYTES: usize = 16 << 20;

/// A part of a snapshot has about so many bytes.
const PART_BYTES: usize = 16 << 20;

/// What the largest of backends takes (a value of Redis).
const ENTRY_BYTES_MAX: usize = 512 << 20;

/// How many entries are read at once where all are.
const PAGE: usize = 4096;

/// An entry that is known without the backend.
struct Held {
    entry: Option<Entry>,
    /// The backend does not have it yet.
    written: bool,
}

pub(super) struct Store {
    backend: Box<dyn Backend>,
    held: BTreeMap<Vec<u8>, Held>,
    held_bytes: usize,
    /// What has changed since the last snapshot. Before the first nothing is noted: that one tells all.
    delta: Option<Delta>,
}

impl Store {
    pub(super) fn new(backend: Box<dyn Backend>) -> Self {
        Self { backend, held: BTreeMap::new(), held_bytes: 0, delta: None }
    }

    /// Whether reads cost a disk or a network.
    pub(super) fn far(&self) -> bool {
        self.at_hand_bytes().is_some()
    }

    /// How much memory may be taken by what is kept at hand, if reads cost a disk or a network.
    pub(super) fn at_hand_bytes(&self) -> Option<usize> {
        self.backend.at_hand_bytes()
    }

    pub(super) fn get(&mut self, key: &[u8]) -> Result<Option<Entry>> {
        if let Some(held) = self.held.get(key) {
            return Ok(held.entry.clone());
        }
        let entry = self.backend.get_many(&[key])?.pop().flatten();
        if self.far() {
            self.hold(key.to_vec(), entry.clone(), false);
        }
        Ok(entry)
    }

    /// Takes an entry out of the backend, of one that holds no more than what the store is given: it is kept elsewhere.
    pub(super) fn take(&mut self, key: &[u8]) -> Result<Option<Entry>> {
        let entry = self.backend.get_many(&[key])?.pop().flatten();
        if entry.is_some() {
            self.backend.write(vec![(key.to_vec(), None)])?;
        }
        Ok(entry)
    }

    /// What each of the keys stands for, in one round trip or none; what is read is kept elsewhere.
    pub(super) fn get_many(&mut self, keys: &[&[u8]]) -> Result<Vec<Option<Entry>>> {
        let held: Vec<Option<&Held>> = keys.iter().map(|key| self.held.get(*key)).collect();
        let unknown = keys.iter().zip(&held).filter(|(_, held)| held.is_none());
        let unknown: Vec<&[u8]> = unknown.map(|(key, _)| *key).collect();
        let read = if unknown.is_empty() { vec![] } else { self.backend.get_many(&unknown)? };
        let mut read = read.into_iter();
        let entry = |held: Option<&Held>| held.map_or_else(|| read.next().flatten(), |held| held.entry.clone());
        Ok(held.into_iter().map(entry).collect())
    }

    /// From now on the key stands for this entry; `None`: it is deleted.
    pub(super) fn put(&mut self, key: Vec<u8>, entry: Option<Entry>) -> Result<()> {
        fits(entry.as_ref())?;
        self.hold(key, entry, true);
        Ok(())
    }

    fn hold(&mut self, key: Vec<u8>, entry: Option<Entry>, written: bool) {
        self.held_bytes += key.len() + entry.as_ref().map_or(0, |entry| entry.value.len());
        self.held.insert(key, Held { entry, written });
    }

    /// The first entries of a range; about `limit`.
    pub(super) fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Page> {
        let mut page = self.backend.scan(range, limit)?;
        if range.is_empty() {
            return Ok(page);
        }
        // What is held counts, as far as the page reaches; and no further than `limit`.
        let reach = KeyRange {
            start: range.start.clone(),
            end: page.rest.as_ref().map_or(range.end.clone(), |rest| Some(rest.start.clone())),
        };
        let mut entries: BTreeMap<Vec<u8>, Entry> = page.entries.into_iter().collect();
        for (key, held) in self.held.range::<[u8], _>(reach.bounds()) {
            match &held.entry {
                Some(entry) => drop(entries.insert(key.clone(), entry.clone())),
                None => drop(entries.remove(key)),
            }
        }
        if let Some(start) = entries.keys().nth(limit).cloned() {
            drop(entries.split_off(&start));
            page.rest = Some(KeyRange { start, end: range.end.clone() });
        }
        page.entries = entries.into_iter().collect();
        Ok(page)
    }

    /// Notes a change for the snapshot, of an entry that the store does not have.
    pub(super) fn note(&mut self, key: &[u8], entry: Option<&Entry>) -> Result<()> {
        fits(entry)?;
        self.delta.as_mut().map_or(Ok(()), |delta| delta.push(key, entry))
    }

    /// Writes what is held to the backend, if it has become much.
    pub(super) fn flush_if_large(&mut self) -> Result<()> {
        if self.held.len() > HELD_ENTRIES || self.held_bytes > HELD_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes what is held to the backend.
    fn flush(&mut self) -> Result<()> {
        self.held_bytes = 0;
        let mut writes: Vec<Write> = vec![];
        for (key, held) in mem::take(&mut self.held) {
            if held.written {
                if let Some(delta) = &mut self.delta {
                    delta.push(&key, held.entry.as_ref())?;
                }
                writes.push((key, held.entry));
            }
        }
        if writes.is_empty() { Ok(()) } else { self.backend.write(writes) }
    }

    /// What has expired by these clocks may go.
    pub(super) fn clean(&mut self, clocks: Clocks) -> Result<()> {
        self.backend.clean(clocks)
    }

    /// Whether changes are noted: there was a snapshot, or one was restored.
    pub(super) fn noting(&self) -> bool {
        self.delta.is_some()
    }

    /// Notes changes from now on; if it did not before, all that there is.
    pub(super) fn begin_noting(&mut self) -> Result<()> {
        if self.noting() {
            return Ok(());
        }
        self.flush()?;
        let mut delta = Delta::default();
        let mut rest = Some(KeyRange::all());
        while let Some(range) = rest {
            let page = self.backend.scan(&range, PAGE)?;
            page.entries.iter().try_for_each(|(key, entry)| delta.push(key, Some(entry)))?;
            rest = page.rest;
        }
        self.delta = Some(delta);
        Ok(())
    }

    /// What has changed, by key group, once [`Store::begin_noting`] was called.
    pub(super) fn changes(&mut self, clocks: Clocks) -> Result<Vec<(u8, RecordBatch)>> {
        self.flush()?;
        self.delta.as_mut().map_or(Ok(vec![]), |delta| mem::take(delta).finish(clocks))
    }

    /// Takes up what a snapshot has left.
    pub(super) fn restore(&mut self, writes: Vec<Write>) -> Result<()> {
        self.backend.write(writes)
    }

    /// What there is now is told already.
    pub(super) fn note_from_now_on(&mut self) {
        self.delta.get_or_insert_default();
    }
}

fn fits(entry: Option<&Entry>) -> Result<()> {
    let bytes = entry.map_or(0, |entry| entry.value.len());
    if bytes <= ENTRY_BYTES_MAX {
        return Ok(());
    }
    Err(Error::invalid(format!("a value of the state has {bytes} bytes, and {ENTRY_BYTES_MAX} are the most"))
        .hint("keep it in parts: a list or a map has an entry for each of its elements"))
}

/// Changes, by key group.
#[derive(Default)]
struct Delta {
    groups: BTreeMap<u8, UpsertsBuilder>,
    /// Parts that are large enough.
    full: Vec<(u8, UpsertsBuilder)>,
}

impl Delta {
    fn push(&mut self, key: &[u8], entry: Option<&Entry>) -> Result<()> {
        let group = *key.first().ok_or_else(|| Error::internal("a key of the state is empty"))?;
        let builder = self.groups.entry(group).or_default();
        builder.push(key, entry)?;
        if builder.bytes() > PART_BYTES {
            self.full.push((group, mem::take(builder)));
        }
        Ok(())
    }

    fn finish(self, clocks: Clocks) -> Result<Vec<(u8, RecordBatch)>> {
        let parts = self.full.into_iter().chain(self.groups);
        parts.map(|(group, mut builder)| Ok((group, builder.finish(clocks)?))).collect()
    }
}

#[cfg(test)]
mod tests;
