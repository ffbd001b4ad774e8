use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tidemill_core::Result;

use super::*;
use crate::backend::{Backend, Clocks, Entry, KeyRange, MemoryBackend, Page, Write};
use crate::keyed::{StateDescriptor, ValueState};

const AT_HAND_BYTES: usize = 10_000;

/// A backend that says that it is far, and counts round trips.
struct Far {
    near: MemoryBackend,
    reads: Arc<AtomicUsize>,
}

impl Backend for Far {
    fn name(&self) -> &'static str {
        "far"
    }

    fn at_hand_bytes(&self) -> Option<usize> {
        Some(AT_HAND_BYTES)
    }

    fn get_many(&mut self, keys: &[&[u8]]) -> Result<Vec<Option<Entry>>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.near.get_many(keys)
    }

    fn write(&mut self, writes: Vec<Write>) -> Result<()> {
        self.near.write(writes)
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Page> {
        self.near.scan(range, limit)
    }

    fn clean(&mut self, clocks: Clocks) -> Result<()> {
        self.near.clean(clocks)
    }
}

fn far() -> (KeyedState, ValueState<String>, Arc<AtomicUsize>) {
    let reads = Arc::<AtomicUsize>::default();
    let backend = Far { near: MemoryBackend::new(), reads: Arc::clone(&reads) };
    let mut state = KeyedState::new(Box::new(backend), 0..128).unwrap();
    let values = state.value_state(StateDescriptor::new("values")).unwrap();
    (state, values, reads)
}

#[test]
fn a_batch_is_one_read_and_what_is_at_hand_has_bounded_memory() {
    let (mut state, values, reads) = far();
    let mut model: BTreeMap<u64, String> = BTreeMap::new();
    for batch in 0..200_u64 {
        let keys: Vec<u64> = (0..50).map(|i| (batch * 50 + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) % 3_000).collect();
        let before = reads.load(Ordering::Relaxed);
        state.prefetch(&keys).unwrap();
        for key in &keys {
            state.set_current_key(key).unwrap();
            let known = model.entry(*key).or_default();
            assert_eq!(values.value(&mut state).unwrap().map_or("", String::as_str), known);
            known.push('x');
            values.update(&mut state, known.clone()).unwrap();
        }
        assert!(reads.load(Ordering::Relaxed) <= before + 1);
        state.end_batch().unwrap();
        assert!(state.bytes_at_hand() <= AT_HAND_BYTES, "{}", state.bytes_at_hand());
        assert!(state.changes_at_hand() <= CHANGES_AT_HAND);
    }
}

#[test]
fn keys_at_hand_are_not_read_again() {
    let (mut state, values, reads) = far();
    for _ in 0..20 {
        state.prefetch(&[1_u64, 2, 3]).unwrap();
        for key in [1_u64, 2, 3] {
            state.set_current_key(&key).unwrap();
            values.update_with(&mut state, |value| value.get_or_insert_default().push('x')).unwrap();
        }
        state.end_batch().unwrap();
    }
    assert_eq!(reads.load(Ordering::Relaxed), 1);
}
