//! What a well-meant program does not do, but some program does.

use tidemill_core::{ErrorKind, EventTime, Watermark};
use tidemill_state::backend::{Entry, KeyRange, MemoryBackend};
use tidemill_state::keyed::{KeyedState, ListState, MapState, MapStateDescriptor, StateDescriptor, ValueState};
use tidemill_state::{State, StateChanges};

use crate::backends::{ALL, Backends};

#[test]
fn large_values_are_kept_whole() {
    let backends = Backends::new();
    for name in ALL {
        let mut backend = backends.open(name);
        let large = |byte| Some(Entry::new(vec![byte; 20 << 20]));
        backend.write((0..4).map(|byte| (vec![byte], large(byte))).collect()).unwrap();
        assert_eq!(backend.get_many(&[&[3], &[4]]).unwrap(), [large(3), None]);
        let (mut found, mut rest) = (0, Some(KeyRange::all()));
        while let Some(range) = rest {
            let page = backend.scan(&range, 100).unwrap();
            found += page.entries.len();
            assert!(page.entries.iter().all(|(key, entry)| entry.value.iter().all(|byte| *byte == key[0])));
            rest = page.rest;
        }
        assert_eq!(found, 4, "{name}");
    }
}

/// A batch of writes that is larger than what is sent at once, and a get of more keys than a command has.
#[test]
fn large_batches_are_kept_whole() {
    let backends = Backends::new();
    for name in ALL {
        let mut backend = backends.open(name);
        let keys: Vec<Vec<u8>> = (0..20_000_u32).map(|i| i.to_be_bytes().to_vec()).collect();
        let entry = |key: &Vec<u8>| Some(Entry::new([key.as_slice(), &[1; 500]].concat()));
        backend.write(keys.iter().map(|key| (key.clone(), entry(key))).collect()).unwrap();
        let found = backend.get_many(&keys.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
        assert!(found.iter().zip(&keys).all(|(found, key)| *found == entry(key)), "{name}");
    }
}

#[test]
fn keys_that_begin_one_another_are_not_mixed_up() {
    let backends = Backends::new();
    let keys = ["", "a", "a\0", "a\0\0", "ab", "b", "\u{10ffff}", &"x".repeat(300)];
    for name in ALL {
        let mut state = KeyedState::new(backends.open(name), 0..128).unwrap();
        let map: MapState<String, u32> = state.map_state(MapStateDescriptor::new("map")).unwrap();
        let list: ListState<String> = state.list_state(StateDescriptor::new("list")).unwrap();
        for key in keys {
            state.set_current_key(key).unwrap();
            for other in keys {
                map.put(&mut state, &format!("{key}{other}"), &(other.len() as u32)).unwrap();
            }
            list.add(&mut state, &key.to_owned()).unwrap();
        }
        state.end_batch().unwrap();
        for key in keys {
            state.set_current_key(key).unwrap();
            let mut expected: Vec<String> = keys.iter().map(|other| format!("{key}{other}")).collect();
            expected.sort();
            let found: Vec<String> = map.keys(&mut state).unwrap().map(Result::unwrap).collect();
            assert_eq!(found, expected, "{name} {key:?}");
            assert_eq!(list.get(&mut state).unwrap(), [key]);
        }
        state.set_current_key("a\0").unwrap();
        map.clear(&mut state).unwrap();
        assert!(map.is_empty(&mut state).unwrap());
        state.set_current_key("a").unwrap();
        assert_eq!(map.keys(&mut state).unwrap().count(), keys.len());
    }
}

fn in_memory() -> KeyedState {
    KeyedState::new(Box::new(MemoryBackend::new()), 0..128).unwrap()
}

#[test]
fn state_without_a_key_is_refused() {
    let mut state = in_memory();
    let value: ValueState<u32> = state.value_state(StateDescriptor::new("visits")).unwrap();
    let error = value.value(&mut state).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(error.message(), "visits belongs to a key, and there is no current key");
    state.set_current_key(&1).unwrap();
    value.update(&mut state, 1).unwrap();
    state.end_batch().unwrap();
    assert!(state.register_event_time_timer(EventTime(1)).is_err());
    // Nor does a key that is not written have one.
    let error = state.set_current_key(&Unwritable).unwrap_err();
    assert!(error.message().starts_with("a key can't be written: "), "{error}");
    assert!(value.value(&mut state).is_err());
}

struct Unwritable;

impl serde::Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("never"))
    }
}

#[test]
fn a_key_of_another_subtask_is_refused() {
    let mut state = KeyedState::new(Box::new(MemoryBackend::new()), 0..1).unwrap();
    let refused = (0..20).filter(|key| state.set_current_key(key).is_err()).count();
    assert!(refused >= 15, "{refused}");
    assert!(KeyedState::new(Box::new(MemoryBackend::new()), 0..129).is_err());
}

