//! A run is killed (its sink is dropped as it is), and another goes on from the commitment of its last checkpoint.

use super::*;

const SMALL_PARTS: &[(&str, &str)] = &[("sink.rolling-policy.file-size", "1 b")];

/// A sink that makes a part of each batch, in the folder of its day if the table is partitioned.
fn open(out: &Path, partitioned: bool) -> Box<dyn Sink> {
    let columns = vec![Field::new("day", DataType::Int64, true), Field::new("a", DataType::Int64, true)];
    let by: &[&str] = if partitioned { &["day"] } else { &[] };
    FilesystemSinkFactory::new(&table(out, columns, by, SMALL_PARTS), WriteMode::Append).unwrap().open().unwrap()
}

async fn recover(out: &Path, partitioned: bool, commitment: &Commitment) -> Result<Box<dyn Sink>> {
    let mut sink = open(out, partitioned);
    sink.recover(commitment).await.map(|()| sink)
}

async fn write(sink: &mut dyn Sink, values: impl IntoIterator<Item = i64>) {
    for value in values {
        let column = |value| Arc::new(Int64Array::from_iter_values([value])) as _;
        let rows = RecordBatch::try_from_iter([("day", column(value % 2)), ("a", column(value))]).unwrap();
        sink.write(&EventBatch::append(rows)).await.unwrap();
    }
}

/// Writes an epoch and prepares it.
async fn prepare(sink: &mut dyn Sink, epoch: u64, values: impl IntoIterator<Item = i64>) -> Commitment {
    write(sink, values).await;
    sink.prepare(Epoch(epoch)).await.unwrap();
    sink.commitment()
}

/// The values of `a` that a reader sees.
fn values(out: &Path) -> Vec<i64> {
    let value = |line: String| line.rsplit_once(':').unwrap().1.trim_end_matches('}').parse().unwrap();
    let mut values: Vec<i64> = lines(out).into_iter().map(value).collect();
    values.sort_unstable();
    values
}

/// The run of the visible parts, and their numbers.
fn names(out: &Path) -> (Vec<String>, Vec<u64>) {
    let (mut runs, mut numbers) = (vec![], vec![]);
    for file in files(out, false) {
        let name = file.rsplit('/').next().unwrap().strip_suffix(".json").unwrap();
        let (run, number) = name.strip_prefix("part-").unwrap().split_once('-').unwrap();
        runs.push(run.to_owned());
        numbers.push(number.parse().unwrap());
    }
    runs.sort();
    runs.dedup();
    numbers.sort_unstable();
    (runs, numbers)
}

#[tokio::test]
async fn killed_before_its_first_checkpoint_nothing_is_left_and_the_names_go_on() {
    for partitioned in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let mut sink = open(&out, partitioned);
        let nothing = sink.commitment();
        write(&mut *sink, 0..4).await;
        drop(sink);
        assert_eq!(files(&out, true).len(), 4);

        let mut sink = recover(&out, partitioned, &nothing).await.unwrap();
        assert!(files(&out, true).is_empty() && files(&out, false).is_empty());
        prepare(&mut *sink, 1, 0..4).await;
        sink.commit(Epoch(1)).await.unwrap();
        assert_eq!(values(&out), [0, 1, 2, 3]);
        assert_eq!(names(&out).1, [0, 1, 2, 3]);
        let run = String::from_utf8(nothing.0).unwrap().lines().nth(1).unwrap().to_owned();
        assert_eq!(names(&out).0, [run]);
    }
}

/// Between prepare and commit, with rows of the next epoch written; half-way through the renames; and behind the commit.
#[tokio::test]
async fn what_was_prepared_is_visible_once_however_far_its_commit_had_come() {
    for partitioned in [false, true] {
        for renamed in 0..=4 {
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path();
            let mut sink = open(out, partitioned);
            prepare(&mut *sink, 1, 0..2).await;
            sink.commit(Epoch(1)).await.unwrap();
            let commitment = prepare(&mut *sink, 2, 2..6).await;
            write(&mut *sink, 6..9).await;
            drop(sink);
            for part in &Prepared::decode(out, &commitment).unwrap().parts[..renamed] {
                part.publish().unwrap();
            }
            // Twice: a run may be killed while it recovers, or before its first checkpoint.
            for _ in 0..2 {
                drop(recover(out, partitioned, &commitment).await.unwrap());
                assert_eq!(values(out), (0..6).collect::<Vec<_>>());
                assert!(files(out, true).is_empty());
            }
            let mut sink = recover(out, partitioned, &commitment).await.unwrap();
            prepare(&mut *sink, 3, 6..9).await;
            sink.commit(Epoch(3)).await.unwrap();
            assert_eq!(values(out), (0..9).collect::<Vec<_>>());
            assert_eq!(names(out).1, (0..9).collect::<Vec<_>>());
        }
    }
}

