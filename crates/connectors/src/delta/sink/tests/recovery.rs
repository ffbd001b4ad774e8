//! A run is killed (its sink is dropped as it is), and another goes on from the commitment of its last checkpoint.

use super::*;

/// Writes an epoch and prepares it.
async fn prepare(sink: &mut dyn Sink, epoch: u64, values: impl IntoIterator<Item = i64>) -> Commitment {
    sink.write(&batch(values)).await.unwrap();
    sink.prepare(Epoch(epoch)).await.unwrap();
    sink.commitment()
}

async fn recover(out: &Path, partitioned: bool, commitment: &Commitment) -> Result<Box<dyn Sink>> {
    let mut sink = open(out, partitioned);
    sink.recover(commitment).await.map(|()| sink)
}

/// The log names every data file, and each of its transactions is of one application.
fn assert_tidy(out: &Path) {
    let table = DeltaTable::at(out).unwrap();
    let mut known: Vec<String> = table.ever_added.clone();
    known.sort();
    assert_eq!(data_files(out), known);
    assert_eq!(table.transactions.len(), 1);
}

#[tokio::test]
async fn killed_before_its_first_checkpoint_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(folder.path(), true);
    let nothing = sink.commitment();
    prepare(&mut *sink, 1, [1, 11]).await;
    drop(sink);
    assert_eq!(data_files(folder.path()).len(), 2);
    let mut sink = recover(folder.path(), true, &nothing).await.unwrap();
    assert_eq!((data_files(folder.path()).len(), DeltaTable::at(folder.path()).is_some()), (0, false));
    write_epoch(&mut *sink, 1, [1, 11]).await;
    assert_eq!(values(folder.path()), [1, 11]);
    assert_tidy(folder.path());
}

/// Between prepare and commit, and behind the commit; with rows of the next epoch written, and recovered several times.
#[tokio::test]
async fn what_was_prepared_is_committed_once() {
    for partitioned in [false, true] {
        for (first, committed) in [(true, false), (false, false), (true, true), (false, true)] {
            let folder = tempfile::tempdir().unwrap();
            let mut sink = open(folder.path(), partitioned);
            if !first {
                write_epoch(&mut *sink, 1, [1, 11]).await;
            }
            let commitment = prepare(&mut *sink, 2, [2, 12]).await;
            if committed {
                sink.commit(Epoch(2)).await.unwrap();
            }
            prepare(&mut *sink, 3, [3, 13]).await;
            drop(sink);
            let expected = if first { vec![2, 12] } else { vec![1, 2, 11, 12] };
            for _ in 0..3 {
                drop(recover(folder.path(), partitioned, &commitment).await.unwrap());
                assert_eq!(values(folder.path()), expected, "partitioned {partitioned}, committed {committed}");
                assert_tidy(folder.path());
            }
            let mut sink = recover(folder.path(), partitioned, &commitment).await.unwrap();
            write_epoch(&mut *sink, 3, [3, 13]).await;
            let expected: Vec<i64> = [&expected[..], &[3, 13]].concat();
            let mut found = expected.clone();
            found.sort_unstable();
            assert_eq!(values(folder.path()), found);
            assert_tidy(folder.path());
        }
    }
}

/// An epoch that some other task did not complete is in the commitment of the next.
#[tokio::test]
async fn epochs_that_were_not_committed_are_committed_together() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(folder.path(), false);
    write_epoch(&mut *sink, 1, [1]).await;
    prepare(&mut *sink, 2, [2]).await;
    let commitment = prepare(&mut *sink, 3, [3]).await;
    drop(sink);
    let sink = recover(folder.path(), false, &commitment).await.unwrap();
    assert_eq!(values(folder.path()), [1, 2, 3]);
    let table = DeltaTable::at(folder.path()).unwrap();
    assert_eq!((table.operations.len(), table.transactions.into_values().collect()), (2, vec![3]));
    let Commitment(bytes) = sink.commitment();
    assert!(!String::from_utf8(bytes).unwrap().contains("path"), "nothing is left to commit");
}

