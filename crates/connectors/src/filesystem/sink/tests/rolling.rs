use std::time::Duration;

use super::*;

fn sink(path: &Path, options: &[(&str, &str)]) -> Box<dyn Sink> {
    let a = Field::new("a", DataType::Int64, true);
    FilesystemSinkFactory::new(&table(path, vec![a], &[], options), WriteMode::Append).unwrap().open().unwrap()
}

#[tokio::test]
async fn a_part_that_is_large_enough_is_closed_and_seen_at_the_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = sink(folder.path(), &[("sink.rolling-policy.file-size", "1kb")]);
    for start in 0..10 {
        sink.write(&batch((start * 200..(start + 1) * 200).map(|i| i + 1_000_000))).await.unwrap();
    }
    let hidden = files(folder.path(), true);
    assert!(hidden.len() >= 5, "{hidden:?}");
    assert!(files(folder.path(), false).is_empty());
    sink.prepare(Epoch(1)).await.unwrap();
    sink.commit(Epoch(1)).await.unwrap();
    assert_eq!(files(folder.path(), false).len(), 10, "every two hundred rows have more than 1 kB");
    let expected: Vec<String> = (1_000_000..1_002_000).map(|i| format!("{{\"a\":{i}}}")).collect();
    let mut found = lines(folder.path());
    found.sort();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn one_large_batch_is_rolled_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = sink(folder.path(), &[("sink.rolling-policy.file-size", "1kb")]);
    write_epoch(&mut *sink, 1, 0..8192).await;
    assert_eq!(files(folder.path(), false).len(), 8192 / ROWS_BETWEEN_CHECKS);
    assert_eq!(lines(folder.path()).len(), 8192);
}

#[tokio::test]
async fn a_part_that_is_old_enough_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let intervals = [("sink.rolling-policy.rollover-interval", "1 ms"), ("sink.rolling-policy.check-interval", "1 ms")];
    let mut sink = sink(folder.path(), &intervals);
    for value in 0..3 {
        std::thread::sleep(Duration::from_millis(3));
        sink.write(&batch([value])).await.unwrap();
    }
    sink.prepare(Epoch(1)).await.unwrap();
    sink.commit(Epoch(1)).await.unwrap();
    assert!(files(folder.path(), false).len() >= 2);
    assert_eq!(lines(folder.path()).len(), 3);
}

#[tokio::test]
async fn parquet_is_rolled_by_what_it_will_have() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = sink(folder.path(), &[("format", "parquet"), ("sink.rolling-policy.file-size", "64kb")]);
    for start in 0..20 {
        sink.write(&batch((0..8192).map(|i| (start * 8192 + i) * 7919))).await.unwrap();
    }
    sink.prepare(Epoch(1)).await.unwrap();
    sink.commit(Epoch(1)).await.unwrap();
    let files = files(folder.path(), false);
    assert!(files.len() > 5, "{files:?}");
    for file in &files {
        assert!(fs::metadata(folder.path().join(file)).unwrap().len() < 300 << 10, "{file}");
    }
}

#[tokio::test]
async fn abort_takes_back_parts_that_were_closed_and_parts_that_grow() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut sink = sink(&out, &[("sink.rolling-policy.file-size", "20 b")]);
    sink.write(&batch(0..10)).await.unwrap();
    sink.write(&batch([10])).await.unwrap();
    assert_eq!(files(&out, true).len(), 2);
    sink.abort().await.unwrap();
    assert!(!out.exists());
}