#[tokio::test]
async fn the_names_of_parts_that_are_recovered_are_not_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(folder.path(), false);
    prepare(&mut *sink, 1, 0..2).await;
    sink.commit(Epoch(1)).await.unwrap();
    // Rows of the next epoch are there already when the commit is told.
    write(&mut *sink, 2..4).await;
    let committed = sink.commitment();
    drop(sink);
    let mut sink = recover(folder.path(), false, &committed).await.unwrap();
    assert_eq!(sink.commitment(), committed, "nothing has changed since");
    prepare(&mut *sink, 2, 2..3).await;
    sink.commit(Epoch(2)).await.unwrap();
    assert_eq!(names(folder.path()).1, [0, 1, 2]);
}

/// The last checkpoint is given up: what it and those after it had committed comes again.
#[tokio::test]
async fn an_older_checkpoint_takes_back_what_later_ones_committed() {
    for partitioned in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path();
        let mut sink = open(out, partitioned);
        let mut older = vec![sink.commitment()];
        for epoch in 1..4 {
            let first = 3 * (epoch as i64 - 1);
            older.push(prepare(&mut *sink, epoch, first..first + 3).await);
            sink.commit(Epoch(epoch)).await.unwrap();
        }
        drop(sink);
        for (checkpoint, commitment) in older.iter().enumerate().rev() {
            recover(out, partitioned, commitment).await.unwrap();
            assert_eq!(values(out), (0..3 * checkpoint as i64).collect::<Vec<_>>());
        }
    }
}

#[tokio::test]
async fn other_runs_and_other_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let (mut sink, mut other) = (open(out, true), open(out, true));
    let nothing = sink.commitment();
    let theirs = prepare(&mut *other, 1, 10..12).await;
    other.commit(Epoch(1)).await.unwrap();
    write(&mut *other, 12..14).await;
    write(&mut *sink, 0..2).await;
    let run = Prepared::decode(out, &nothing).unwrap().run;
    // Names that nearly are those of the run, and a folder that is no partition.
    let kept = [
        format!("day=0/part-{run}-0.json.gz"),
        format!("day=0/part-{run}-7.csv"),
        format!("day=0/part-{run}0-7.json"),
        format!("day=0/part-{run}-07.json"),
        format!("day=0/.part-{run}-7.json"),
        format!("part-{run}-7.json"),
        format!("days/part-{run}-7.json"),
        format!("day=0/deeper/part-{run}-7.json"),
        "day=1/_SUCCESS".to_owned(),
    ];
    for name in &kept {
        fs::create_dir_all(out.join(name).parent().unwrap()).unwrap();
        fs::write(out.join(name), "theirs").unwrap();
    }
    drop(sink);
    recover(out, true, &nothing).await.unwrap();
    for name in &kept {
        assert!(out.join(name).exists(), "{name}");
    }
    other.prepare(Epoch(2)).await.unwrap();
    other.commit(Epoch(2)).await.unwrap();
    let visible = files(out, false).into_iter().filter(|file| !kept.contains(file)).count();
    assert_eq!(visible, 4);
    assert_eq!(Prepared::decode(out, &theirs).unwrap().parts.len(), 2);
}

#[tokio::test]
async fn a_prepared_file_that_is_gone_is_an_error_and_nothing_changes() {
    for (whole_folder, partitioned) in [(false, false), (false, true), (true, true)] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path();
        let mut sink = open(out, partitioned);
        let commitment = prepare(&mut *sink, 1, 0..2).await;
        write(&mut *sink, 2..5).await;
        drop(sink);
        let lost = &Prepared::decode(out, &commitment).unwrap().parts[0];
        fs::remove_file(lost.staged()).unwrap();
        if whole_folder {
            fs::remove_dir_all(lost.folder()).unwrap();
        }
        let before = files(out, true);
        let error = recover(out, partitioned, &commitment).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Data);
        let message = format!(
            "the file '{}' is gone, which the run before had written and not yet shown",
            lost.staged().display()
        );
        assert_eq!(error.message(), message);
        assert!(error.hint_text().unwrap().contains(lost.visible().to_str().unwrap()), "{error}");
        assert_eq!(files(out, true), before);
        assert!(files(out, false).is_empty());

        // What the hint says helps.
        fs::create_dir_all(lost.folder()).unwrap();
        fs::write(lost.visible(), "").unwrap();
        recover(out, partitioned, &commitment).await.unwrap();
        assert!(files(out, true).is_empty());
    }
}

