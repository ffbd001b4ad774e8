//! A folder that is followed, by one run after the other.

use std::time::Duration;

use tokio::time::timeout;

use super::given::{Kind, Packed};
use super::*;

const FOLLOWED: &[(&str, &str)] = &[("format", "json"), ("path", "in"), ("source.monitor-interval", "5 ms")];

fn write(folder: &Path, name: &str, ids: std::ops::Range<i64>) {
    let rows = ids.map(|id| ("x".to_owned(), id, false)).collect();
    let (bytes, _) = Kind::Json.file(&rows, Packed::Plain, true);
    fs::create_dir_all(folder.join("in")).unwrap();
    fs::write(folder.join("in").join(name), bytes).unwrap();
}

fn names(partitions: &[Box<dyn PartitionReader>]) -> Vec<String> {
    partitions.iter().map(|partition| partition.partition().to_string()).collect()
}

#[tokio::test]
async fn what_was_read_is_not_opened_again_and_what_is_new_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, ids) in [("a", 0..3), ("b", 3..6), ("c", 6..9), ("d", 9..12)] {
        write(folder, name, ids);
    }
    let table = table(folder, FOLLOWED, false, 30);
    let mut runs = Runs::default();
    // `a` and `b` are read to their end, `c` in part, `d` not at all; then `e` appears, and is read.
    let Opened { mut partitions, discovery } = runs.open(&table, true).await.unwrap();
    for (partition, chunks) in partitions.iter_mut().zip([None, None, Some(2), Some(0)]) {
        runs.read(&mut **partition, chunks).await.unwrap();
    }
    write(folder, "e", 12..13);
    let mut found = discovery.unwrap().next().await.unwrap();
    assert_eq!(names(&found), ["in/e"]);
    runs.read(&mut *found[0], None).await.unwrap();

    fs::remove_file(folder.join("in/a")).unwrap();
    write(folder, "f", 13..14);
    let Opened { mut partitions, discovery } = runs.open(&table, true).await.unwrap();
    assert_eq!(names(&partitions), ["in/c", "in/d", "in/f"]);
    for partition in &mut partitions {
        runs.read(&mut **partition, None).await.unwrap();
    }
    // A file that was read has come back: it is known by its name.
    write(folder, "a", 0..3);
    let mut discovery = discovery.unwrap();
    assert!(timeout(Duration::from_millis(50), discovery.next()).await.is_err(), "nothing is new");
    write(folder, "g", 14..15);
    let mut found = discovery.next().await.unwrap();
    assert_eq!(names(&found), ["in/g"]);
    runs.read(&mut *found[0], None).await.unwrap();
    let seen = runs.in_order().into_iter().map(|(_, _, row)| row);
    assert_eq!(seen.collect::<Vec<_>>(), (0..15).map(|id| format!("\"x\" {id}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn all_files_may_have_gone_but_not_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a", 0..3);
    let table = table(folder.path(), FOLLOWED, false, 30);
    let mut runs = Runs::default();
    runs.run(&table, |_| None).await.unwrap();
    fs::remove_file(folder.path().join("in/a")).unwrap();
    assert!(runs.open(&table, true).await.unwrap().partitions.is_empty());
    fs::remove_dir(folder.path().join("in")).unwrap();
    let error = runs.open(&table, true).await.err().unwrap();
    assert!(error.message().starts_with("there is no file '"), "{error}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_that_are_no_text_are_told_apart() {
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    for (name, id) in [(&b"a\xff"[..], 0), (b"a\xfe", 1)] {
        write(folder.path(), "whole", id..id + 1);
        let name = std::ffi::OsStr::from_bytes(name);
        fs::rename(folder.path().join("in/whole"), folder.path().join("in").join(name)).unwrap();
    }
    let table = table(folder.path(), FOLLOWED, false, 30);
    let mut runs = Runs::default();
    runs.run(&table, |file| (file == 1).then_some(0)).await.unwrap();
    assert_eq!(runs.seen.len(), 1);
    runs.run(&table, |_| None).await.unwrap();
    assert_eq!(runs.seen.len(), 2);
    assert!(runs.open(&table, true).await.unwrap().partitions.is_empty());
}

#[tokio::test]
async fn a_file_that_fits_a_pattern_in_several_ways_is_read_once_by_one_run_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir_all(folder.join("in/deep")).unwrap();
    write(folder, "deep/a", 0..3);
    let options = [("format", "json"), ("path", "in/**/*"), ("source.monitor-interval", "5 ms")];
    let table = table(folder, &options, false, 30);
    let mut runs = Runs::default();
    let mut partitions = runs.open(&table, true).await.unwrap().partitions;
    assert_eq!(names(&partitions), ["in/deep/a"]);
    runs.read(&mut *partitions[0], Some(1)).await.unwrap();

    write(folder, "deep/b", 3..4);
    let Opened { mut partitions, discovery } = runs.open(&table, true).await.unwrap();
    assert_eq!(names(&partitions), ["in/deep/a", "in/deep/b"]);
    for partition in &mut partitions {
        runs.read(&mut **partition, None).await.unwrap();
    }
    write(folder, "deep/c", 4..5);
    let mut found = discovery.unwrap().next().await.unwrap();
    assert_eq!(names(&found), ["in/deep/c"]);
    runs.read(&mut *found[0], None).await.unwrap();
    let seen = runs.in_order().into_iter().map(|(_, _, row)| row);
    assert!(seen.eq((0..5).map(|id| format!("\"x\" {id}"))));
}
