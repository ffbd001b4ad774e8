//! `--memory-limit`: state that is more than the limit lies on disk, and the answer is the same.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use tidemill_tests::program::Program;

/// Three events of each user; the sessions of all are open until the input ends. They take twice the limit.
const USERS: i64 = 500_000;
const EVENTS: i64 = 3 * USERS;

fn sessions(aggregate: &str) -> String {
    format!(
        "CREATE TABLE events (
           id   BIGINT,
           usr  AS MOD(id, {USERS}),
           ts   AS TO_TIMESTAMP_LTZ(id / {USERS} * 1000, 3),
           WATERMARK FOR ts AS ts - INTERVAL '1' DAY
         ) WITH ('connector' = 'datagen', 'number-of-rows' = '{EVENTS}', 'rows-per-second' = '100000000',
                 'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '{}');
         CREATE TABLE sessions (usr BIGINT, n BIGINT, ids BIGINT)
         WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
         INSERT INTO sessions
         SELECT usr, COUNT(*), {aggregate}
         FROM TABLE(SESSION(TABLE events PARTITION BY usr, DESCRIPTOR(ts), INTERVAL '1' HOUR))
         GROUP BY usr, window_start, window_end;",
        EVENTS - 1
    )
}

/// The lines of the files of a folder.
fn lines(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    files.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Whether there is a file within a folder within this one.
fn has_spilled(folder: &Path) -> bool {
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    folders.filter_map(|folder| fs::read_dir(folder.path()).ok()).any(|mut files| files.next().is_some())
}

/// Runs with a limit; `true` if state was on disk meanwhile.
fn run_limited(folder: &Path, arguments: &[&str], spill: &Path) -> bool {
    let temporary = folder.join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut run = Program::in_folder(folder)
        .command(&[&["run", "q.sql", "--memory-limit", "64MB"], arguments].concat())
        .env("TMPDIR", &temporary)
        .spawn()
        .unwrap();
    let mut spilled = false;
    while run.try_wait().unwrap().is_none() {
        spilled |= has_spilled(spill);
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = run.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!has_spilled(spill), "what was spilled is deleted");
    spilled
}

fn check(folder: &Path) {
    let found = lines(&folder.join("out"));
    let by_user: HashMap<&str, &str> = found.iter().filter_map(|line| line.split_once(',')).collect();
    assert_eq!((found.len() as i64, by_user.len() as i64), (USERS, USERS));
    for user in 0..USERS {
        let ids = (0..3).map(|round| user + round * USERS).sum::<i64>();
        assert_eq!(by_user[&*user.to_string()], format!("3,{ids}"), "user {user}");
    }
}

#[test]
fn sessions_that_do_not_fit_are_whole_live() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("q.sql"), sessions("SUM(id)")).unwrap();
    assert!(run_limited(folder.path(), &[], &folder.path().join("tmp")));
    check(folder.path());
}

#[test]
fn sessions_that_do_not_fit_are_whole_in_a_batch() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("q.sql"), sessions("SUM(id)")).unwrap();
    assert!(run_limited(folder.path(), &["--batch"], &folder.path().join("tmp")));
    check(folder.path());
}

#[test]
fn a_limit_that_is_no_limit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (limit, why) in [("1MB", "at least 64 MB are needed"), ("much", "such as 512MB or 4GB")] {
        let run = Program::in_folder(folder.path()).run(&["run", "q.sql", "--memory-limit", limit]);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains(why), "{}", run.stderr);
    }
}