#[tokio::test]
async fn folders_may_be_gone_in_which_nothing_was_prepared() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut sink = open(&out, true);
    prepare(&mut *sink, 1, 0..2).await;
    sink.commit(Epoch(1)).await.unwrap();
    let commitment = prepare(&mut *sink, 2, [3]).await;
    drop(sink);
    fs::remove_dir_all(out.join("day=0")).unwrap();
    recover(&out, true, &commitment).await.unwrap();
    assert_eq!(values(&out), [1, 3]);

    let committed = recover(&out, true, &commitment).await.unwrap().commitment();
    fs::remove_dir_all(&out).unwrap();
    recover(&out, true, &committed).await.unwrap();
    assert!(files(&out, false).is_empty());
}

#[tokio::test]
async fn a_table_that_was_moved_is_recovered_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    let mut sink = open(&from, true);
    let commitment = prepare(&mut *sink, 1, 0..3).await;
    drop(sink);
    fs::rename(&from, &to).unwrap();
    recover(&to, true, &commitment).await.unwrap();
    assert_eq!(values(&to), [0, 1, 2]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_partition_that_is_a_link_is_searched_too() {
    let folder = tempfile::tempdir().unwrap();
    let (out, disk) = (folder.path().join("out"), folder.path().join("disk"));
    fs::create_dir_all(&out).unwrap();
    fs::create_dir(&disk).unwrap();
    std::os::unix::fs::symlink(&disk, out.join("day=0")).unwrap();
    let mut sink = open(&out, true);
    let commitment = prepare(&mut *sink, 1, [0]).await;
    write(&mut *sink, [2]).await;
    drop(sink);
    assert_eq!(files(&disk, true).len(), 2);
    recover(&out, true, &commitment).await.unwrap();
    assert!(files(&disk, true).is_empty());
    assert_eq!(values(&out), [0]);
}

#[tokio::test]
async fn a_damaged_commitment_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = open(folder.path(), false);
    let commitment = prepare(&mut *sink, 1, 0..2).await;
    drop(sink);
    let before = files(folder.path(), true);
    for damaged in [vec![], commitment.0[..commitment.0.len() - 1].to_vec()] {
        let error = recover(folder.path(), false, &Commitment(damaged)).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Data);
    }
    assert_eq!(files(folder.path(), true), before);
}

/// A job begins from a savepoint of another, which was killed between prepare and commit, or goes on.
#[tokio::test]
async fn what_another_job_had_prepared_is_adopted_and_what_it_writes_since_is_left_alone() {
    for partitioned in [false, true] {
        for goes_on in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path();
            let mut first = open(out, partitioned);
            prepare(&mut *first, 1, 0..2).await;
            first.commit(Epoch(1)).await.unwrap();
            let commitment = prepare(&mut *first, 2, 2..4).await;
            write(&mut *first, 4..5).await;
            if goes_on {
                first.commit(Epoch(2)).await.unwrap();
            }
            // Twice: the next job may be killed before its first checkpoint.
            for _ in 0..2 {
                open(out, partitioned).adopt(&commitment).await.unwrap();
                assert_eq!(values(out), [0, 1, 2, 3]);
                assert_eq!(files(out, true).len(), 1, "what is not in the savepoint");
            }
            let mut next = open(out, partitioned);
            next.adopt(&commitment).await.unwrap();
            prepare(&mut *next, 3, 10..12).await;
            next.commit(Epoch(3)).await.unwrap();
            prepare(&mut *first, 3, 5..6).await;
            first.commit(Epoch(3)).await.unwrap();
            assert_eq!(values(out), [0, 1, 2, 3, 4, 5, 10, 11]);
            assert_eq!(names(out).0.len(), 2, "each has names of its own");
        }
    }
}

#[tokio::test]
async fn a_part_that_another_job_had_prepared_and_that_is_gone_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let commitment = prepare(&mut *open(&folder.path().join("a"), false), 1, 0..2).await;
    let error = open(&folder.path().join("b"), false).adopt(&commitment).await.unwrap_err();
    assert!(error.message().contains(" is gone, which the run before had written and not yet shown"), "{error}");
}
