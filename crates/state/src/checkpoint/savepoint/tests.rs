use std::fs;
use std::path::Path;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use tempfile::tempdir;

use super::*;
use crate::checkpoint::{CheckpointStore, JobIdentity, Retention, Snapshot};
use crate::section::{Section, StateChanges};

fn folder(path: &Path) -> Place {
    Place::Folder(path.to_owned())
}

fn job() -> JobIdentity {
    let sums = OperatorIdentity {
        name: "group of sums".to_owned(),
        words: "group by (a)".to_owned(),
        lineage: "1".to_owned(),
        derivation: "1".to_owned(),
        subtasks: 2,
        by_key_group: false,
    };
    JobIdentity { plan: "0: source t\n".to_owned(), operators: [("1.0".to_owned(), sums)].into() }
}

fn store(place: &Place) -> CheckpointStore {
    CheckpointStore::new(place.clone(), Retention(1), job())
}

/// Writes a checkpoint that adds a number to a section of an owner.
async fn write(store: &mut CheckpointStore, epoch: u64, owner: &str, section: i64) {
    let mut changes = StateChanges::default();
    let column: ArrayRef = Arc::new(Int64Array::from(vec![epoch as i64]));
    changes.append(Section::new("pane", section), RecordBatch::try_from_iter([("n", column)]).unwrap());
    let changes = vec![(owner.to_owned(), changes)];
    store
        .write(Snapshot { epoch: Epoch(epoch), finished: false, changes, longest_pause: Duration::ZERO })
        .await
        .unwrap();
    store.drop_oldest().await.unwrap();
}

/// By owner and section, the numbers.
fn numbers(state: BTreeMap<Owner, State>) -> Vec<(String, i64, Vec<i64>)> {
    let mut all = vec![];
    for (owner, mut state) in state {
        for (section, batches) in state.take_all("pane").unwrap() {
            let values =
                |batch: &RecordBatch| batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec();
            all.push((owner.clone(), section, batches.iter().flat_map(values).collect()));
        }
    }
    all
}

#[tokio::test]
async fn it_stands_by_itself_and_is_what_the_checkpoint_was() {
    let root = tempdir().unwrap();
    let (from, to) = (folder(&root.path().join("checkpoints")), folder(&root.path().join("savepoint")));
    let mut writer = store(&from);
    for (epoch, owner, section) in [(1, "1.0.0", 5), (2, "1.0.0", 5), (3, "1.1.0", 7)] {
        write(&mut writer, epoch, owner, section).await;
    }
    writer.savepoint().unwrap().write(&to).await.unwrap();
    write(&mut writer, 4, "1.0.0", 5).await;
    fs::remove_dir_all(root.path().join("checkpoints")).unwrap();

    let names = to.names().await.unwrap();
    let [manifest, parts] = &names[..] else { panic!("{names:?}") };
    assert!(manifest == "0000000003.manifest" && parts.ends_with("0000000003.parts"), "{names:?}");
    let savepoint = Savepoint::open(to).await.unwrap();
    assert_eq!((savepoint.epoch(), savepoint.plan()), (Epoch(3), "0: source t\n"));
    assert_eq!(*savepoint.operators(), job().operators);
    let state = numbers(savepoint.read(None).await.unwrap());
    assert_eq!(state, [("1.0.0".to_owned(), 5, vec![1, 2]), ("1.1.0".to_owned(), 7, vec![3])]);
}

#[tokio::test]
async fn what_it_is_made_of_stays_until_it_is_made() {
    let root = tempdir().unwrap();
    let (from, to) = (folder(&root.path().join("checkpoints")), folder(&root.path().join("savepoint")));
    let mut writer = store(&from);
    write(&mut writer, 1, "1.0.0", 1).await;
    let savepoint = writer.savepoint().unwrap();
    // Each of them would have made the one before it be deleted.
    for epoch in 2..=5 {
        write(&mut writer, epoch, "1.0.0", epoch as i64).await;
    }
    savepoint.write(&to).await.unwrap();
    let state = numbers(Savepoint::open(to).await.unwrap().read(None).await.unwrap());
    assert_eq!(state, [("1.0.0".to_owned(), 1, vec![1])]);
    write(&mut writer, 6, "1.0.0", 6).await;
    assert_eq!(CheckpointStore::list(&from).await.unwrap().len(), 1);
}

