//! What a folder holds after each call of the sink; `property` compares what was written with what is read.

mod changes;
mod ending;
mod overwrite;
mod partitioned;
mod property;
mod recovery;
mod recovery_property;
mod rolling;

use std::fs;

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use tidemill_core::ErrorKind;
use tidemill_runtime::connector::Options;

use super::*;

/// A table in the folder `path`, in JSON if the options don't say otherwise.
fn table(path: &Path, columns: Vec<Field>, partitioned_by: &[&str], options: &[(&str, &str)]) -> TableSpec {
    let mut table = TableSpec {
        name: "t".into(),
        partitioned_by: partitioned_by.iter().map(|name| (*name).into()).collect(),
        schema: Arc::new(Schema::new(columns)),
        options: Options::default(),
        folder: PathBuf::new(),
    };
    let path = path.to_str().unwrap();
    for (key, value) in [("path", path), ("format", "json")].iter().chain(options) {
        table.options.set(*key, *value, None);
    }
    table
}

fn factory(path: &Path) -> FilesystemSinkFactory {
    let a = Field::new("a", DataType::Int64, true);
    FilesystemSinkFactory::new(&table(path, vec![a], &[], &[]), WriteMode::Append).unwrap()
}

fn batch(values: impl IntoIterator<Item = i64>) -> EventBatch {
    let column = Int64Array::from_iter_values(values);
    EventBatch::append(RecordBatch::try_from_iter([("a", Arc::new(column) as _)]).unwrap())
}

