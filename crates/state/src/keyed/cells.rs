//! The values at hand of a state that has one a key: as they are, not as bytes.

use std::any::Any;
use std::mem;
use std::sync::Arc;

use tidemill_core::Result;

use super::codec::Codec;
use super::keys::Slot;
use super::layout::StateId;
use crate::backend::{Clocks, Entry, Expiry};

/// What is known of a key's value.
struct Known<T> {
    value: Option<T>,
    expiry: Expiry,
    /// Since it was last told.
    changed: bool,
    /// How many bytes it had when it was last read or told: about what it takes beside its cell.
    encoded_bytes: u32,
}

/// The values of one state, by the slot of their key.
pub(super) struct Cells<T> {
    state: StateId,
    codec: Arc<dyn Codec<T>>,
    /// `None`: it is what the store has.
    cells: Vec<Option<Known<T>>>,
    /// Slots that have changed since they were last told.
    changed: Vec<Slot>,
    /// Of all that is known.
    encoded_bytes: usize,
}

/// Takes what became of the value of a slot.
pub(super) type Told<'a> = &'a mut dyn FnMut(Slot, Option<Entry>) -> Result<()>;

/// Cells of whatever type.
pub(super) trait CellTable: Any + Send {
    fn state(&self) -> StateId;

    fn knows(&self, slot: Slot) -> bool;

    /// About how much memory the values take that are known, in bytes.
    fn bytes(&self) -> usize;

    /// Takes what the store has for a slot.
    fn load(&mut self, slot: Slot, entry: Option<Entry>) -> Result<()>;

    /// The slots that have changed since they were last told.
    fn changed(&self) -> &[Slot];

