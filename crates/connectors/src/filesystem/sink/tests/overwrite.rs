use arrow::array::{ArrayRef, StringViewArray};

use super::*;

fn sink(path: &Path, partitioned: bool, mode: WriteMode) -> Result<Box<dyn Sink>> {
    let columns = vec![Field::new("day", DataType::Utf8View, true), Field::new("a", DataType::Int64, true)];
    let by: &[&str] = if partitioned { &["day"] } else { &[] };
    FilesystemSinkFactory::new(&table(path, columns, by, &[]), mode).unwrap().open()
}

async fn run(sink: Result<Box<dyn Sink>>, rows: &[(&str, i64)]) -> Result<()> {
    let mut sink = sink?;
    write(&mut *sink, rows).await;
    sink.prepare(Epoch(1)).await?;
    sink.commit(Epoch(1)).await
}

async fn write(sink: &mut dyn Sink, rows: &[(&str, i64)]) {
    let days = StringViewArray::from_iter_values(rows.iter().map(|(day, _)| day));
    let values = Int64Array::from_iter_values(rows.iter().map(|(_, value)| *value));
    let columns: [(&str, ArrayRef); 2] = [("day", Arc::new(days)), ("a", Arc::new(values))];
    sink.write(&EventBatch::append(RecordBatch::try_from_iter(columns).unwrap())).await.unwrap();
}

#[tokio::test]
async fn exactly_the_partitions_that_are_written_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    run(sink(out, true, WriteMode::Append), &[("mon", 1), ("tue", 2)]).await.unwrap();
    fs::write(out.join("day=mon/_SUCCESS"), "").unwrap();
    // A re-run of a day doubles nothing.
    for _ in 0..2 {
        run(sink(out, true, WriteMode::Overwrite), &[("mon", 3), ("wed", 4), ("mon", 5)]).await.unwrap();
        assert_eq!(lines(out), [3, 5, 2, 4].map(|value| format!("{{\"a\":{value}}}")));
        assert_eq!(files(out, true), ["day=mon/_SUCCESS"]);
    }
    run(sink(out, true, WriteMode::Overwrite), &[]).await.unwrap();
    assert_eq!(lines(out).len(), 4, "no rows, no partition");
}

#[tokio::test]
async fn a_table_without_partitions_is_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    run(sink(&out, false, WriteMode::Overwrite), &[("mon", 1)]).await.unwrap();
    run(sink(&out, false, WriteMode::Append), &[("tue", 2)]).await.unwrap();
    run(sink(&out, false, WriteMode::Overwrite), &[("wed", 3)]).await.unwrap();
    assert_eq!(lines(&out), [r#"{"day":"wed","a":3}"#]);
    run(sink(&out, false, WriteMode::Overwrite), &[]).await.unwrap();
    assert!(files(&out, false).is_empty(), "no rows replace it, too");
    assert!(files(&out, true).is_empty());
}

#[tokio::test]
async fn a_run_that_fails_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    run(sink(out, true, WriteMode::Append), &[("mon", 1)]).await.unwrap();
    let mut failing = sink(out, true, WriteMode::Overwrite).unwrap();
    write(&mut *failing, &[("mon", 2), ("tue", 3)]).await;
    failing.prepare(Epoch(1)).await.unwrap();
    failing.abort().await.unwrap();
    assert_eq!(lines(out), [r#"{"a":1}"#]);
    assert!(files(out, true).is_empty() && !out.join("day=tue").exists());
}

/// Once the replacement is decided, a failure does not take the new parts back: the old may be gone.
#[tokio::test]
async fn a_commit_that_fails_half_way_is_finished_by_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    run(sink(out, true, WriteMode::Append), &[("mon", 1), ("tue", 2)]).await.unwrap();
    let mut failing = sink(out, true, WriteMode::Overwrite).unwrap();
    write(&mut *failing, &[("mon", 3), ("tue", 4)]).await;
    failing.prepare(Epoch(1)).await.unwrap();
    // The commit finds that a part is not there after it has decided, and before it deletes anything.
    let lost = files(out, true).into_iter().find(|file| file.starts_with("day=tue")).unwrap();
    fs::rename(out.join(&lost), out.join("kept")).unwrap();
    let error = failing.commit(Epoch(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    fs::rename(out.join("kept"), out.join(&lost)).unwrap();
    assert_eq!(lines(out), [r#"{"a":1}"#, r#"{"a":2}"#], "nothing was deleted");
    failing.abort().await.unwrap();
    run(sink(out, true, WriteMode::Append), &[("mon", 5)]).await.unwrap();
    let mut rows = lines(out);
    rows.sort();
    assert_eq!(rows, [3, 4, 5].map(|value| format!("{{\"a\":{value}}}")));
    assert!(files(out, true).is_empty());
}

#[tokio::test]
async fn a_folder_inside_is_refused_when_the_run_begins() {
    let folder = tempfile::tempdir().unwrap();
    run(sink(folder.path(), true, WriteMode::Append), &[("mon", 1)]).await.unwrap();
    let error = sink(folder.path(), false, WriteMode::Overwrite).err().unwrap();
    assert!(error.message().ends_with("it has the folder 'day=mon'"), "{error}");
    assert_eq!(lines(folder.path()).len(), 1);
}
