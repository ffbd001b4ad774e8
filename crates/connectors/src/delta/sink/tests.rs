//! What a table holds after each call of the sink, by a reader of its log that shares no code with it.

mod existing;
mod overwrite;
mod property;
mod recovery;
mod writers;

use std::fs;
use std::path::{Path, PathBuf};

use arrow::array::{ArrayRef, Int64Array, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema};
use serde_json::Value;
use tidemill_core::ErrorKind;
use tidemill_runtime::connector::Options;
use tidemill_tests::delta::DeltaTable;
use tidemill_tests::duckdb::duckdb;

use super::*;

/// A table in the folder `path`.
fn table(path: &Path, columns: Vec<Field>, partitioned_by: &[&str]) -> TableSpec {
    let mut table = TableSpec {
        name: "t".into(),
        partitioned_by: partitioned_by.iter().map(|name| (*name).into()).collect(),
        schema: Arc::new(Schema::new(columns)),
        options: Options::default(),
        folder: PathBuf::new(),
    };
    table.options.set("table-path", path.to_str().unwrap(), None);
    table
}

fn columns() -> Vec<Field> {
    vec![Field::new("p", DataType::Utf8View, true), Field::new("a", DataType::Int64, true)]
}

/// A table of `p` and `a`, by `p` if it is partitioned.
fn factory(path: &Path, partitioned: bool, mode: WriteMode) -> DeltaSinkFactory {
    let by: &[&str] = if partitioned { &["p"] } else { &[] };
    DeltaSinkFactory::new(&table(path, columns(), by), mode).unwrap()
}

fn open(path: &Path, partitioned: bool) -> Box<dyn Sink> {
    factory(path, partitioned, WriteMode::Append).open().unwrap()
}

/// Rows with these numbers, each in the partition of its last digit but one.
fn batch(values: impl IntoIterator<Item = i64>) -> EventBatch {
    let values: Vec<i64> = values.into_iter().collect();
    let partitions = StringViewArray::from_iter_values(values.iter().map(|value| format!("p{}", value / 10 % 10)));
    let columns: [(&str, ArrayRef); 2] = [("p", Arc::new(partitions)), ("a", Arc::new(Int64Array::from(values)))];
    EventBatch::append(RecordBatch::try_from_iter_with_nullable(columns.map(|(name, of)| (name, of, true))).unwrap())
}

async fn write_epoch(sink: &mut dyn Sink, epoch: u64, values: impl IntoIterator<Item = i64>) {
    sink.write(&batch(values)).await.unwrap();
    sink.prepare(Epoch(epoch)).await.unwrap();
    sink.commit(Epoch(epoch)).await.unwrap();
}

/// The values of `a` that are in the table, sorted; by DuckDB, from the files that the log names.
fn values(path: &Path) -> Vec<i64> {
    let Some(table) = DeltaTable::at(path).filter(|table| !table.files.is_empty()) else { return vec![] };
    let rows = duckdb(&format!("SELECT a FROM ({}) ORDER BY a", table.by_hand()));
    rows.iter().map(|row| row["a"].as_i64().unwrap()).collect()
}

/// The data files in the folder and below, whoever knows them, from the folder on.
fn data_files(folder: &Path) -> Vec<String> {
    let (mut names, mut folders) = (vec![], vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "parquet") {
                names.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    names.sort();
    names
}

#[tokio::test]
async fn rows_are_in_the_table_at_commit_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a/b");
    let mut sink = open(&out, false);
    sink.write(&batch([1, 2])).await.unwrap();
    sink.prepare(Epoch(1)).await.unwrap();
    assert_eq!((DeltaTable::at(&out).is_some(), data_files(&out).len()), (false, 1));
    // The next epoch begins before the first is committed.
    sink.write(&batch([3])).await.unwrap();
    sink.commit(Epoch(1)).await.unwrap();
    assert_eq!(values(&out), [1, 2]);
    sink.prepare(Epoch(2)).await.unwrap();
    sink.commit(Epoch(2)).await.unwrap();
    assert_eq!(values(&out), [1, 2, 3]);
    let table = DeltaTable::at(&out).unwrap();
    assert_eq!(table.operations, ["CREATE TABLE", "WRITE"]);
    assert_eq!(table.transactions.values().copied().collect::<Vec<_>>(), [2]);
}

