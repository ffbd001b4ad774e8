use proptest::prelude::*;

use super::*;
use crate::backend::MemoryBackend;
use crate::upserts;

#[derive(Debug, Clone)]
enum Step {
    Put(Vec<u8>, Option<u8>),
    Get(Vec<u8>),
    GetMany(Vec<Vec<u8>>),
    Scan(Vec<u8>, usize),
    FlushIfLarge,
    Snapshot,
}

/// Short keys of two letters: they meet, and begin one another.
fn key() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0..3_u8, 1..5)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (key(), any::<Option<u8>>()).prop_map(|(key, value)| Step::Put(key, value)),
        2 => key().prop_map(Step::Get),
        1 => prop::collection::vec(key(), 0..6).prop_map(Step::GetMany),
        2 => (key(), 1..6_usize).prop_map(|(prefix, limit)| Step::Scan(prefix, limit)),
        1 => Just(Step::FlushIfLarge),
        1 => Just(Step::Snapshot),
    ]
}

fn scan_all(store: &mut Store, prefix: &[u8], limit: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut all = vec![];
    let mut rest = Some(KeyRange::prefix(prefix));
    while let Some(range) = rest {
        let page = store.scan(&range, limit).unwrap();
        assert!(page.entries.len() <= limit);
        all.extend(page.entries.into_iter().map(|(key, entry)| (key, entry.value)));
        rest = page.rest;
    }
    all
}

proptest! {
    /// What was written is read, wherever it is held; and the snapshots together are what there is.
    #[test]
    fn a_store_is_a_map(steps in prop::collection::vec(step(), 1..80)) {
        let mut store = Store::new(Box::new(MemoryBackend::new()));
        let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        let mut told: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(key, Some(value)) => {
                    store.put(key.clone(), Some(Entry::new(vec![value]))).unwrap();
                    model.insert(key, vec![value]);
                }
                Step::Put(key, None) => {
                    store.put(key.clone(), None).unwrap();
                    model.remove(&key);
                }
                Step::Get(key) => {
                    let read = store.get(&key).unwrap().map(|entry| entry.value);
                    prop_assert_eq!(read.as_ref(), model.get(&key));
                }
                Step::GetMany(keys) => {
                    let read = store.get_many(&keys.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
                    let read: Vec<_> = read.into_iter().map(|entry| entry.map(|entry| entry.value)).collect();
                    prop_assert_eq!(read, keys.iter().map(|key| model.get(key).cloned()).collect::<Vec<_>>());
                }
                Step::Scan(prefix, limit) => {
                    let expected: Vec<_> = model.clone().into_iter().filter(|(key, _)| key.starts_with(&prefix)).collect();
                    prop_assert_eq!(scan_all(&mut store, &prefix, limit), expected);
                }
                Step::FlushIfLarge => store.flush_if_large().unwrap(),
                Step::Snapshot => {
                    store.begin_noting().unwrap();
                    for (group, part) in store.changes(Clocks::START).unwrap() {
                        for row in upserts::rows(&part).unwrap() {
                            let (key, entry) = row.unwrap();
                            prop_assert_eq!(key[0], group);
                            match entry {
                                Some(entry) => drop(told.insert(key.to_vec(), entry.value)),
                                None => drop(told.remove(key)),
                            }
                        }
                    }
                    prop_assert_eq!(&told, &model);
                }
            }
        }
    }
}

#[test]
fn a_snapshot_tells_what_has_changed_alone() {
    let mut store = Store::new(Box::new(MemoryBackend::new()));
    for i in 0..100 {
        store.put(vec![i], Some(Entry::new(vec![]))).unwrap();
    }
    let rows = |store: &mut Store| -> usize {
        store.begin_noting().unwrap();
        store.changes(Clocks::START).unwrap().iter().map(|(_, part)| part.num_rows()).sum()
    };
    assert_eq!(rows(&mut store), 100);
    store.put(vec![7], None).unwrap();
    store.get(&[8]).unwrap();
    assert_eq!(rows(&mut store), 1);
    assert_eq!(rows(&mut store), 0);
}

#[test]
fn a_value_that_no_backend_takes_is_refused() {
    let mut store = Store::new(Box::new(MemoryBackend::new()));
    let error = store.put(vec![1], Some(Entry::new(vec![0; ENTRY_BYTES_MAX + 1]))).unwrap_err();
    assert_eq!(error.message(), "a value of the state has 536870913 bytes, and 536870912 are the most");
}
