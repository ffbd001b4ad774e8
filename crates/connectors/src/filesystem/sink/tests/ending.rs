//! The commit at the end of a run that shows several parts: a reader gets all of them in the end, wherever it is killed.

use super::*;

/// A sink that makes a part of each batch.
fn open(out: &Path) -> Box<dyn Sink> {
    let a = Field::new("a", DataType::Int64, true);
    let table = table(out, vec![a], &[], &[("sink.rolling-policy.file-size", "1 b")]);
    FilesystemSinkFactory::new(&table, WriteMode::Append).unwrap().open().unwrap()
}

/// A sink that has so many parts to commit.
async fn prepared(out: &Path, parts: i64) -> Box<dyn Sink> {
    let mut sink = open(out);
    for value in 0..parts {
        sink.write(&batch([value])).await.unwrap();
    }
    sink.prepare(Epoch(1)).await.unwrap();
    sink
}

/// The same at the end of its run.
async fn ended(out: &Path, parts: i64) -> Box<dyn Sink> {
    let mut sink = prepared(out, parts).await;
    sink.progress(Watermark::MAX).await.unwrap();
    sink
}

/// Puts a folder in the place of the decision, which then can't be written.
fn obstruct_decision(out: &Path, sink: &dyn Sink) {
    let run = Prepared::decode(out, &sink.commitment()).unwrap().run;
    fs::create_dir(out.join(format!(".overwrite-{run}"))).unwrap();
}

/// The values of `a` that a reader sees.
fn values(out: &Path) -> Vec<String> {
    let mut lines = lines(out);
    lines.sort();
    lines
}

#[tokio::test]
async fn killed_between_two_renames_it_is_finished_by_the_next_run() {
    for renamed in 0..=3 {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path();
        fs::write(out.join("part-theirs.json"), "{\"a\":9}\n").unwrap();
        let sink = ended(out, 3).await;
        let Prepared { run, parts, .. } = Prepared::decode(out, &sink.commitment()).unwrap();
        drop(sink);
        Replacement::decide(out, &run, &BTreeSet::new(), &parts).unwrap();
        parts[..renamed].iter().for_each(|part| part.publish().unwrap());
        drop(open(out));
        assert_eq!(values(out), [0, 1, 2, 9].map(|value| format!("{{\"a\":{value}}}")), "after {renamed} renames");
        assert!(files(out, true).is_empty());
    }
}

#[tokio::test]
async fn several_parts_are_decided_before_the_first_is_renamed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let mut sink = ended(out, 3).await;
    obstruct_decision(out, &*sink);
    sink.commit(Epoch(1)).await.unwrap_err();
    assert!(files(out, false).is_empty());

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    ended(out, 3).await.commit(Epoch(1)).await.unwrap();
    assert_eq!(values(out).len(), 3);
    assert!(files(out, true).is_empty(), "the decision goes when it is done");
}

#[tokio::test]
async fn a_single_part_needs_no_decision() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let mut sink = ended(out, 1).await;
    obstruct_decision(out, &*sink);
    sink.commit(Epoch(1)).await.unwrap();
    assert_eq!(values(out), [r#"{"a":0}"#]);
}

/// Readers of the table would meet one at every commit.
#[tokio::test]
async fn a_run_that_goes_on_decides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let mut sink = prepared(out, 3).await;
    obstruct_decision(out, &*sink);
    sink.commit(Epoch(1)).await.unwrap();
    assert_eq!(values(out).len(), 3);
}

#[tokio::test]
async fn where_a_part_can_not_be_shown_none_is_and_nothing_stays_decided() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let mut sink = ended(out, 3).await;
    let lost = &Prepared::decode(out, &sink.commitment()).unwrap().parts[2];
    fs::remove_file(lost.staged()).unwrap();
    let error = sink.commit(Epoch(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("/.part-"), "{error}");
    assert!(files(out, false).is_empty());
    assert_eq!(files(out, true).len(), 2, "the parts, and no decision");
    sink.abort().await.unwrap();
    assert!(files(out, true).is_empty());
}
