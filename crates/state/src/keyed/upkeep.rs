//! What is done between batches: values are read ahead, memory is freed, and what has expired is cleaned up.

use serde::Serialize;
use tidemill_core::Result;

use super::KeyedState;
use super::keys::Slot;
use super::layout;

/// So many changes wait at hand where the store is on a disk or a server: a snapshot need not write more.
const CHANGES_AT_HAND: usize = if cfg!(test) { 8 } else { 64 * 1024 };

/// How many slots are looked at for what has expired, after each batch.
const SWEPT: usize = 256;

impl KeyedState {
    /// Brings the values of keys to hand that come next, of all states that have one a key: one round trip where the
    /// backend is far, nothing to do where it is not.
    ///
    /// # Errors
    /// `Unavailable` if the backend does not do its part; `Invalid` and `Internal` as [`KeyedState::set_current_key`].
    pub fn prefetch<'k, K: Serialize + ?Sized + 'k>(&mut self, keys: impl IntoIterator<Item = &'k K>) -> Result<()> {
        if !self.store.far() || self.cells.is_empty() {
            return Ok(());
        }
        let mut unknown: Vec<(Vec<u8>, usize, Slot)> = vec![];
        for key in keys {
            self.set_current_key(key)?;
            let slot = self.slot("what is read ahead")?;
            for (cells, table) in self.cells.iter().enumerate().filter(|(_, table)| !table.knows(slot)) {
                let key = layout::in_place(self.keys.group(slot), table.state(), self.keys.place(slot));
                unknown.push((key, cells, slot));
            }
        }
        self.current = None;
        // In the order of the backend, which is faster so; and each once.
        unknown.sort_unstable();
        unknown.dedup();
        let entries = self.store.get_many(&unknown.iter().map(|(key, ..)| key.as_slice()).collect::<Vec<_>>())?;
        for ((_, cells, slot), entry) in unknown.into_iter().zip(entries) {
            let table = &mut self.cells[cells];
            let loaded = table.load(slot, entry);
            loaded.map_err(|e| e.context(format!("the state '{}'", self.catalog.name(table.state()))))?;
        }
        Ok(())
    }

    /// A batch is done. No key is the current one then.
    ///
    /// # Errors
    /// `Unavailable` if the backend does not do its part.
    pub fn end_batch(&mut self) -> Result<()> {
        self.current = None;
        match self.store.at_hand_bytes() {
            Some(most) if self.bytes_at_hand() > most => {
                self.tell_changes()?;
                self.cells.iter_mut().for_each(|table| table.forget_all());
                self.keys.clear();
            }
            Some(_) if self.changes_at_hand() > CHANGES_AT_HAND => self.tell_changes()?,
            None if !self.store.noting() => self.forget_changes(),
            _ => {}
        }
        self.store.flush_if_large()?;
        self.clean()
    }

    fn bytes_at_hand(&self) -> usize {
        self.keys.bytes() + self.cells.iter().map(|table| table.bytes()).sum::<usize>()
    }

    fn changes_at_hand(&self) -> usize {
        self.cells.iter().map(|table| table.changed().len()).sum()
    }

    /// Tells the store what has changed at hand; of a near one, which does not keep what is at hand, for the snapshot.
    pub(super) fn tell_changes(&mut self) -> Result<()> {
        let changed = self.changed();
        let Self { cells, keys, store, .. } = self;
        for table in cells {
            let state = table.state();
            table.tell_changes(&mut |slot, entry| {
                let key = layout::in_place(keys.group(slot), state, keys.place(slot));
                if store.far() { store.put(key, entry) } else { store.note(&key, entry.as_ref()) }
            })?;
        }
        changed.into_iter().for_each(|slot| self.release_if_vacant(slot));
        Ok(())
    }

    /// What has changed at hand need not be told: the first snapshot tells all. Only keys that have nothing any more go.
    pub(super) fn forget_changes(&mut self) {
        let changed = self.changed();
        self.cells.iter_mut().for_each(|table| table.forget_changes());
        changed.into_iter().for_each(|slot| self.release_if_vacant(slot));
    }

    fn changed(&self) -> Vec<Slot> {
        let mut changed: Vec<Slot> = self.cells.iter().flat_map(|table| table.changed()).copied().collect();
        changed.sort_unstable();
        changed.dedup();
        changed
    }

    /// Gives the slot of a key back that has no value in any state.
    fn release_if_vacant(&mut self, slot: Slot) {
        if self.cells.iter().all(|table| table.is_vacant(slot)) {
            self.cells.iter_mut().for_each(|table| table.forget(slot));
            self.keys.release(slot);
        }
    }

    /// Lets go what nobody can see any more.
    fn clean(&mut self) -> Result<()> {
        self.cleaned.processing_ms = self.now.processing_ms;
        // A timer that is still to fire goes by its own, earlier, time.
        if self.event_timers.next_ms().is_none_or(|next_ms| next_ms > self.watermark.0) {
            self.cleaned.event_ms = self.watermark.0;
        }
        for _ in 0..SWEPT.min(self.keys.slots()) {
            self.swept_to = if self.swept_to + 1 < self.keys.slots() { self.swept_to + 1 } else { 0 };
            let slot = self.swept_to as Slot;
            self.cells.iter_mut().for_each(|table| table.clean(slot, self.cleaned));
            self.release_if_vacant(slot);
        }
        self.store.clean(self.cleaned)
    }
}

#[cfg(test)]
mod tests;
