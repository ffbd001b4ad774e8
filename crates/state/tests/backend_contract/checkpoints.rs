//! Keyed state in checkpoints: what is written follows the change, what is kept the state.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tidemill_core::{Epoch, EventTime, Watermark};
use tidemill_state::StateChanges;
use tidemill_state::checkpoint::{CheckpointStore, Place, Retention, Snapshot};
use tidemill_state::keyed::{KeyedState, StateDescriptor, StateTtlConfig, TtlTimeCharacteristic, ValueState};

use crate::backends::{ALL, Backends};

const OWNER: &str = "1.0.0";

/// A job whose state is kept in a folder.
struct Job {
    state: KeyedState,
    visits: ValueState<(u64, String)>,
    store: CheckpointStore,
    epoch: u64,
}

fn store(folder: &Path) -> CheckpointStore {
    CheckpointStore::new(Place::Folder(folder.to_owned()), Retention(1), "a plan".to_owned())
}

fn waited<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn descriptor(ttl_ms: Option<u64>) -> StateDescriptor<(u64, String)> {
    let ttl = |ttl_ms| {
        StateTtlConfig::new(Duration::from_millis(ttl_ms)).time_characteristic(TtlTimeCharacteristic::EventTime)
    };
    ttl_ms.map(ttl).into_iter().fold(StateDescriptor::new("visits"), StateDescriptor::enable_time_to_live)
}

impl Job {
    fn start(backends: &Backends, backend: &str, folder: &Path, ttl_ms: Option<u64>) -> Self {
        let mut state = KeyedState::new(backends.open(backend), 0..128).unwrap();
        let mut store = store(folder);
        let found = waited(store.resume(false)).unwrap();
        let epoch = store.last().map_or(0, |last| last.epoch().0);
        if let Some(mut saved) = found.and_then(|mut owners| owners.remove(OWNER)) {
            state.restore(&mut saved).unwrap();
            saved.finish().unwrap();
        }
        let visits = state.value_state(descriptor(ttl_ms)).unwrap();
        Self { state, visits, store, epoch }
    }

    fn visit(&mut self, key: u32, time: i64) {
        self.state.set_current_key(&key).unwrap();
        self.state.set_element_time(Some(EventTime(time)), Watermark::MIN);
        let text = || format!("about {key}: {}", "x".repeat(200));
        self.visits.update_with(&mut self.state, |visits| visits.get_or_insert_with(|| (0, text())).0 += 1).unwrap();
    }

    fn visits(&mut self, key: u32) -> u64 {
        self.state.set_current_key(&key).unwrap();
        self.visits.value(&mut self.state).unwrap().map_or(0, |(visits, _)| *visits)
    }

    /// How many bytes it has written.
    fn checkpoint(&mut self) -> u64 {
        self.state.end_batch().unwrap();
        let mut changes = StateChanges::default();
        self.state.snapshot(&mut changes).unwrap();
        self.epoch += 1;
        let changes = vec![(OWNER.to_owned(), changes)];
        let snapshot = Snapshot { epoch: Epoch(self.epoch), finished: false, changes, longest_pause: Duration::ZERO };
        let written = waited(self.store.write(snapshot)).unwrap().bytes;
        waited(self.store.drop_oldest()).unwrap();
        written
    }
}

fn bytes_in(folder: &Path) -> u64 {
    std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn a_checkpoint_costs_what_has_changed_and_a_restored_job_goes_on() {
    const KEYS: u32 = 10_000;
    let backends = Backends::new();
    for backend in ALL {
        let folder = tempfile::tempdir().unwrap();
        let mut job = Job::start(&backends, backend, folder.path(), None);
        let mut model: BTreeMap<u32, u64> = BTreeMap::new();
        let mut visit = |job: &mut Job, key: u32| {
            job.visit(key, 0);
            *model.entry(key).or_default() += 1;
        };
        (0..KEYS).for_each(|key| visit(&mut job, key));
        let all = job.checkpoint();
        let mut written = 0;
        for round in 0..27 {
            // One in a hundred, others each time.
            (0..KEYS / 100).for_each(|i| visit(&mut job, (i * 100 + round * 7) % KEYS));
            written += job.checkpoint();
            if round % 13 == 12 {
                job = Job::start(&backends, ALL[(round as usize) % ALL.len()], folder.path(), None);
            }
        }
        // Among them are the bounds of many small parts; of a larger state they are less.
        assert!(written / 27 < all / 12, "{backend}: {} of {all}", written / 27);
        assert!(bytes_in(folder.path()) < 3 * all, "{backend}: {} of {all}", bytes_in(folder.path()));
        for (key, visits) in model {
            assert_eq!(job.visits(key), visits, "{backend}: {key}");
        }
    }
}

/// What has expired leaves the checkpoints too, though nobody has deleted it.
#[test]
fn what_has_expired_leaves_the_checkpoints() {
    let backends = Backends::new();
    for backend in ALL {
        let folder = tempfile::tempdir().unwrap();
        let mut job = Job::start(&backends, backend, folder.path(), Some(1_000));
        let (mut most, mut first) = (0, 0);
        for round in 0..40 {
            let time = i64::from(round) * 500;
            (0..400).for_each(|i| job.visit(round * 400 + i, time));
            job.state.advance_watermark(Watermark(time));
            let written = job.checkpoint();
            first = if round == 0 { written } else { first };
            most = most.max(bytes_in(folder.path()));
        }
        // Of 40 rounds two last at any time; parts of a dozen are kept at most, before they are compacted.
        assert!(most < 16 * first, "{backend}: {most}, of {first} a round");
        let mut again = Job::start(&backends, backend, folder.path(), Some(1_000));
        again.state.set_element_time(Some(EventTime(39 * 500)), Watermark::MIN);
        let live = (0..16_000).filter(|key| again.visits(*key) > 0).count();
        assert_eq!(live, 800, "{backend}");
    }
}