#[test]
fn names_are_given_once() {
    let mut state = in_memory();
    let _: ValueState<u32> = state.value_state(StateDescriptor::new("a")).unwrap();
    let error = state.list_state::<u32>(StateDescriptor::new("a")).unwrap_err();
    assert!(error.message().starts_with("the state 'a' is list in the format 'postcard', and"), "{error}");
    let error = state.value_state::<u32>(StateDescriptor::new("a")).unwrap_err();
    assert_eq!(error.message(), "the state 'a' is registered twice");
    let error = state.value_state::<u32>(StateDescriptor::new("event-time timers")).unwrap_err();
    assert!(error.message().starts_with("the state 'event-time timers' is value"), "{error}");
}

/// A handle that another operator has made is refused where its state is of another type.
#[test]
fn a_foreign_handle_is_refused() {
    let (mut mine, mut other) = (in_memory(), in_memory());
    let value: ValueState<String> = other.value_state(StateDescriptor::new("a")).unwrap();
    let _: ValueState<u32> = mine.value_state(StateDescriptor::new("b")).unwrap();
    mine.set_current_key(&1).unwrap();
    assert_eq!(value.value(&mut mine).unwrap_err().message(), "the handle of the state 'a' is of another operator");
}

fn snapshot_of_a_value(value: &str) -> State {
    let mut state = in_memory();
    let handle: ValueState<String> = state.value_state(StateDescriptor::new("name")).unwrap();
    state.set_current_key(&1).unwrap();
    handle.update(&mut state, value.to_owned()).unwrap();
    let (mut changes, mut saved) = (StateChanges::default(), State::default());
    state.snapshot(&mut changes).unwrap();
    saved.apply(changes);
    saved
}

#[test]
fn a_type_that_has_changed_is_told_with_the_name_of_its_state() {
    let mut state = in_memory();
    state.restore(&mut snapshot_of_a_value("x")).unwrap();
    let handle: ValueState<u64> = state.value_state(StateDescriptor::new("name")).unwrap();
    state.set_current_key(&1).unwrap();
    let error = handle.value(&mut state).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().starts_with("the state 'name': what is stored is no such value"), "{error}");
}

#[test]
fn a_state_that_nobody_registers_is_named_and_kept() {
    let mut state = in_memory();
    state.restore(&mut snapshot_of_a_value("x")).unwrap();
    assert_eq!(state.unregistered(), ["name"]);
    let error = state.map_state::<u32, u32>(MapStateDescriptor::new("name")).unwrap_err();
    assert!(error.message().ends_with("and snapshots have left value in the format 'postcard'"), "{error}");
    // Taken up by another subtask, and again.
    let mut taken = State::default();
    let mut other = in_memory();
    let _: ValueState<u8> = other.value_state(StateDescriptor::new("before it")).unwrap();
    other.import(&mut snapshot_of_a_value("x")).unwrap();
    let mut changes = StateChanges::default();
    other.snapshot(&mut changes).unwrap();
    taken.apply(changes);
    let mut last = in_memory();
    last.restore(&mut taken).unwrap();
    let handle: ValueState<String> = last.value_state(StateDescriptor::new("name")).unwrap();
    last.set_current_key(&1).unwrap();
    assert_eq!(handle.value(&mut last).unwrap(), Some(&"x".to_owned()));
}

#[test]
fn state_that_is_restored_too_late_or_damaged_is_told() {
    let mut state = in_memory();
    let _: ValueState<u8> = state.value_state(StateDescriptor::new("before it")).unwrap();
    let error = state.restore(&mut snapshot_of_a_value("x")).unwrap_err();
    assert_eq!(error.message(), "keyed state is restored after its states were registered");
    let mut without_catalog = snapshot_of_a_value("x");
    without_catalog.take("states").unwrap();
    let error = in_memory().restore(&mut without_catalog).unwrap_err();
    assert_eq!(error.message(), "an entry is of a state that the checkpoint does not list");
}

/// The last moment, and the first: for ever is a time too.
#[test]
fn timers_at_the_ends_of_time_fire() {
    let backends = Backends::new();
    for name in ALL {
        let mut state = KeyedState::new(backends.open(name), 0..128).unwrap();
        for (key, time) in [(1, i64::MAX), (2, i64::MIN), (3, i64::MAX - 1)] {
            state.set_current_key(&key).unwrap();
            state.register_event_time_timer(EventTime(time)).unwrap();
        }
        let fired = |state: &mut KeyedState| -> Vec<i64> {
            std::iter::from_fn(|| state.next_event_time_timer().unwrap().map(|time| time.0)).collect()
        };
        assert_eq!(fired(&mut state), [i64::MIN], "{name}");
        state.advance_watermark(Watermark(i64::MAX - 1));
        assert_eq!(fired(&mut state), [i64::MAX - 1]);
        state.advance_watermark(Watermark::MAX);
        assert_eq!(fired(&mut state), [i64::MAX]);
    }
}
