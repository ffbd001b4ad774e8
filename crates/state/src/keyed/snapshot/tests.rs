use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::*;
use crate::backend::{Backend, Clocks, Entry, KeyRange, MemoryBackend, Page};
use crate::keyed::{StateDescriptor, ValueState};
use crate::section::{Change, Rows};
use crate::spill::SpillFolder;

const KEYS: u32 = 2_000;

/// A backend that notes of each write how many entries it brings, and how many parts are still in files then.
struct Watching {
    near: MemoryBackend,
    folder: PathBuf,
    seen: Arc<Mutex<Vec<(usize, usize)>>>,
}

impl Backend for Watching {
    fn name(&self) -> &'static str {
        "watching"
    }

    fn at_hand_bytes(&self) -> Option<usize> {
        None
    }

    fn get_many(&mut self, keys: &[&[u8]]) -> Result<Vec<Option<Entry>>> {
        self.near.get_many(keys)
    }

    fn write(&mut self, writes: Vec<Write>) -> Result<()> {
        let files = fs::read_dir(&self.folder).unwrap().count();
        self.seen.lock().unwrap().push((writes.len(), files));
        self.near.write(writes)
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Page> {
        self.near.scan(range, limit)
    }

    fn clean(&mut self, clocks: Clocks) -> Result<()> {
        self.near.clean(clocks)
    }
}

fn value_state(state: &mut KeyedState, name: &'static str) -> ValueState<u32> {
    state.value_state(StateDescriptor::new(name)).unwrap()
}

/// A state whose key groups have parts of three snapshots, and what it says of each key.
fn saved() -> (State, BTreeMap<u32, u32>) {
    let (mut saved, mut model) = (State::default(), BTreeMap::new());
    let mut state = KeyedState::new(Box::new(MemoryBackend::new()), 0..KEY_GROUPS).unwrap();
    let value = value_state(&mut state, "value");
    for round in 0..3 {
        for key in (0..KEYS).filter(|key| key % (round + 1) == 0) {
            state.set_current_key(&key).unwrap();
            if (key + round) % 5 == 0 {
                value.clear(&mut state).unwrap();
                model.remove(&key);
            } else {
                value.update(&mut state, key * 10 + round).unwrap();
                model.insert(key, key * 10 + round);
            }
        }
        let mut changes = StateChanges::default();
        state.snapshot(&mut changes).unwrap();
        saved.apply(changes);
    }
    (saved, model)
}

/// The same with each part in a file of its own, and how many those are.
fn in_files(saved: &State, folder: &SpillFolder) -> (State, usize) {
    let (mut apart, mut parts) = (StateChanges::default(), 0);
    for (section, change) in saved.changes().into_changes() {
        let Change::Replace(rows) = change else { panic!("a whole state has only whole sections") };
        if section.name != KEYED {
            apart.replace_rows(section, rows);
            continue;
        }
        parts += rows.len();
        let in_file = |rows: Rows| Rows::Spilled(folder.file().unwrap().write(&rows.read().unwrap()).unwrap());
        apart.replace_rows(section, rows.into_iter().map(in_file).collect());
    }
    let mut state = State::default();
    state.apply(apart);
    (state, parts)
}

#[test]
fn of_parts_in_files_one_is_in_memory_at_a_time() {
    let (saved, model) = saved();
    for imported in [false, true] {
        let parent = tempfile::tempdir().unwrap();
        let folder = SpillFolder::within(parent.path()).unwrap();
        let (mut left, parts) = in_files(&saved, &folder);
        assert!(parts > 2 * KEY_GROUPS, "{parts} parts");
        let seen = Arc::new(Mutex::new(vec![]));
        let (near, path) = (MemoryBackend::new(), folder.path().to_owned());
        let backend = Watching { near, folder: path, seen: Arc::clone(&seen) };
        let mut state = KeyedState::new(Box::new(backend), 0..KEY_GROUPS).unwrap();
        let value = if imported {
            // So the state has another number than it had.
            value_state(&mut state, "another");
            let value = value_state(&mut state, "value");
            state.import(&mut left).unwrap();
            value
        } else {
            state.restore(&mut left).unwrap();
            value_state(&mut state, "value")
        };
        left.finish().unwrap();
        let seen = mem::take(&mut *seen.lock().unwrap());
        assert!(seen.iter().all(|(entries, _)| (1..=WRITES).contains(entries)), "{seen:?}");
        // When a part is written, those before it are gone and those behind it not read yet.
        let mut files: Vec<usize> = seen.into_iter().map(|(_, files)| files).collect();
        files.dedup();
        assert_eq!(files, (0..parts).rev().collect::<Vec<_>>());
        for key in 0..KEYS {
            state.set_current_key(&key).unwrap();
            assert_eq!(value.value(&mut state).unwrap(), model.get(&key), "{key}");
        }
    }
}
