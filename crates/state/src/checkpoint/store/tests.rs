use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use proptest::prelude::*;
use tempfile::tempdir;

use super::*;
use crate::backend::{Clocks, Entry};
use crate::section::{Rows, Section};
use crate::upserts::{self, UpsertsBuilder};

mod faults;
mod writers;

const PLAN: &str = "0: source t (parallelism 1)\n1: window by a (parallelism 1)\n";

fn folder(path: &Path) -> Place {
    Place::Folder(path.to_owned())
}

fn store(place: &Place, retention: usize) -> CheckpointStore {
    CheckpointStore::new(place.clone(), Retention(retention), PLAN.to_owned())
}

fn numbers(values: impl IntoIterator<Item = i64>) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    RecordBatch::try_from_iter([("n", column)]).unwrap()
}

/// A change of one section of the owner `a`.
fn append(pane: i64, values: impl IntoIterator<Item = i64>) -> Vec<(Owner, StateChanges)> {
    let mut changes = StateChanges::default();
    changes.append(Section::new("pane", pane), numbers(values));
    vec![("a".to_owned(), changes)]
}

async fn write(store: &mut CheckpointStore, epoch: u64, changes: Vec<(Owner, StateChanges)>) -> Result<()> {
    let longest_pause = Duration::from_micros(epoch);
    store.write(Snapshot { epoch: Epoch(epoch), finished: false, changes, longest_pause }).await?;
    store.drop_oldest().await
}

/// The rows of the sections of owner `a`, by pane, in order.
fn panes(mut state: BTreeMap<Owner, State>) -> Vec<(i64, Vec<i64>)> {
    let panes = state.remove("a").unwrap_or_default().take_all("pane").unwrap();
    let rows = |batches: Vec<RecordBatch>| {
        let column =
            |batch: &RecordBatch| batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec();
        batches.iter().flat_map(column).collect()
    };
    panes.into_iter().map(|(pane, batches)| (pane, rows(batches))).collect()
}

async fn resumed(place: &Place) -> Vec<(i64, Vec<i64>)> {
    panes(store(place, 1).resume(false).await.unwrap().unwrap())
}

#[tokio::test]
async fn a_checkpoint_is_what_all_changes_have_left() {
    let root = tempdir().unwrap();
    let objects =
        Place::Objects { store: Arc::new(InMemory::new()), prefix: "jobs/a".into(), shown: "memory:///jobs/a".into() };
    for place in [folder(&root.path().join("new")), objects] {
        let mut writer = store(&place, 1);
        assert!(writer.resume(false).await.unwrap().is_none(), "nothing is there");
        write(&mut writer, 1, append(5, [1, 2])).await.unwrap();
        write(&mut writer, 2, append(6, [3])).await.unwrap();
        write(&mut writer, 3, append(5, [4])).await.unwrap();
        assert_eq!(resumed(&place).await, [(5, vec![1, 2, 4]), (6, vec![3])]);
        assert_eq!(place.names().await.unwrap().len(), 4, "one manifest, and three files of parts that it names");

        let mut gone = StateChanges::default();
        gone.remove(Section::new("pane", 5));
        write(&mut writer, 4, vec![("a".to_owned(), gone)]).await.unwrap();
        assert_eq!(resumed(&place).await, [(6, vec![3])]);
        assert_eq!(place.names().await.unwrap(), [manifest_name(4), parts_name(writer.run.file(2))]);
    }
}

#[tokio::test]
async fn as_many_are_kept_as_are_wanted() {
    let root = tempdir().unwrap();
    let place = folder(root.path());
    let mut writer = store(&place, 2);
    for epoch in 1..=4 {
        write(&mut writer, epoch, append(epoch as i64, [epoch as i64])).await.unwrap();
    }
    let epochs = |found: Vec<Summary>| found.into_iter().map(|s| s.epoch.0).collect::<Vec<_>>();
    assert_eq!(epochs(CheckpointStore::list(&place).await.unwrap()), [3, 4]);
    // A run with a smaller number keeps less, and one that goes on numbers on.
    let mut next = store(&place, 1);
    next.resume(false).await.unwrap();
    assert_eq!(epochs(CheckpointStore::list(&place).await.unwrap()), [4]);
    write(&mut next, 5, append(9, [9])).await.unwrap();
    assert_eq!(resumed(&place).await.len(), 5);
}

