//! The keys that are at hand: each has a slot, by which the cells of all states are found without another look-up.

use std::mem;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::key_group::{key_group, key_hash};

/// The number of a key among those at hand.
pub(super) type Slot = u32;

struct Key {
    hash: u64,
    group: u8,
    /// The key and the namespace, as the layout has them.
    place: Box<[u8]>,
}

/// The hash of a key, of which its group is made, and of a namespace: a key is hashed once.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlaceHash {
    of_key: u64,
    of_place: u64,
}

impl PlaceHash {
    pub(super) fn new(key: &[u8]) -> Self {
        let of_key = key_hash(key);
        // Turned, because a subtask's keys have the last bits of its key groups alone.
        Self { of_key, of_place: of_key.rotate_left(32) }
    }

    pub(super) fn with_namespace(self, namespace: &[u8]) -> Self {
        let turned = self.of_key.rotate_left(32);
        let of_place = if namespace.is_empty() { turned } else { xxh3_64_with_seed(namespace, turned) };
        Self { of_place, ..self }
    }

    pub(super) fn group(self) -> u8 {
        key_group(self.of_key)
    }
}

/// Slots by key and namespace.
#[derive(Default)]
pub(super) struct Keys {
    slots: HashTable<Slot>,
    keys: Vec<Key>,
    /// Slots that nobody has.
    free: Vec<Slot>,
    /// Of all places.
    place_bytes: usize,
}

impl Keys {
    /// About how much memory they take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.keys.len() * (size_of::<Key>() + 2 * size_of::<Slot>()) + self.place_bytes
    }

    /// No slot has a higher number.
    pub(super) fn slots(&self) -> usize {
        self.keys.len()
    }

    /// The slot of a place, which it gets if it has none.
    pub(super) fn slot(&mut self, hash: PlaceHash, place: &[u8]) -> Slot {
        let (group, hash) = (hash.group(), hash.of_place);
        let Self { slots, keys, free, place_bytes } = self;
        let same = |slot: &Slot| {
            let key = &keys[*slot as usize];
            key.hash == hash && *key.place == *place
        };
        if let Some(slot) = slots.find(hash, same) {
            return *slot;
        }
        *place_bytes += place.len();
        let key = Key { hash, group, place: place.into() };
        let slot = match free.pop() {
            Some(slot) => {
                keys[slot as usize] = key;
                slot
            }
            None => {
                keys.push(key);
                Slot::try_from(keys.len() - 1).expect("memory ends before four thousand million keys")
            }
        };
        slots.insert_unique(hash, slot, |slot| keys[*slot as usize].hash);
        slot
    }

    pub(super) fn group(&self, slot: Slot) -> u8 {
        self.keys[slot as usize].group
    }

    pub(super) fn place(&self, slot: Slot) -> &[u8] {
        &self.keys[slot as usize].place
    }

    /// Gives a slot back; nothing happens if nobody has it.
    pub(super) fn release(&mut self, slot: Slot) {
        let hash = self.keys[slot as usize].hash;
        if let Ok(entry) = self.slots.find_entry(hash, |other| *other == slot) {
            entry.remove();
            self.place_bytes -= mem::take(&mut self.keys[slot as usize].place).len();
            self.free.push(slot);
        }
    }

    /// Gives all slots back.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(keys: &mut Keys, key: &[u8]) -> Slot {
        keys.slot(PlaceHash::new(key), key)
    }

    #[test]
    fn a_place_keeps_its_slot_until_it_is_given_back() {
        let mut keys = Keys::default();
        let (a, b) = (slot(&mut keys, b"a"), slot(&mut keys, b"b"));
        assert_ne!(a, b);
        assert_eq!((slot(&mut keys, b"a"), keys.place(b)), (a, b"b".as_slice()));
        assert_eq!(keys.group(b), key_group(key_hash(b"b")));
        keys.release(a);
        keys.release(a);
        assert_eq!(keys.slots.len(), 1);
        assert_eq!(slot(&mut keys, b"c"), a);
        assert_eq!(slot(&mut keys, b"a"), 2);
        assert_eq!((keys.slots.len(), keys.slots()), (3, 3));
    }

    #[test]
    fn a_namespace_stays_in_the_group_of_its_key() {
        let key = PlaceHash::new(b"a");
        let namespace = key.with_namespace(b"n");
        assert_eq!(namespace.group(), key.group());
        assert_ne!(namespace.of_place, key.of_place);
        assert_eq!(namespace.with_namespace(b"").of_place, key.of_place);
    }
}
