//! The keys that are at hand: each has a slot, by which the cells of all states are found without another look-up.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// The number of a key among those at hand.
pub(super) type Slot = u32;

struct Key {
    hash: u64,
    group: u8,
    /// The key and the namespace, as the layout has them.
    place: Box<[u8]>,
}

/// Slots by key and namespace.
#[derive(Default)]
pub(super) struct Keys {
    slots: HashTable<Slot>,
    keys: Vec<Key>,
    /// Slots that nobody has.
    free: Vec<Slot>,
}

impl Keys {
    /// How many have a slot.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// No slot has a higher number.
    pub(super) fn slots(&self) -> usize {
        self.keys.len()
    }

    /// The slot of a place, which it gets if it has none.
    pub(super) fn slot(&mut self, group: u8, place: &[u8]) -> Slot {
        let hash = xxh3_64(place);
        let Self { slots, keys, free } = self;
        let same = |slot: &Slot| {
            let key = &keys[*slot as usize];
            key.hash == hash && *key.place == *place
        };
        if let Some(slot) = slots.find(hash, same) {
            return *slot;
        }
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
            self.keys[slot as usize].place = Box::default();
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

    #[test]
    fn a_place_keeps_its_slot_until_it_is_given_back() {
        let mut keys = Keys::default();
        let (a, b) = (keys.slot(1, b"a"), keys.slot(2, b"b"));
        assert_ne!(a, b);
        assert_eq!((keys.slot(1, b"a"), keys.group(b), keys.place(b)), (a, 2, b"b".as_slice()));
        keys.release(a);
        keys.release(a);
        assert_eq!(keys.len(), 1);
        let c = keys.slot(3, b"c");
        assert_eq!((c, keys.group(c)), (a, 3));
        assert_eq!(keys.slot(1, b"a"), 2);
        assert_eq!((keys.len(), keys.slots()), (3, 3));
    }
}