#[tokio::test]
async fn two_of_the_same_checkpoint_are_told_apart() {
    let root = tempdir().unwrap();
    let from = folder(&root.path().join("checkpoints"));
    write(&mut store(&from), 1, "1.0.0", 1).await;
    let mut ids = vec![];
    for name in ["a", "b"] {
        let to = folder(&root.path().join(name));
        SavepointWriter::of_last(from.clone()).await.unwrap().write(&to).await.unwrap();
        ids.push(Savepoint::open(to).await.unwrap().id().to_owned());
    }
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn of_two_that_are_made_in_one_place_at_once_the_first_stays() {
    let root = tempdir().unwrap();
    let (from, to) = (folder(&root.path().join("checkpoints")), folder(&root.path().join("savepoint")));
    let mut store = store(&from);
    write(&mut store, 1, "1.0.0", 1).await;
    let (first, second) = (Run::draw(), Run::draw());
    store.savepoint().unwrap().copy(&to, first).await.unwrap();
    let late = store.savepoint().unwrap();
    let error = late.copy(&to, second).await.unwrap_err();
    assert_eq!(error.message(), format!("'{to}' has a savepoint or checkpoints already"));
    late.take_back(&to, second).await.unwrap();
    assert_eq!(to.names().await.unwrap(), [manifest_name(1), parts_name(first.file(1))]);
    let state = numbers(Savepoint::open(to).await.unwrap().read(None).await.unwrap());
    assert_eq!(state, [("1.0.0".to_owned(), 1, vec![1])]);
}

#[tokio::test]
async fn a_place_that_is_in_use_is_refused() {
    let root = tempdir().unwrap();
    let from = folder(root.path());
    write(&mut store(&from), 1, "1.0.0", 1).await;
    let error = SavepointWriter::of_last(from.clone()).await.unwrap().write(&from).await.unwrap_err();
    assert_eq!(error.message(), format!("'{}' has a savepoint or checkpoints already", root.path().display()));
    assert_eq!(from.names().await.unwrap().len(), 2, "nothing of it is touched");
}

#[tokio::test]
async fn a_damaged_checkpoint_makes_none() {
    let root = tempdir().unwrap();
    let (from, to) = (folder(&root.path().join("checkpoints")), folder(&root.path().join("savepoint")));
    write(&mut store(&from), 1, "1.0.0", 1).await;
    let parts = from.names().await.unwrap().into_iter().find(|name| name.ends_with(PARTS)).unwrap();
    write_damage(&root.path().join("checkpoints").join(parts));
    let error = SavepointWriter::of_last(from).await.unwrap().write(&to).await.unwrap_err();
    assert!(error.message().ends_with("0000000001.parts' is damaged: its checksum does not fit"), "{error}");
    assert!(to.names().await.unwrap().is_empty());
}

fn write_damage(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    bytes[100] ^= 1;
    fs::write(file, bytes).unwrap();
}

#[tokio::test]
async fn a_job_that_has_ended_has_none() {
    let root = tempdir().unwrap();
    let (from, to) = (folder(&root.path().join("checkpoints")), folder(&root.path().join("savepoint")));
    store(&from)
        .write(Snapshot { epoch: Epoch(1), finished: true, changes: vec![], longest_pause: Duration::ZERO })
        .await
        .unwrap();
    let error = SavepointWriter::of_last(from).await.unwrap().write(&to).await.unwrap_err();
    assert_eq!(error.message(), "the job has come to the end of its input: there is nothing to go on with");
    assert!(to.names().await.unwrap().is_empty());
}

#[tokio::test]
async fn checkpoints_and_savepoints_do_not_take_each_others_place() {
    let root = tempdir().unwrap();
    let (from, to) = (folder(&root.path().join("checkpoints")), folder(&root.path().join("savepoint")));
    let error = Savepoint::open(from.clone()).await.unwrap_err();
    assert!(error.message().starts_with("there is no savepoint in "), "{error}");
    let error = SavepointWriter::of_last(from.clone()).await.unwrap_err();
    assert!(error.message().starts_with("there are no checkpoints in "), "{error}");
    write(&mut store(&from), 1, "1.0.0", 1).await;
    let error = Savepoint::open(from.clone()).await.unwrap_err();
    assert!(error.message().ends_with(": that is a checkpoint"), "{error}");

    SavepointWriter::of_last(from).await.unwrap().write(&to).await.unwrap();
    for allow_older in [false, true] {
        let error = store(&to).resume(allow_older).await.unwrap_err();
        assert!(error.message().ends_with(" is a savepoint, not a place for checkpoints"), "{error}");
    }
    Savepoint::open(to).await.unwrap();
}

#[tokio::test]
async fn one_of_a_checkpoint_that_tells_no_operators_is_refused() {
    let root = tempdir().unwrap();
    let (from, to) = (folder(&root.path().join("checkpoints")), folder(&root.path().join("savepoint")));
    let mut before = CheckpointStore::new(from.clone(), Retention(1), "0: source t\n".to_owned());
    write(&mut before, 1, "1.0.0", 1).await;
    SavepointWriter::of_last(from).await.unwrap().write(&to).await.unwrap();
    let error = Savepoint::open(to).await.unwrap_err();
    assert!(error.message().ends_with("made of a checkpoint that does not say which operators it is of"), "{error}");
}

#[tokio::test]
async fn a_job_remembers_which_one_it_began_from() {
    let root = tempdir().unwrap();
    let place = folder(root.path());
    let mut first = store(&place);
    first.begin_from("7-abc");
    write(&mut first, 8, "1.0.0", 1).await;
    let mut second = store(&place);
    second.resume(false).await.unwrap();
    write(&mut second, 9, "1.0.0", 1).await;
    assert_eq!(second.last().unwrap().origin(), Some("7-abc"));
}
