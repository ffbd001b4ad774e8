//! Several writers on one table.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn rows_of_writers_that_append_at_the_same_time_are_all_there_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |writer: i64| {
        let mut sink = open(folder.path(), true);
        tokio::spawn(async move {
            for epoch in 1..=8 {
                write_epoch(&mut *sink, epoch, [1000 * writer + 10 * epoch as i64]).await;
            }
        })
    };
    // None of them finds a table when it begins.
    let writers: Vec<_> = (0..4).map(write).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let mut expected: Vec<i64> =
        (0..4).flat_map(|writer| (1..=8).map(move |epoch| 1000 * writer + 10 * epoch)).collect();
    expected.sort_unstable();
    assert_eq!(values(folder.path()), expected);
    let table = DeltaTable::at(folder.path()).unwrap();
    assert_eq!((table.operations.len(), table.transactions.len()), (32, 4));
    assert_eq!(table.transactions.values().filter(|&&version| version == 8).count(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn what_overwrites_leaves_no_row_of_those_that_came_before_it() {
    let folder = tempfile::tempdir().unwrap();
    write_epoch(&mut *open(folder.path(), false), 1, [1]).await;
    let appending = {
        let mut sink = open(folder.path(), false);
        tokio::spawn(async move {
            for epoch in 1..=10 {
                write_epoch(&mut *sink, epoch, [100 + epoch as i64]).await;
            }
        })
    };
    let overwriting: Vec<_> = (0..3)
        .map(|writer| {
            let mut sink = factory(folder.path(), false, WriteMode::Overwrite).open().unwrap();
            tokio::spawn(async move { write_epoch(&mut *sink, 1, [1000 + writer]).await })
        })
        .collect();
    appending.await.unwrap();
    for writer in overwriting {
        writer.await.unwrap();
    }
    // Each entry that overwrites leaves its own row alone; then come those that were appended behind the last.
    let found = values(folder.path());
    assert_eq!(found.iter().filter(|&&value| value >= 1000).count(), 1, "{found:?}");
    let appended: Vec<i64> = found.into_iter().filter(|&value| value < 1000).collect();
    assert_eq!(appended, (111 - appended.len() as i64..111).collect::<Vec<_>>());
}

/// Two runs that go on from the same checkpoint: the second to commit is told so, and its rows don't come twice.
#[tokio::test]
async fn a_second_run_of_the_same_checkpoint_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(folder.path(), false);
    write_epoch(&mut *sink, 1, [1]).await;
    let commitment = sink.commitment();
    drop(sink);
    let mut runs = vec![];
    for _ in 0..2 {
        let mut sink = open(folder.path(), false);
        sink.recover(&commitment).await.unwrap();
        runs.push(sink);
    }
    write_epoch(&mut *runs[0], 2, [2]).await;
    let second = &mut runs[1];
    second.write(&batch([2])).await.err();
    let outcome = match second.prepare(Epoch(2)).await {
        Ok(()) => second.commit(Epoch(2)).await,
        failed => failed,
    };
    assert!(outcome.is_err());
    assert_eq!(values(folder.path()), [1, 2]);
}