/// The user goes on from an older checkpoint: what later ones had committed goes, as its rows come again.
#[tokio::test]
async fn from_an_older_checkpoint_later_epochs_are_taken_back() {
    for partitioned in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut other = open(folder.path(), partitioned);
        write_epoch(&mut *other, 1, [91]).await;
        let mut sink = open(folder.path(), partitioned);
        write_epoch(&mut *sink, 1, [1]).await;
        let older = prepare(&mut *sink, 2, [2, 12]).await;
        sink.commit(Epoch(2)).await.unwrap();
        write_epoch(&mut *sink, 3, [3, 13]).await;
        write_epoch(&mut *sink, 4, [4]).await;
        drop(sink);
        for _ in 0..2 {
            drop(recover(folder.path(), partitioned, &older).await.unwrap());
            assert_eq!(values(folder.path()), [1, 2, 12, 91]);
        }
        let mut sink = recover(folder.path(), partitioned, &older).await.unwrap();
        write_epoch(&mut *sink, 3, [3, 13]).await;
        write_epoch(&mut *sink, 4, [4]).await;
        assert_eq!(values(folder.path()), [1, 2, 3, 4, 12, 13, 91]);
        let mut added = DeltaTable::at(folder.path()).unwrap().ever_added;
        let count = added.len();
        added.sort();
        added.dedup();
        assert_eq!(added.len(), count, "no name comes twice");
    }
}

/// Somebody has compacted the table: whose row is whose is not known any more.
#[tokio::test]
async fn later_epochs_that_were_rewritten_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(folder.path(), false);
    write_epoch(&mut *sink, 1, [1]).await;
    let older = sink.commitment();
    write_epoch(&mut *sink, 2, [2]).await;
    drop(sink);
    let table = DeltaTable::at(folder.path()).unwrap();
    let entry: String = table
        .files
        .keys()
        .map(|path| format!("{{\"remove\":{{\"path\":\"{path}\",\"dataChange\":false,\"deletionTimestamp\":1}}}}\n"))
        .collect();
    fs::write(folder.path().join("_delta_log/00000000000000000002.json"), entry).unwrap();
    let error = recover(folder.path(), false, &older).await.err().unwrap();
    assert!(error.message().ends_with("after the checkpoint are in other files since"), "{error}");
}

#[tokio::test]
async fn a_prepared_file_that_is_gone_is_an_error_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(folder.path(), true);
    write_epoch(&mut *sink, 1, [1]).await;
    let commitment = prepare(&mut *sink, 2, [2, 12]).await;
    prepare(&mut *sink, 3, [3]).await;
    drop(sink);
    let files = data_files(folder.path());
    let lost = files.iter().find(|file| file.contains("p=p1")).unwrap();
    fs::remove_file(folder.path().join(lost)).unwrap();
    let error = recover(folder.path(), true, &commitment).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().contains(lost.as_str()), "{error}");
    assert_eq!((values(folder.path()), data_files(folder.path()).len()), (vec![1], files.len() - 1));
}

#[tokio::test]
async fn a_damaged_commitment_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = recover(folder.path(), false, &Commitment(b"tidemill parts 1\n".to_vec())).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Data);
}

/// A job begins from a savepoint of another, which was killed between prepare and commit, or goes on.
#[tokio::test]
async fn what_another_job_had_prepared_is_adopted_and_what_it_writes_since_is_left_alone() {
    for goes_on in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut first = open(folder.path(), true);
        write_epoch(&mut *first, 1, [0, 10]).await;
        first.write(&batch([20])).await.unwrap();
        first.prepare(Epoch(2)).await.unwrap();
        let commitment = first.commitment();
        if goes_on {
            first.commit(Epoch(2)).await.unwrap();
        }
        // Twice: the next job may be killed before its first checkpoint.
        for _ in 0..2 {
            open(folder.path(), true).adopt(&commitment).await.unwrap();
            assert_eq!(values(folder.path()), [0, 10, 20]);
        }
        let mut next = open(folder.path(), true);
        next.adopt(&commitment).await.unwrap();
        write_epoch(&mut *next, 3, [100]).await;
        if goes_on {
            write_epoch(&mut *first, 3, [30]).await;
            assert_eq!(values(folder.path()), [0, 10, 20, 30, 100]);
        } else {
            assert_eq!(values(folder.path()), [0, 10, 20, 100]);
        }
    }
}
