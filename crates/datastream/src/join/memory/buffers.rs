//! What an interval join keeps of its keys: elements of both sides by time, and which of them have found another.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};
use tidemill_state::key_group::key_hash;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Kept<T> {
    pub(super) time: i64,
    pub(super) element: T,
    pub(super) matched: bool,
}

/// The elements of one side of a key, in the order of their times; those of one time in the order in which they came.
pub(super) type Buffer<T> = VecDeque<Kept<T>>;

pub(super) fn keep<T>(buffer: &mut Buffer<T>, kept: Kept<T>) {
    let place = buffer.partition_point(|other| other.time <= kept.time);
    buffer.insert(place, kept);
}

/// The elements of these times.
pub(super) fn within<T>(buffer: &mut Buffer<T>, times: RangeInclusive<i64>) -> impl Iterator<Item = &mut Kept<T>> {
    let from = buffer.partition_point(|kept| kept.time < *times.start());
    let to = buffer.partition_point(|kept| kept.time <= *times.end()).max(from);
    buffer.range_mut(from..to)
}

/// Takes out the elements up to a time.
pub(super) fn forget<T>(buffer: &mut Buffer<T>, until: i64) -> impl Iterator<Item = Kept<T>> {
    let count = buffer.partition_point(|kept| kept.time <= until);
    buffer.drain(..count)
}

pub(super) struct OfKey<A, B> {
    hash: u64,
    /// The key as it is written.
    bytes: Box<[u8]>,
    pub(super) first: Buffer<A>,
    pub(super) second: Buffer<B>,
    /// It has changed since changes were last taken.
    changed: bool,
}

/// By key.
pub(super) struct Buffers<A, B> {
    table: HashTable<u32>,
    keys: Vec<OfKey<A, B>>,
    /// The places in `keys` that no key has.
    free: Vec<u32>,
    /// The places that have changed since changes were last taken, if somebody takes them.
    changed: Vec<u32>,
    /// Keys that are gone since.
    gone: Vec<Box<[u8]>>,
    /// Somebody takes changes.
    noting: bool,
}

impl<A, B> Buffers<A, B> {
    pub(super) fn new() -> Self {
        Self { table: HashTable::new(), keys: vec![], free: vec![], changed: vec![], gone: vec![], noting: false }
    }

    /// The place of a key, which it gets if it has none.
    pub(super) fn place(&mut self, bytes: &[u8]) -> u32 {
        let hash = key_hash(bytes);
        let Self { table, keys, free, .. } = self;
        // Hashes of a subtask's keys have the last bits of its key groups alone.
        let found = table.find(hash.rotate_left(32), |place| {
            let key = &keys[*place as usize];
            key.hash == hash && *key.bytes == *bytes
        });
        if let Some(place) = found {
            return *place;
        }
        let key = OfKey { hash, bytes: bytes.into(), first: Buffer::new(), second: Buffer::new(), changed: false };
        let place = match free.pop() {
            Some(place) => {
                keys[place as usize] = key;
                place
            }
            None => {
                keys.push(key);
                u32::try_from(keys.len() - 1).expect("memory ends before four thousand million keys")
            }
        };
        table.insert_unique(hash.rotate_left(32), place, |place| keys[*place as usize].hash.rotate_left(32));
        place
    }

    /// What a place has, to be changed.
    pub(super) fn change(&mut self, place: u32) -> &mut OfKey<A, B> {
        let key = &mut self.keys[place as usize];
        if self.noting && !key.changed {
            key.changed = true;
            self.changed.push(place);
        }
        key
    }

    /// Gives a place back that has no element.
    pub(super) fn release_if_empty(&mut self, place: u32) {
        let key = &mut self.keys[place as usize];
        if !key.first.is_empty() || !key.second.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut key.bytes);
        if let Ok(entry) = self.table.find_entry(key.hash.rotate_left(32), |other| *other == place) {
            entry.remove();
            self.free.push(place);
            if self.noting {
                self.gone.push(bytes);
            }
        }
    }

    /// All places that have elements.
    pub(super) fn places(&self) -> impl Iterator<Item = (u32, &OfKey<A, B>)> {
        self.table.iter().map(|place| (*place, &self.keys[*place as usize]))
    }

    /// From now on changes are noted.
    pub(super) fn note_from_now_on(&mut self) {
        self.noting = true;
    }

    /// The keys that have changed, with what they have, `None` for those that are gone; all, the first time. From then on
    /// changes are noted.
    pub(super) fn take_changes(&mut self, mut each: impl FnMut(&[u8], Option<(&Buffer<A>, &Buffer<B>)>)) {
        let all = !std::mem::replace(&mut self.noting, true);
        std::mem::take(&mut self.gone).iter().for_each(|bytes| each(bytes, None));
        if all {
            self.places().for_each(|(_, key)| each(&key.bytes, Some((&key.first, &key.second))));
            return;
        }
        for place in std::mem::take(&mut self.changed) {
            let key = &mut self.keys[place as usize];
            // A place that was given back, and to another key, is told once.
            if std::mem::take(&mut key.changed) && !(key.first.is_empty() && key.second.is_empty()) {
                each(&key.bytes, Some((&key.first, &key.second)));
            }
        }
    }
}