    /// Tells what has changed.
    fn tell_changes(&mut self, told: Told<'_>) -> Result<()>;

    /// What has changed need not be told.
    fn forget_changes(&mut self);

    /// Tells all values that are known.
    fn tell_all(&self, told: Told<'_>) -> Result<()>;

    /// Forgets a value that has expired.
    fn clean(&mut self, slot: Slot, clocks: Clocks);

    /// Whether nothing would be lost if the slot was given to another key.
    fn is_vacant(&self, slot: Slot) -> bool;

    /// Leaves a value to the store.
    fn forget(&mut self, slot: Slot);

    /// Leaves all values to the store.
    fn forget_all(&mut self);
}

impl<T> Cells<T> {
    pub(super) fn new(state: StateId, codec: Arc<dyn Codec<T>>) -> Self {
        Self { state, codec, cells: vec![], changed: vec![], encoded_bytes: 0 }
    }

    fn cell(&mut self, slot: Slot) -> &mut Option<Known<T>> {
        let index = slot as usize;
        if self.cells.len() <= index {
            self.cells.resize_with(index + 1, || None);
        }
        &mut self.cells[index]
    }

    fn known(&self, slot: Slot) -> Option<&Known<T>> {
        self.cells.get(slot as usize)?.as_ref()
    }

    fn known_mut(&mut self, slot: Slot) -> Option<&mut Known<T>> {
        self.cells.get_mut(slot as usize)?.as_mut()
    }

    /// The value, if it is known and has not expired.
    pub(super) fn get(&self, slot: Slot, now: Clocks) -> Option<&T> {
        self.known(slot).filter(|known| !known.expiry.past(now))?.value.as_ref()
    }

    /// When the value ends, if it is known.
    pub(super) fn expiry(&self, slot: Slot) -> Expiry {
        self.known(slot).map_or(Expiry::Never, |known| known.expiry)
    }

    /// Changes the value in place; what has expired, or is not known, is not shown. It then ends as `until` says.
    pub(super) fn change<R>(
        &mut self,
        slot: Slot,
        now: Clocks,
        until: Expiry,
        f: impl FnOnce(&mut Option<T>) -> R,
    ) -> R {
        let unknown = Known { value: None, expiry: until, changed: false, encoded_bytes: 0 };
        let known = self.cell(slot).get_or_insert(unknown);
        let was_there = known.value.is_some();
        if known.expiry.past(now) {
            known.value = None;
        }
        known.expiry = until;
        let result = f(&mut known.value);
        // Where there was nothing, and is nothing, there is nothing to tell.
        if (was_there || known.value.is_some()) && !mem::replace(&mut known.changed, true) {
            self.changed.push(slot);
        }
        result
    }
}

impl<T: Send + 'static> CellTable for Cells<T> {
    fn state(&self) -> StateId {
        self.state
    }

    fn knows(&self, slot: Slot) -> bool {
        self.known(slot).is_some()
    }

    fn bytes(&self) -> usize {
        self.cells.len() * size_of::<Option<Known<T>>>() + self.encoded_bytes
    }

    fn load(&mut self, slot: Slot, entry: Option<Entry>) -> Result<()> {
        self.forget(slot);
        let expiry = entry.as_ref().map_or(Expiry::Never, |entry| entry.expiry);
        let encoded_bytes = encoded_bytes(entry.as_ref());
        let value = entry.map(|entry| self.codec.decode(&entry.value)).transpose()?;
        *self.cell(slot) = Some(Known { value, expiry, changed: false, encoded_bytes });
        self.encoded_bytes += encoded_bytes as usize;
        Ok(())
    }

    fn changed(&self) -> &[Slot] {
        &self.changed
    }

    fn tell_changes(&mut self, told: Told<'_>) -> Result<()> {
        for slot in mem::take(&mut self.changed) {
            if let Some(Some(known)) = self.cells.get_mut(slot as usize) {
                known.changed = false;
                let entry = entry(self.codec.as_ref(), known.value.as_ref(), known.expiry)?;
                let before = mem::replace(&mut known.encoded_bytes, encoded_bytes(entry.as_ref()));
                self.encoded_bytes = self.encoded_bytes + known.encoded_bytes as usize - before as usize;
                told(slot, entry)?;
            }
        }
        Ok(())
    }

    fn forget_changes(&mut self) {
        for slot in mem::take(&mut self.changed) {
            if let Some(known) = self.known_mut(slot) {
                known.changed = false;
            }
        }
    }

    fn tell_all(&self, told: Told<'_>) -> Result<()> {
        for (slot, cell) in (0..).zip(&self.cells) {
            if let Some(Known { value: Some(value), expiry, .. }) = cell {
                told(slot, entry(self.codec.as_ref(), Some(value), *expiry)?)?;
            }
        }
        Ok(())
    }

    fn clean(&mut self, slot: Slot, clocks: Clocks) {
        // Whether it has changed stays as it is: an older value that was told, and lasts longer, must not come back.
        if let Some(known) = self.known_mut(slot).filter(|known| known.expiry.past(clocks)) {
            known.value = None;
        }
    }

    fn is_vacant(&self, slot: Slot) -> bool {
        self.known(slot).is_none_or(|known| known.value.is_none() && !known.changed)
    }

    fn forget(&mut self, slot: Slot) {
        if let Some(known) = self.cells.get_mut(slot as usize).and_then(Option::take) {
            self.encoded_bytes -= known.encoded_bytes as usize;
        }
    }

    fn forget_all(&mut self) {
        self.cells.clear();
        self.encoded_bytes = 0;
    }
}

/// An entry has less than four thousand million bytes.
fn encoded_bytes(entry: Option<&Entry>) -> u32 {
    entry.map_or(0, |entry| u32::try_from(entry.value.len()).unwrap_or(u32::MAX))
}

fn entry<T>(codec: &dyn Codec<T>, value: Option<&T>, expiry: Expiry) -> Result<Option<Entry>> {
    let Some(value) = value else { return Ok(None) };
    let mut bytes = vec![];
    codec.encode(value, &mut bytes)?;
    Ok(Some(Entry { value: bytes, expiry }))
}
