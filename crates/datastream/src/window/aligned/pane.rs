//! The keys of one window, each with its value.

use hashbrown::HashTable;
use tidemill_state::key_group::key_hash;

struct Slot<K, A> {
    hash: u64,
    /// Where its bytes begin, and how many there are.
    bytes: (usize, u32),
    key: K,
    acc: A,
    /// It has changed since changes were last taken.
    changed: bool,
}

/// Values by key. Keys are compared as they are written, and found by the hash of that.
pub(super) struct Pane<K, A> {
    table: HashTable<u32>,
    slots: Vec<Slot<K, A>>,
    /// The bytes of all keys.
    bytes: Vec<u8>,
    /// The slots that have changed since changes were last taken, if somebody takes them.
    changed: Vec<u32>,
    /// It has told its result.
    pub(super) fired: bool,
}

impl<K, A> Pane<K, A> {
    pub(super) fn new(fired: bool) -> Self {
        Self { table: HashTable::new(), slots: vec![], bytes: vec![], changed: vec![], fired }
    }

    /// Changes the value of a key, or makes one; `noted`: somebody takes changes.
    pub(super) fn update<T>(
        &mut self,
        bytes: &[u8],
        key: impl FnOnce() -> K,
        value: T,
        (first, add): (impl FnOnce(T) -> A, impl FnOnce(&mut A, T)),
        noted: bool,
    ) -> (&K, &A) {
        let hash = key_hash(bytes);
        let Self { table, slots, bytes: all, changed, .. } = self;
        let same = |slot: &u32| {
            let slot = &slots[*slot as usize];
            let (start, length) = slot.bytes;
            slot.hash == hash && all[start..start + length as usize] == *bytes
        };
        // Hashes of a subtask's keys have the last bits of its key groups alone.
        let index = match table.find(hash.rotate_left(32), same) {
            Some(index) => {
                let index = *index;
                add(&mut slots[index as usize].acc, value);
                index
            }
            None => {
                let index = u32::try_from(slots.len()).expect("memory ends before four thousand million keys");
                let length = u32::try_from(bytes.len()).expect("a key has less than 4 GiB");
                slots.push(Slot { hash, bytes: (all.len(), length), key: key(), acc: first(value), changed: false });
                all.extend_from_slice(bytes);
                table.insert_unique(hash.rotate_left(32), index, |slot| slots[*slot as usize].hash.rotate_left(32));
                index
            }
        };
        let slot = &mut slots[index as usize];
        if noted && !slot.changed {
            slot.changed = true;
            changed.push(index);
        }
        (&slot.key, &slot.acc)
    }

    /// All keys with their values, in the order in which they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &A)> {
        self.slots.iter().map(|slot| (&slot.key, &slot.acc))
    }

    /// The bytes of the keys that have changed, with their values; of all, where nothing was noted.
    pub(super) fn take_changes(&mut self, all: bool, mut each: impl FnMut(&[u8], &A)) {
        let mut tell = |slot: &mut Slot<K, A>, bytes: &[u8]| {
            let (start, length) = slot.bytes;
            slot.changed = false;
            each(&bytes[start..start + length as usize], &slot.acc);
        };
        if all {
            self.slots.iter_mut().for_each(|slot| tell(slot, &self.bytes));
            self.changed.clear();
        } else {
            for index in std::mem::take(&mut self.changed) {
                tell(&mut self.slots[index as usize], &self.bytes);
            }
        }
    }
}
