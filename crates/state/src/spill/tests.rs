use arrow::array::{ArrayRef, Int64Array};

use super::*;
use crate::{Rows, Section, State, StateChanges};

fn numbers(values: &[i64]) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
    RecordBatch::try_from_iter([("number", column)]).unwrap()
}

#[test]
fn rows_come_back_and_files_go_with_them() {
    let parent = tempfile::tempdir().unwrap();
    let folder = SpillFolder::within(parent.path()).unwrap();
    let mut file = folder.file().unwrap();
    let (one, two) = (file.write(&numbers(&[1, 2])).unwrap(), file.write(&numbers(&[3])).unwrap());
    drop((folder, file));
    assert_eq!(two.read().unwrap(), numbers(&[3]));
    drop(two);
    assert_eq!(one.read().unwrap(), numbers(&[1, 2]));
    assert_eq!(parent.path().read_dir().unwrap().count(), 1);
    drop(one);
    assert_eq!(parent.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_file_that_was_changed_is_told() {
    let parent = tempfile::tempdir().unwrap();
    let rows = SpillFolder::within(parent.path()).unwrap().file().unwrap().write(&numbers(&[1, 2])).unwrap();
    let mut bytes = fs::read(&rows.file.path).unwrap();
    bytes[100] ^= 1;
    fs::write(&rows.file.path, bytes).unwrap();
    assert!(rows.read().unwrap_err().to_string().contains("its checksum does not fit"));
    fs::write(&rows.file.path, "").unwrap();
    assert!(rows.read().unwrap_err().message().starts_with("cannot read state from '"));
}

#[test]
fn spilled_changes_make_the_same_state() {
    let parent = tempfile::tempdir().unwrap();
    let folder = SpillFolder::within(parent.path()).unwrap();
    let mut changes = StateChanges::default();
    changes.append(Section::new("pane", 1), numbers(&[1]));
    changes.append(Section::new("pane", 1), numbers(&[2]));
    changes.replace("told", vec![numbers(&[3])]);
    let mut here = State::default();
    here.apply(changes.clone());
    let mut spilled = State::default();
    spilled.apply(changes.spilled(&folder).unwrap());
    assert!(spilled.rows().all(|rows| matches!(rows, Rows::Spilled(_))));
    assert_eq!(spilled.take_all("pane").unwrap(), here.take_all("pane").unwrap());
    assert_eq!(spilled.take("told").unwrap(), here.take("told").unwrap());
    assert!(spilled.is_empty());
}

#[test]
fn files_of_which_little_is_left_are_written_anew() {
    let parent = tempfile::tempdir().unwrap();
    let folder = SpillFolder::within(parent.path()).unwrap();
    let mut state = State::default();
    for round in 0..40 {
        let mut changes = StateChanges::default();
        // One stays, the others are replaced in each round.
        changes.append(Section::new("once", round), numbers(&[round]));
        changes.replace("often", vec![numbers(&(0..100_000).collect::<Vec<_>>())]);
        state.apply(changes.spilled(&folder).unwrap());
        state.compact(&folder).unwrap();
    }
    let files = parent.path().read_dir().unwrap().next().unwrap().unwrap().path().read_dir().unwrap();
    let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes <= 2 * state.bytes() + (2 << 20), "{bytes} bytes for {}", state.bytes());
    for round in 0..40 {
        assert_eq!(state.take(Section::new("once", round)).unwrap(), [numbers(&[round])]);
    }
}
