//! A backend is a sorted map of bytes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tidemill_state::backend::{Backend, Clocks, Entry, Expiry, KeyRange, Write};

use crate::backends::{ALL, Backends};

#[derive(Debug, Clone)]
enum Step {
    Write(Vec<Write>),
    Get(Vec<Vec<u8>>),
    Scan(KeyRange, usize),
    Clean,
}

/// Keys that meet and begin one another; with none, and with the highest bytes.
fn key() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(255)], 0..5)
}

fn entry() -> impl Strategy<Value = Option<Entry>> {
    let expiry = prop_oneof![
        4 => Just(Expiry::Never),
        1 => (1..100_i64).prop_map(Expiry::ProcessingTime),
        1 => (1..100_i64).prop_map(Expiry::EventTime),
    ];
    let value = prop_oneof![9 => prop::collection::vec(any::<u8>(), 0..4), 1 => Just(vec![7; 100_000])];
    prop_oneof![3 => (value, expiry).prop_map(|(value, expiry)| Some(Entry { value, expiry })), 1 => Just(None)]
}

fn range() -> impl Strategy<Value = KeyRange> {
    prop_oneof![
        key().prop_map(|prefix| KeyRange::prefix(&prefix)),
        (key(), key()).prop_map(|(start, end)| KeyRange { start, end: Some(end) }),
        (key(), key()).prop_map(|(prefix, key)| KeyRange::prefix(&prefix).behind(&key)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec((key(), entry()), 0..12).prop_map(Step::Write),
        2 => prop::collection::vec(key(), 0..6).prop_map(Step::Get),
        3 => (range(), 1..7_usize).prop_map(|(range, limit)| Step::Scan(range, limit)),
        1 => Just(Step::Clean),
    ]
}

fn scan_all(backend: &mut dyn Backend, range: &KeyRange, limit: usize) -> Vec<(Vec<u8>, Entry)> {
    let (mut all, mut rest) = (vec![], Some(range.clone()));
    while let Some(range) = rest {
        let page = backend.scan(&range, limit).unwrap();
        assert!(page.entries.len() <= limit);
        all.extend(page.entries);
        rest = page.rest;
    }
    all
}

fn agrees(backend: &mut dyn Backend, steps: &[Step]) {
    let mut model: BTreeMap<Vec<u8>, Entry> = BTreeMap::new();
    let mut clocks = Clocks { processing_ms: 0, event_ms: 0 };
    for step in steps {
        // What has expired may be there or not.
        let live = |found: Vec<(Vec<u8>, Entry)>| -> Vec<(Vec<u8>, Entry)> {
            found.into_iter().filter(|(_, entry)| !entry.expiry.past(clocks)).collect()
        };
        match step {
            Step::Write(writes) => {
                backend.write(writes.clone()).unwrap();
                for (key, entry) in writes.clone() {
                    match entry {
                        Some(entry) => drop(model.insert(key, entry)),
                        None => drop(model.remove(&key)),
                    }
                }
            }
            Step::Get(keys) => {
                let found = backend.get_many(&keys.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
                assert_eq!(found.len(), keys.len());
                let found = keys.iter().cloned().zip(found).filter_map(|(key, entry)| Some((key, entry?))).collect();
                let expected = keys.iter().filter_map(|key| Some((key.clone(), model.get(key)?.clone()))).collect();
                assert_eq!(live(found), live(expected), "{} {step:?}", backend.name());
            }
            Step::Scan(range, limit) => {
                let found = scan_all(backend, range, *limit);
                assert!(found.is_sorted_by(|a, b| a.0 < b.0));
                let within = |key: &&Vec<u8>| **key >= range.start && range.end.as_ref().is_none_or(|end| *key < end);
                let expected = model.keys().filter(within).map(|key| (key.clone(), model[key].clone())).collect();
                assert_eq!(live(found), live(expected), "{} {step:?}", backend.name());
            }
            Step::Clean => {
                clocks.processing_ms += 7;
                clocks.event_ms += 5;
                backend.clean(clocks).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_backend_is_a_sorted_map(steps in prop::collection::vec(step(), 1..40)) {
        SHARED.with(|backends| {
            for name in ALL {
                agrees(backends.open(name).as_mut(), &steps);
            }
        });
    }
}

thread_local! {
    static SHARED: Backends = Backends::new();
}
