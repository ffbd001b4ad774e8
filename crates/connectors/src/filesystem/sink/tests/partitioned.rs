use arrow::array::{ArrayRef, StringViewArray};

use super::*;

fn sink(path: &Path, options: &[(&str, &str)]) -> Box<dyn Sink> {
    let columns = vec![Field::new("day", DataType::Utf8View, true), Field::new("a", DataType::Int64, true)];
    FilesystemSinkFactory::new(&table(path, columns, &["day"], options), WriteMode::Append).unwrap().open().unwrap()
}

fn rows(rows: &[(&str, i64)]) -> EventBatch {
    let days = StringViewArray::from_iter_values(rows.iter().map(|(day, _)| day));
    let values = Int64Array::from_iter_values(rows.iter().map(|(_, value)| *value));
    let columns: [(&str, ArrayRef); 2] = [("day", Arc::new(days)), ("a", Arc::new(values))];
    EventBatch::append(RecordBatch::try_from_iter(columns).unwrap())
}

/// The folders of the visible files, each once.
fn folders(folder: &Path) -> Vec<String> {
    let mut folders: Vec<String> =
        files(folder, false).iter().map(|file| file.split('/').next().unwrap().to_owned()).collect();
    folders.dedup();
    folders
}

#[tokio::test]
async fn each_partition_has_a_folder_and_its_column_is_not_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = sink(folder.path(), &[]);
    sink.write(&rows(&[("mon", 1), ("tue", 2), ("mon", 3), ("", 4)])).await.unwrap();
    sink.write(&rows(&[("tue", 5)])).await.unwrap();
    sink.prepare(Epoch(1)).await.unwrap();
    assert!(files(folder.path(), false).is_empty());
    sink.commit(Epoch(1)).await.unwrap();
    assert_eq!(folders(folder.path()), ["day=__DEFAULT_PARTITION__", "day=mon", "day=tue"]);
    assert_eq!(lines(folder.path()), [4, 1, 3, 2, 5].map(|value| format!("{{\"a\":{value}}}")));
    assert_eq!(files(folder.path(), false).len(), 3, "one part a partition and epoch");
}

#[tokio::test]
async fn null_in_a_partition_column_that_is_not_null_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let columns = vec![Field::new("day", DataType::Utf8View, false), Field::new("a", DataType::Int64, true)];
    let table = table(folder.path(), columns, &["day"], &[]);
    let mut sink = FilesystemSinkFactory::new(&table, WriteMode::Append).unwrap().open().unwrap();
    let days: ArrayRef = Arc::new(StringViewArray::from(vec![Some("mon"), None]));
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let rows = RecordBatch::try_from_iter_with_nullable([("day", days, true), ("a", values, true)]).unwrap();
    let error = sink.write(&EventBatch::append(rows)).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Data, "the column 'day' is NOT NULL, and a row has NULL there")
    );
    assert!(error.hint_text().is_some());
}

#[tokio::test]
async fn many_partitions_have_few_files_open_and_one_part_each() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = sink(folder.path(), &[]);
    for value in [1, 2] {
        for day in 0..250 {
            sink.write(&rows(&[(&format!("{day:03}"), value)])).await.unwrap();
        }
    }
    sink.prepare(Epoch(1)).await.unwrap();
    sink.commit(Epoch(1)).await.unwrap();
    assert_eq!(folders(folder.path()).len(), 250);
    assert_eq!(lines(folder.path()).len(), 500);
    assert_eq!(
        files(folder.path(), false).len(),
        250,
        "one part a partition, though their files were closed in between"
    );
}

#[tokio::test]
async fn abort_removes_the_folders_that_it_leaves_empty() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    fs::create_dir_all(out.join("day=mon")).unwrap();
    let mut sink = sink(&out, &[]);
    sink.write(&rows(&[("mon", 1), ("tue", 2)])).await.unwrap();
    sink.prepare(Epoch(1)).await.unwrap();
    sink.commit(Epoch(1)).await.unwrap();
    sink.write(&rows(&[("mon", 3), ("wed", 4)])).await.unwrap();
    sink.prepare(Epoch(2)).await.unwrap();
    sink.write(&rows(&[("thu", 5)])).await.unwrap();
    sink.abort().await.unwrap();
    assert_eq!(lines(&out).len(), 2);
    assert!(files(&out, true).is_empty());
    assert!(!out.join("day=wed").exists() && !out.join("day=thu").exists() && out.join("day=tue").exists());
}

#[tokio::test]
async fn a_name_that_is_too_long_is_an_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut sink = sink(&out, &[]);
    let error = sink.write(&rows(&[("mon", 1), (&"x".repeat(300), 2)])).await.unwrap_err();
    assert!(error.message().starts_with("cannot create the folder '"), "{error}");
    sink.abort().await.unwrap();
    assert!(!out.exists());
}