/// The paths of all files in the folder and below that a reader sees, or those that it does not.
fn files(folder: &Path, hidden: bool) -> Vec<String> {
    let (mut names, mut folders) = (vec![], vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let entry = entry.unwrap();
            let is_hidden = entry.file_name().to_str().unwrap().starts_with(['.', '_']);
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if is_hidden == hidden {
                names.push(entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    names.sort();
    names
}

/// The lines of all visible files, in the order of their paths.
fn lines(folder: &Path) -> Vec<String> {
    let texts = files(folder, false).into_iter().map(|name| fs::read_to_string(folder.join(name)).unwrap());
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

async fn write_epoch(sink: &mut dyn Sink, epoch: u64, values: impl IntoIterator<Item = i64>) {
    sink.write(&batch(values)).await.unwrap();
    sink.prepare(Epoch(epoch)).await.unwrap();
    sink.commit(Epoch(epoch)).await.unwrap();
}

#[tokio::test]
async fn rows_are_visible_at_commit_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a/b");
    let mut sink = factory(&out).open().unwrap();
    sink.write(&batch([1, 2])).await.unwrap();
    sink.write(&batch([3])).await.unwrap();
    assert!(files(&out, false).is_empty());
    sink.prepare(Epoch(1)).await.unwrap();
    assert!(files(&out, false).is_empty());
    assert_eq!(files(&out, true).len(), 1);

    // The next epoch begins before the first is committed.
    sink.write(&batch([4])).await.unwrap();
    sink.commit(Epoch(1)).await.unwrap();
    assert_eq!(lines(&out), [r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":3}"#]);
    sink.prepare(Epoch(2)).await.unwrap();
    sink.commit(Epoch(2)).await.unwrap();
    assert_eq!(lines(&out).len(), 4);
    assert!(files(&out, true).is_empty());
}

#[tokio::test]
async fn committing_twice_is_committing_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = factory(folder.path()).open().unwrap();
    write_epoch(&mut *sink, 1, [1]).await;
    sink.commit(Epoch(1)).await.unwrap();
    assert_eq!(lines(folder.path()), [r#"{"a":1}"#]);
}

#[tokio::test]
async fn an_epoch_without_rows_makes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = factory(folder.path()).open().unwrap();
    write_epoch(&mut *sink, 1, []).await;
    assert!(files(folder.path(), false).is_empty());
    assert!(files(folder.path(), true).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_epoch_larger_than_the_buffer_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = factory(folder.path()).open().unwrap();
    for start in 0..40 {
        sink.write(&batch(start * 8192..(start + 1) * 8192)).await.unwrap();
    }
    assert_eq!(files(folder.path(), true).len(), 1, "rows leave memory before the epoch ends");
    sink.prepare(Epoch(1)).await.unwrap();
    sink.commit(Epoch(1)).await.unwrap();
    assert_eq!(files(folder.path(), false).len(), 1);
    let expected = (0..40 * 8192).map(|i| format!("{{\"a\":{i}}}"));
    assert!(lines(folder.path()).into_iter().eq(expected));
}

#[tokio::test]
async fn abort_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a/b");
    let mut sink = factory(&out).open().unwrap();
    sink.write(&batch([1])).await.unwrap();
    sink.prepare(Epoch(1)).await.unwrap();
    sink.write(&batch(0..200_000)).await.unwrap();
    assert_eq!(files(&out, true).len(), 2);
    sink.abort().await.unwrap();
    assert!(!folder.path().join("a").exists(), "the run had created the folders");
    assert!(folder.path().exists());
}

#[tokio::test]
async fn abort_keeps_what_was_committed_and_what_others_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut sink = factory(&out).open().unwrap();
    write_epoch(&mut *sink, 1, [1]).await;
    sink.write(&batch([2])).await.unwrap();
    sink.abort().await.unwrap();
    assert_eq!(lines(&out), [r#"{"a":1}"#]);

    let mut sink = factory(folder.path()).open().unwrap();
    sink.abort().await.unwrap();
    assert!(folder.path().exists(), "the folder was there before the run");
}

#[tokio::test]
async fn runs_add_to_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let factory = factory(folder.path());
    let (mut first, mut second) = (factory.open().unwrap(), factory.open().unwrap());
    write_epoch(&mut *first, 1, [1]).await;
    write_epoch(&mut *second, 1, [2]).await;
    write_epoch(&mut *first, 2, [3]).await;
    assert_eq!(lines(folder.path()), [r#"{"a":1}"#, r#"{"a":3}"#, r#"{"a":2}"#]);
}

#[test]
fn a_file_in_the_place_of_the_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.json");
    fs::write(&file, "theirs").unwrap();
    let error = factory(&file).open().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(error.message(), format!("cannot write to '{}': it is a file", file.display()));

    let error = factory(&file.join("deeper")).open().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
}

#[tokio::test]
async fn a_part_that_has_gone_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut sink = factory(&out).open().unwrap();
    sink.write(&batch([1])).await.unwrap();
    sink.prepare(Epoch(1)).await.unwrap();
    fs::remove_dir_all(&out).unwrap();
    let error = sink.commit(Epoch(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("/out/.part-"), "{error}");
    sink.abort().await.unwrap();
}

/// An epoch that another task did not pass is committed with the next.
#[tokio::test]
async fn a_commit_covers_the_epochs_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = factory(folder.path()).open().unwrap();
    for epoch in [1, 2, 3] {
        sink.write(&batch([epoch])).await.unwrap();
        sink.prepare(Epoch(epoch as u64)).await.unwrap();
    }
    sink.commit(Epoch(2)).await.unwrap();
    assert_eq!(lines(folder.path()), [r#"{"a":1}"#, r#"{"a":2}"#]);
    sink.commit(Epoch(3)).await.unwrap();
    assert_eq!(lines(folder.path()).len(), 3);
}

#[tokio::test]
async fn parts_of_an_epoch_become_visible_together_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let a = Field::new("a", DataType::Int64, true);
    let small = table(out, vec![a], &[], &[("sink.rolling-policy.file-size", "1 b")]);
    let mut sink = FilesystemSinkFactory::new(&small, WriteMode::Append).unwrap().open().unwrap();
    for value in 0..3 {
        sink.write(&batch([value])).await.unwrap();
    }
    sink.prepare(Epoch(1)).await.unwrap();
    let staged = files(out, true);
    assert_eq!(staged.len(), 3);
    fs::remove_file(out.join(&staged[2])).unwrap();
    sink.commit(Epoch(1)).await.unwrap_err();
    assert!(files(out, false).is_empty());
    sink.abort().await.unwrap();
    assert!(files(out, true).is_empty());
}
