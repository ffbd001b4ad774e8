//! What a batch leaves in files: all of its output, or nothing.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tidemill::{Environment, Settings, Table, WindowAssigner};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Line {
    number: i64,
    text: String,
}

fn table(folder: &Path, name: &str) -> Table {
    Table::new("filesystem").with("path", name).with("format", "json").in_folder(folder)
}

/// Writes three files of a thousand lines each.
fn write_input(folder: &Path) {
    fs::create_dir(folder.join("in")).unwrap();
    for file in 0..3 {
        let lines: String = (0..1_000)
            .map(|line| format!("{{\"number\": {}, \"text\": \"{}\"}}\n", file * 1_000 + line, line % 10))
            .collect();
        fs::write(folder.join(format!("in/{file}.jsonl")), lines).unwrap();
    }
}

/// The lines of all files that can be seen.
fn output(folder: &Path) -> Vec<Line> {
    let Ok(files) = fs::read_dir(folder.join("out")) else { return vec![] };
    let files = files.map(|file| file.unwrap().path());
    let seen = files.filter(|file| !file.file_name().unwrap().to_string_lossy().starts_with(['.', '_']));
    let text: String = seen.map(|file| fs::read_to_string(file).unwrap()).collect();
    let mut lines: Vec<Line> = text.lines().map(parsed).collect();
    lines.sort();
    lines
}

/// The two fields of a line as the sink writes it.
fn parsed(line: &str) -> Line {
    let (number, text) = line.trim_start_matches("{\"number\":").split_once(",\"text\":\"").unwrap();
    Line { number: number.parse().unwrap(), text: text.trim_end_matches("\"}").to_owned() }
}

/// A batch over the input, of which each of the first `failures` calls with one line panics.
fn run(folder: &Path, attempts: usize, failures: usize) -> tidemill::Result<usize> {
    let env = Environment::with(Settings { attempts, batch_size: 100, ..Settings::default() });
    let calls = Arc::new(AtomicUsize::new(0));
    let lines = table(folder, "in").read::<Line>(&env, "in")?.map(move |line: Line| {
        if line.number == 1_500 && calls.fetch_add(1, Ordering::Relaxed) < failures {
            panic!("drawn to fail");
        }
        line
    });
    let lines = lines.filter(|line| line.number % 2 == 0);
    table(folder, "out").write(lines, "out")?;
    env.execute_batch().map(|executed| executed.re_executed.len())
}

fn expected() -> Vec<Line> {
    (0..3_000).step_by(2).map(|number| Line { number, text: (number % 10).to_string() }).collect()
}

#[test]
fn each_line_is_written_once_though_a_split_fails_thrice() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path());
    assert_eq!(run(folder.path(), 4, 3).unwrap(), 3);
    assert_eq!(output(folder.path()), expected());
}

#[test]
fn a_batch_that_fails_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path());
    let error = run(folder.path(), 3, 3).unwrap_err();
    assert!(error.message().starts_with("in 3 attempts, the last time"), "{error}");
    assert_eq!(output(folder.path()), vec![]);
    let left = fs::read_dir(folder.path().join("out")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "no hidden file either");
}

#[test]
fn a_line_that_is_none_is_named_by_its_number() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path());
    let mut lines = fs::read_to_string(folder.path().join("in/1.jsonl")).unwrap();
    lines.push_str("{\"number\": 3000, \"text\": \n");
    fs::write(folder.path().join("in/1.jsonl"), lines).unwrap();
    let error = run(folder.path(), 2, 0).unwrap_err();
    assert!(error.message().contains("1.jsonl, line 1001"), "{error}");
    assert_eq!(output(folder.path()), vec![]);
}

/// Text is cut otherwise when it is read from another place on: a split must be what it was all the same.
#[test]
fn a_split_in_the_middle_of_a_large_file_is_read_again() {
    const LINES: i64 = 150_000;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    let lines: String =
        (0..LINES).map(|line| format!("{{\"number\": {line}, \"text\": \"{:0100}\"}}\n", line % 97)).collect();
    fs::write(folder.path().join("in/large.jsonl"), lines).unwrap();
    let env = Environment::new();
    let failed = Arc::new(AtomicUsize::new(0));
    let sums = table(folder.path(), "in")
        .read::<Line>(&env, "in")
        .unwrap()
        .map(move |line: Line| {
            // The first time, in three splits that are not the first.
            let at = [70_001, 110_001, LINES - 1].iter().position(|at| *at == line.number);
            if let Some(at) = at
                && failed.fetch_or(1 << at, Ordering::Relaxed) & (1 << at) == 0
            {
                panic!("drawn to fail");
            }
            (line.number % 10, line.number, 1)
        })
        .key_by(|line| line.0)
        .window(WindowAssigner::global())
        .reduce("sums", |a, b| (a.0, a.1 + b.1, a.2 + b.2))
        .map(|of| of.value)
        .collect();
    let executed = env.execute_batch().unwrap();
    assert!(executed.re_executed.len() >= 2, "the file has several splits: {:?}", executed.re_executed);
    let mut sums = sums.take();
    sums.sort_unstable();
    let expected = |key: i64| {
        let of_key = (key..LINES).step_by(10);
        (key, of_key.clone().sum::<i64>(), of_key.count() as i64)
    };
    assert_eq!(sums, (0..10).map(expected).collect::<Vec<_>>());
}

/// The files of what a batch could not keep in memory, in the order in which they were made.
fn spilled(data_dir: &Path) -> Vec<PathBuf> {
    let Ok(folders) = fs::read_dir(data_dir.join("shuffle")) else { return vec![] };
    let mut files: Vec<PathBuf> = folders
        .flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap().map(|file| file.unwrap().path()))
        .collect();
    files.sort();
    files
}

#[test]
fn rows_that_wait_for_their_turn_and_are_lost_are_made_again() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path());
    let data_dir = folder.path().join("job");
    let settings =
        Settings { data_dir: Some(data_dir.clone()), shuffle_memory: 0, parallelism: 2, ..Settings::default() };
    let env = Environment::with(settings);
    let third = Arc::new(AtomicUsize::new(0));
    let lines = table(folder.path(), "in").read::<Line>(&env, "in").unwrap().map(move |line: Line| {
        if line.number == 2_000 {
            third.fetch_add(1, Ordering::Relaxed);
        }
        if line.number == 0 {
            // Two splits run at a time: when the third has begun, the second waits for this one, which is the first.
            let begun = Instant::now();
            while third.load(Ordering::Relaxed) == 0 && begun.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(1));
            }
            fs::remove_file(&spilled(&data_dir)[0]).unwrap();
        }
        line
    });
    table(folder.path(), "out").write(lines, "out").unwrap();
    let executed = env.execute_batch().unwrap();
    let again: Vec<usize> = executed.re_executed.iter().map(|again| again.part).collect();
    assert_eq!(again, [1], "{:?}", executed.re_executed);
    let expected = |number: i64| Line { number, text: (number % 10).to_string() };
    assert_eq!(output(folder.path()), (0..3_000).map(expected).collect::<Vec<_>>());
}