#[tokio::test]
async fn a_checkpoint_says_what_it_has_cost() {
    let root = tempdir().unwrap();
    let place = folder(root.path());
    let mut writer = store(&place, 2);
    write(&mut writer, 1, append(1, 0..1000)).await.unwrap();
    write(&mut writer, 2, append(2, 0..10)).await.unwrap();
    let found = CheckpointStore::list(&place).await.unwrap();
    let pauses: Vec<Duration> = found.iter().map(|s| s.manifest.as_ref().unwrap().longest_pause()).collect();
    assert_eq!(pauses, [1, 2].map(Duration::from_micros));
    let on_disk = |epoch: u64| {
        let bytes = |name: String| fs::metadata(root.path().join(name)).unwrap().len();
        bytes(parts_name(writer.run.file(epoch))) + bytes(manifest_name(epoch))
    };
    assert_eq!(found.iter().map(|s| s.written_bytes).collect::<Vec<_>>(), [on_disk(1), on_disk(2)]);
}

#[tokio::test]
async fn where_memory_is_limited_what_is_read_stays_in_files() {
    let root = tempdir().unwrap();
    let place = folder(&root.path().join("checkpoints"));
    let mut writer = store(&place, 1);
    for epoch in 1..=3 {
        write(&mut writer, epoch, append(epoch as i64 % 2, [epoch as i64, 7])).await.unwrap();
    }
    let spill = SpillFolder::within(root.path()).unwrap();
    let files = || fs::read_dir(spill.path()).unwrap().count();
    let state = store(&place, 1).spilling(spill.clone()).resume(false).await.unwrap().unwrap();
    assert!(state["a"].rows().all(|rows| matches!(rows, Rows::Spilled(_))));
    // Sections of one name share a file.
    assert_eq!(files(), 1);
    assert_eq!(panes(state), [(0, vec![2, 7]), (1, vec![1, 7, 3, 7])]);
    assert_eq!(files(), 0);

    damage(&root.path().join("checkpoints").join(parts_name(writer.run.file(2))));
    let error = store(&place, 1).spilling(spill.clone()).resume(false).await.unwrap_err();
    assert!(error.to_string().contains("a part is damaged: its checksum does not fit"), "{error}");
}

/// A change of keys and values of the owner `a`.
fn upsert(rows: impl IntoIterator<Item = (u32, i64)>) -> Vec<(Owner, StateChanges)> {
    let mut builder = UpsertsBuilder::default();
    for (key, value) in rows {
        builder.push(&key.to_be_bytes(), Some(&Entry::new(value.to_le_bytes().to_vec()))).unwrap();
    }
    let mut changes = StateChanges::default();
    changes.upsert("keyed", builder.finish(Clocks::START).unwrap());
    vec![("a".to_owned(), changes)]
}

#[tokio::test]
async fn keys_and_values_are_compacted_piece_by_piece() {
    let root = tempdir().unwrap();
    let place = folder(root.path());
    let mut writer = store(&place, 1);
    let mut model: BTreeMap<u32, i64> = BTreeMap::new();
    for epoch in 1..=60_u32 {
        // All first, then a few, others each time.
        let keys: Vec<u32> =
            if epoch == 1 { (0..200).collect() } else { (0..5).map(|i| (epoch * 7 + i * 31) % 200).collect() };
        let rows: Vec<(u32, i64)> = keys.into_iter().map(|key| (key, i64::from(epoch))).collect();
        model.extend(rows.iter().copied());
        write(&mut writer, u64::from(epoch), upsert(rows)).await.unwrap();
        if epoch % 13 == 0 {
            writer = store(&place, 1);
            writer.resume(false).await.unwrap();
        }
        let parts = &writer.last().unwrap().state["a"][0].parts;
        assert!(parts.chunk_by(|_, next| next.goes_on).count() <= 8, "epoch {epoch}: {parts:?}");
    }
    let parts = &writer.last().unwrap().state["a"][0].parts;
    assert!(parts.iter().any(|part| part.goes_on), "{parts:?}");
    let mut state = store(&place, 1).resume(false).await.unwrap().unwrap().remove("a").unwrap();
    let mut read: BTreeMap<u32, i64> = BTreeMap::new();
    for part in state.take("keyed").unwrap() {
        for row in upserts::rows(&part).unwrap() {
            let (key, entry) = row.unwrap();
            let value = entry.unwrap().value;
            read.insert(
                u32::from_be_bytes(key.try_into().unwrap()),
                i64::from_le_bytes(value.as_slice().try_into().unwrap()),
            );
        }
    }
    assert_eq!(read, model);
}

fn damage(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file, bytes).unwrap();
}