#[tokio::test]
async fn committing_twice_is_committing_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(folder.path(), false);
    write_epoch(&mut *sink, 1, [1]).await;
    sink.commit(Epoch(1)).await.unwrap();
    assert_eq!(values(folder.path()), [1]);
    assert_eq!(DeltaTable::at(folder.path()).unwrap().operations.len(), 1);
}

#[tokio::test]
async fn an_epoch_without_rows_makes_the_table_and_then_no_entry() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(folder.path(), true);
    for epoch in 1..4 {
        sink.prepare(Epoch(epoch)).await.unwrap();
        sink.commit(Epoch(epoch)).await.unwrap();
    }
    let table = DeltaTable::at(folder.path()).unwrap();
    assert_eq!((table.operations.len(), table.files.len(), table.partitioned_by), (1, 0, vec!["p".to_owned()]));
    assert_eq!(table.fields.len(), 2);
}

/// An epoch that some other task did not complete is committed with the next, by one entry.
#[tokio::test]
async fn one_entry_commits_all_epochs_up_to_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(folder.path(), false);
    for epoch in 1..=3 {
        sink.write(&batch([epoch])).await.unwrap();
        sink.prepare(Epoch(epoch as u64)).await.unwrap();
    }
    sink.commit(Epoch(2)).await.unwrap();
    assert_eq!(values(folder.path()), [1, 2]);
    let table = DeltaTable::at(folder.path()).unwrap();
    assert_eq!((table.operations.len(), table.transactions.into_values().collect()), (1, vec![2]));
}

#[tokio::test]
async fn after_abort_only_what_was_committed_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new");
    for committed in [false, true] {
        let mut sink = open(&out, true);
        if committed {
            write_epoch(&mut *sink, 1, [1]).await;
        }
        let before = data_files(&out);
        sink.write(&batch([2, 12])).await.unwrap();
        sink.prepare(Epoch(2)).await.unwrap();
        sink.write(&batch([3, 23])).await.unwrap();
        sink.abort().await.unwrap();
        assert_eq!(data_files(&out), before);
        assert_eq!(out.exists(), committed, "a folder that the run has made is removed if it is empty");
        assert_eq!(values(&out), if committed { vec![1] } else { vec![] });
    }
}

#[tokio::test]
async fn each_partition_has_files_of_its_own_and_the_log_says_what_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(folder.path(), true);
    write_epoch(&mut *sink, 1, [1, 11, 2, 21]).await;
    let table = DeltaTable::at(folder.path()).unwrap();
    let described = table.files.iter().map(|(path, add)| {
        let size = fs::metadata(table.file(path)).unwrap().len();
        assert_eq!((add["size"].as_u64(), &add["dataChange"]), (Some(size), &Value::Bool(true)));
        let stats: Value = serde_json::from_str(add["stats"].as_str().unwrap()).unwrap();
        (path.split_once('/').unwrap().0, add["partitionValues"]["p"].as_str().unwrap(), stats.to_string())
    });
    let stats = |rows, from, to| {
        format!(r#"{{"numRecords":{rows},"minValues":{{"a":{from}}},"maxValues":{{"a":{to}}},"nullCount":{{"a":0}}}}"#)
    };
    let expected = [("p=p0", "p0", stats(2, 1, 2)), ("p=p1", "p1", stats(1, 11, 11)), ("p=p2", "p2", stats(1, 21, 21))];
    assert_eq!(described.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_path_that_is_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = factory(&file, false, WriteMode::Append).open().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().ends_with("it is a file"), "{error}");
}

#[tokio::test]
async fn null_in_a_column_that_is_not_null_is_an_error_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let strict = vec![Field::new("a", DataType::Int64, false)];
    let mut sink =
        DeltaSinkFactory::new(&table(folder.path(), strict, &[]), WriteMode::Append).unwrap().open().unwrap();
    let rows =
        RecordBatch::try_from_iter([("a", Arc::new(Int64Array::from(vec![Some(1), None])) as ArrayRef)]).unwrap();
    let error = sink.write(&EventBatch::append(rows)).await.unwrap_err();
    assert_eq!(error.message(), "the column 'a' is NOT NULL, and a row has NULL there");
}