#[tokio::test]
async fn what_a_killed_run_has_left_is_deleted() {
    let root = tempdir().unwrap();
    let place = folder(root.path());
    let mut first = store(&place, 1);
    write(&mut first, 2, append(1, [2])).await.unwrap();
    let killed = Run::draw();
    let left = |epoch| {
        let file = killed.file(epoch);
        [parts_name(file), format!("{}.unfinished", parts_name(file)), staged_manifest_name(file)]
    };
    let older = ["0000000002.parts", "0000000001.parts.unfinished", "0000000001.manifest.unfinished", "theirs.txt"];
    for name in left(2).into_iter().chain(left(3)).chain(older.map(str::to_owned)) {
        fs::write(root.path().join(name), "x").unwrap();
    }
    let mut next = store(&place, 1);
    assert_eq!(panes(next.resume(false).await.unwrap().unwrap()), [(1, vec![2])]);
    // Whoever has left what is of the next epoch may be alive.
    let names = |ours: [String; 2], others: Vec<String>| {
        let mut names: Vec<String> = ours.into_iter().chain(others).chain(["theirs.txt".to_owned()]).collect();
        names.sort();
        names
    };
    let ours = [manifest_name(2), parts_name(first.run.file(2))];
    assert_eq!(place.names().await.unwrap(), names(ours, left(3).into()));
    let mut changes = StateChanges::default();
    changes.replace(Section::new("pane", 1), vec![numbers([3])]);
    write(&mut next, 3, vec![("a".to_owned(), changes)]).await.unwrap();
    let ours = [manifest_name(3), parts_name(next.run.file(3))];
    assert_eq!(place.names().await.unwrap(), names(ours, vec![]));
}

#[tokio::test]
async fn checkpoints_whose_files_tell_no_run_are_gone_on_from() {
    let root = tempdir().unwrap();
    let place = folder(root.path());
    let mut old = CheckpointStore { run: Run::NONE, ..store(&place, 1) };
    write(&mut old, 1, append(1, [1])).await.unwrap();
    write(&mut old, 2, append(2, [2])).await.unwrap();
    let names = ["0000000001.parts", "0000000002.manifest", "0000000002.parts"];
    assert_eq!(place.names().await.unwrap(), names);
    let mut new = store(&place, 1);
    assert_eq!(panes(new.resume(false).await.unwrap().unwrap()), [(1, vec![1]), (2, vec![2])]);
    assert_eq!(place.names().await.unwrap(), names, "nothing was deleted");
    let mut gone = StateChanges::default();
    gone.remove(Section::new("pane", 1));
    write(&mut new, 3, vec![("a".to_owned(), gone)]).await.unwrap();
    assert_eq!(place.names().await.unwrap(), ["0000000002.parts", "0000000003.manifest"]);
    assert_eq!(resumed(&place).await, [(2, vec![2])]);
}

#[tokio::test]
async fn a_damaged_checkpoint_is_told_and_an_older_one_taken_if_that_is_allowed() {
    for damage in ["manifest cut", "manifest gone", "part changed", "parts gone"] {
        let root = tempdir().unwrap();
        let place = folder(root.path());
        let mut writer = store(&place, 2);
        write(&mut writer, 1, append(1, [1])).await.unwrap();
        write(&mut writer, 2, append(1, [2])).await.unwrap();
        let [manifest, parts] = [manifest_name(2), parts_name(writer.run.file(2))].map(|name| root.path().join(name));
        match damage {
            "manifest cut" => fs::write(&manifest, &fs::read(&manifest).unwrap()[..50]).unwrap(),
            "part changed" => {
                let mut bytes = fs::read(&parts).unwrap();
                *bytes.last_mut().unwrap() ^= 1;
                fs::write(&parts, bytes).unwrap();
            }
            "parts gone" => fs::remove_file(&parts).unwrap(),
            _ => {
                // Then the one before is the last, and nobody can tell.
                fs::remove_file(&manifest).unwrap();
                assert_eq!(resumed(&place).await, [(1, vec![1])]);
                continue;
            }
        }
        let error = store(&place, 2).resume(false).await.unwrap_err();
        assert!(error.message().starts_with(&format!("checkpoint 2 in '{place}': ")), "{damage}: {error}");
        assert!(error.hint_text().unwrap().contains("--allow-older-checkpoint"), "{damage}: {error}");
        let mut older = store(&place, 2);
        assert_eq!(panes(older.resume(true).await.unwrap().unwrap()), [(1, vec![1])], "{damage}");
        // The damaged one is gone, and its number free.
        write(&mut older, 2, append(1, [3])).await.unwrap();
        assert_eq!(resumed(&place).await, [(1, vec![1, 3])], "{damage}");
    }
}

#[tokio::test]
async fn without_an_older_one_nothing_is_promised() {
    let root = tempdir().unwrap();
    let place = folder(root.path());
    let mut writer = store(&place, 1);
    write(&mut writer, 1, append(1, [1])).await.unwrap();
    fs::remove_file(root.path().join(parts_name(writer.run.file(1)))).unwrap();
    let error = store(&place, 1).resume(false).await.unwrap_err();
    assert!(error.message().contains("0000000001.parts"), "{error}");
    assert!(error.hint_text().unwrap().contains("a new --data-dir"), "{error}");
    let error = store(&place, 1).resume(true).await.unwrap_err();
    let none = format!("none of the checkpoints in '{place}' can be read; checkpoint 1: cannot read '");
    assert!(error.message().starts_with(&none), "{error}");
}

#[tokio::test]
async fn another_jobs_checkpoint_is_refused_with_the_difference() {
    let root = tempdir().unwrap();
    let place = folder(root.path());
    write(&mut store(&place, 1), 1, append(1, [1])).await.unwrap();
    let plan = PLAN.replace("window by a", "window by b");
    let error = CheckpointStore::new(place.clone(), Retention(1), plan).resume(true).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let (a, b) = ("1: window by a (parallelism 1)", "1: window by b (parallelism 1)");
    let expected = format!(
        "the checkpoints in '{place}' are of another job than this one: where that one has '{a}', this one has '{b}'"
    );
    assert_eq!(error.message(), expected);
    assert_eq!(resumed(&place).await, [(1, vec![1])], "nothing was deleted");
}

#[tokio::test]
async fn what_lies_below_a_place_is_another() {
    let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let place =
        |prefix: &str| Place::Objects { store: Arc::clone(&objects), prefix: prefix.into(), shown: prefix.into() };
    write(&mut store(&place("a"), 1), 1, append(1, [1])).await.unwrap();
    let mut below = store(&place("a/b"), 1);
    for epoch in 1..=3 {
        write(&mut below, epoch, append(7, [epoch as i64])).await.unwrap();
    }
    assert_eq!(resumed(&place("a")).await, [(1, vec![1])]);
    assert_eq!(resumed(&place("a/b")).await, [(7, vec![1, 2, 3])]);
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_named() {
    let root = tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = write(&mut store(&folder(&file.join("checkpoints")), 1), 1, append(1, [1])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains(&*file.to_string_lossy()), "{error}");
}

/// What a checkpoint may do to a section.
#[derive(Debug, Clone)]
enum Draw {
    Append(i64, Vec<i64>),
    Replace(i64, Vec<Vec<i64>>),
    Remove(i64),
}

fn draw() -> impl Strategy<Value = Draw> {
    let values = || prop::collection::vec(any::<i64>(), 0..40);
    prop_oneof![
        4 => (0..4i64, values()).prop_map(|(pane, values)| Draw::Append(pane, values)),
        1 => (0..4i64, prop::collection::vec(values(), 0..3)).prop_map(|(pane, values)| Draw::Replace(pane, values)),
        1 => (0..4i64).prop_map(Draw::Remove),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// After each of up to a hundred checkpoints, what is read is what the changes have left, and the files have no
    /// more than twice what is named, and a little.
    #[test]
    fn what_is_read_is_what_was_told(
        epochs in prop::collection::vec(prop::collection::vec(draw(), 0..6), 1..100),
        retention in 1usize..4,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let place = Place::Objects { store: Arc::new(InMemory::new()), prefix: "a".into(), shown: "memory:///a".into() };
        let mut writer = store(&place, retention);
        let mut expected: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for (epoch, draws) in (1..).zip(epochs) {
            let mut changes = StateChanges::default();
            for draw in draws {
                match draw {
                    Draw::Append(pane, values) => {
                        changes.append(Section::new("pane", pane), numbers(values.clone()));
                        if !values.is_empty() {
                            expected.entry(pane).or_default().extend(values);
                        }
                    }
                    Draw::Replace(pane, batches) => {
                        changes.replace(Section::new("pane", pane), batches.iter().cloned().map(numbers).collect());
                        expected.insert(pane, batches.concat());
                    }
                    Draw::Remove(pane) => {
                        changes.remove(Section::new("pane", pane));
                        expected.remove(&pane);
                    }
                }
            }
            runtime.block_on(write(&mut writer, epoch, vec![("a".to_owned(), changes)])).unwrap();
            if epoch % 7 == 0 {
                // A run that is followed by another.
                writer = store(&place, retention);
                let read = panes(runtime.block_on(writer.resume(false)).unwrap().unwrap());
                prop_assert_eq!(read, expected.clone().into_iter().collect::<Vec<_>>());
            }
        }
        let read = panes(runtime.block_on(store(&place, retention).resume(false)).unwrap().unwrap());
        prop_assert_eq!(read, expected.into_iter().collect::<Vec<_>>());
        let manifest = writer.last().unwrap();
        let (all, named): (u64, u64) = (manifest.files.values().sum(), manifest.bytes().values().sum());
        prop_assert!(all <= 2 * named + (1 << 20) + (64 << 10), "{} bytes of files for {}", all, named);
    }
}
