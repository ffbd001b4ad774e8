//! Jobs that are run again: what they go on from, what they refuse, and what they say.
//!
//! That nothing is lost or doubled whenever a job is killed is the crash test's business.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::Value;
use tidemill_tests::folder::{fresh, names};
use tidemill_tests::program::{Finished, Program, interrupt};

/// Longer than any machine needs: a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

const ROWS: usize = 1_500;

/// Numbers, a thousand a second, into files; and how many there are of each remainder, to nobody.
fn numbers(settings: &str) -> String {
    format!(
        "SET 'execution.checkpointing.interval' = '30 ms';
{settings}
CREATE TABLE numbers (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000', 'number-of-rows' = '{ROWS}',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '{}');
CREATE TABLE copied (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
CREATE TABLE nowhere (remainder BIGINT, numbers BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO copied SELECT id FROM numbers;
INSERT INTO nowhere SELECT id % 7, count(*) FROM numbers GROUP BY id % 7;
",
        ROWS - 1
    )
}

const RUN: [&str; 6] = ["run", "q.sql", "--data-dir", "data", "--parallelism", "2"];

/// The numbers that stand in the visible files, sorted.
fn copied(folder: &Path) -> Vec<u64> {
    let files = fs::read_dir(folder.join("out")).into_iter().flatten().map(|entry| entry.unwrap());
    let visible = files.filter(|file| !file.file_name().to_string_lossy().starts_with('.'));
    let texts = visible.map(|file| fs::read_to_string(file.path()).unwrap());
    let number = |line: &str| line.trim_start_matches("{\"id\":").trim_end_matches('}').parse().unwrap();
    let mut numbers: Vec<u64> = texts.flat_map(|text| text.lines().map(number).collect::<Vec<_>>()).collect();
    numbers.sort_unstable();
    numbers
}

/// The lines of the files of a table, sorted.
fn lines(folder: &Path) -> Vec<String> {
    let texts = names(folder).into_iter().map(|name| fs::read_to_string(folder.join(name)).unwrap());
    let mut lines: Vec<String> = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.sort();
    lines
}

fn all_numbers() -> Vec<u64> {
    (0..ROWS as u64).collect()
}

fn hidden(folder: &Path) -> Vec<String> {
    names(&folder.join("out")).into_iter().filter(|name| name.starts_with('.')).collect()
}

/// Starts the job of `q.sql`, and waits until some rows are committed.
fn started(folder: &Path) -> Child {
    let before = copied(folder).len();
    let mut command = Program::in_folder(folder).command(&RUN);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while copied(folder).len() == before {
        assert!(begun.elapsed() < PATIENCE, "nothing is committed");
        sleep(Duration::from_millis(5));
    }
    child
}

fn run(folder: &Path, arguments: &[&str]) -> Finished {
    Program::in_folder(folder).run(arguments)
}

#[test]
fn a_run_that_is_stopped_goes_on_behind_what_it_has_committed() {
    let folder = fresh();
    let folder = folder.path();
    fs::write(folder.join("q.sql"), numbers("")).unwrap();
    interrupt(started(folder));
    assert_eq!(hidden(folder), [""; 0]);
    // Whoever takes finished files away takes nothing from the job.
    let first = copied(folder);
    assert!(!first.is_empty() && first.len() < ROWS, "{} rows", first.len());
    fs::rename(folder.join("out"), folder.join("taken")).unwrap();

    let second = run(folder, &RUN);
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert!(second.stderr.contains("goes on from checkpoint "), "{}", second.stderr);
    assert_eq!([first, copied(folder)].concat(), all_numbers());

    let third = run(folder, &RUN);
    let says = "the job had come to its end before: nothing is left to do\n";
    assert_eq!((third.code, third.stderr.ends_with(says)), (Some(0), true), "{}", third.stderr);
    let listed = run(folder, &["checkpoints", "ls", "--data-dir", "data"]);
    assert_eq!((listed.code, listed.stdout.trim_end().ends_with("  finished")), (Some(0), true), "{}", listed.stdout);
    let shown = run(folder, &["checkpoints", "show", "--data-dir", "data"]);
    assert!(shown.stdout.contains("the job\n0: source numbers (parallelism 2)\n"), "{}", shown.stdout);
}

#[test]
fn a_data_directory_has_one_owner() {
    let folder = fresh();
    let folder = folder.path();
    fs::write(folder.join("q.sql"), numbers("")).unwrap();
    let first = started(folder);
    let second = run(folder, &RUN);
    assert_eq!(second.code, Some(2));
    assert!(
        second.stderr.starts_with("error: the data directory 'data' is in use by another process"),
        "{}",
        second.stderr
    );
    interrupt(first);
    assert_eq!(run(folder, &RUN).code, Some(0));
    assert_eq!(copied(folder), all_numbers());
}

#[test]
fn a_job_that_has_changed_is_refused_with_what_differs() {
    let folder = fresh();
    let folder = folder.path();
    let sql = numbers("");
    fs::write(folder.join("q.sql"), &sql).unwrap();
    interrupt(started(folder));
    let parallelism = run(folder, &["run", "q.sql", "--data-dir", "data", "--parallelism", "3"]);
    assert_eq!(parallelism.code, Some(2));
    assert!(parallelism.stderr.contains("'0: source numbers (parallelism 3)'"), "{}", parallelism.stderr);
    let limited = run(folder, &["run", "q.sql", "--data-dir", "data", "--parallelism", "2", "--memory-limit", "1GB"]);
    assert_eq!(limited.code, Some(2));
    assert!(limited.stderr.contains("this one has 'keyed state has a limit of memory'"), "{}", limited.stderr);
    fs::write(folder.join("q.sql"), sql.replace("id % 7", "id % 8")).unwrap();
    let query = run(folder, &RUN);
    assert_eq!(query.code, Some(2), "{}", query.stderr);
    assert!(query.stderr.contains("of another job than this one"), "{}", query.stderr);
    // What matters to no state may change.
    fs::write(folder.join("q.sql"), sql.replace("'30 ms'", "'50 ms'")).unwrap();
    assert_eq!(run(folder, &RUN).code, Some(0));
    assert_eq!(copied(folder), all_numbers());
}

/// The job goes on, one of its tables has ended, and has completed its windows.
#[test]
fn rows_that_are_added_to_a_table_that_has_ended_are_late() {
    let folder = fresh();
    let folder = folder.path();
    let sql = "SET 'tidemill.late-output.hourly' = 'late';
CREATE TABLE orders (category STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
CREATE TABLE hourly (window_start TIMESTAMP(3), orders BIGINT) WITH ('connector' = 'filesystem', 'path' = 'hourly', 'format' = 'json');
CREATE TABLE late (category STRING, late_reason STRING) WITH ('connector' = 'filesystem', 'path' = 'late', 'format' = 'json');
INSERT INTO hourly SELECT window_start, count(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))
  GROUP BY window_start, window_end;
";
    fs::write(folder.join("q.sql"), numbers(sql)).unwrap();
    fs::create_dir(folder.join("in")).unwrap();
    let order = |name: &str, category: &str| {
        let row = format!("{{\"category\":\"{category}\",\"ts\":\"2026-11-29 10:00:00\"}}\n");
        fs::write(folder.join("in").join(name), row).unwrap();
    };
    order("a.json", "toys");
    let running = started(folder);
    let hour = r#"{"window_start":"2026-11-29 10:00:00.000","orders":1}"#;
    let begun = Instant::now();
    let visible = || names(&folder.join("hourly")).iter().any(|name| !name.starts_with('.'));
    while !visible() {
        assert!(begun.elapsed() < PATIENCE, "the window does not come");
        sleep(Duration::from_millis(5));
    }
    interrupt(running);
    order("b.json", "books");
    let second = run(folder, &RUN);
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert_eq!(lines(&folder.join("hourly")), [hour]);
    assert_eq!(lines(&folder.join("late")), [r#"{"category":"books","late_reason":"late"}"#]);
}

#[test]
fn an_older_checkpoint_is_taken_only_if_that_is_allowed_and_files_since_are_taken_back() {
    let folder = fresh();
    let folder = folder.path();
    fs::write(folder.join("q.sql"), numbers("SET 'state.checkpoints.num-retained' = '5';")).unwrap();
    interrupt(started(folder));
    let checkpoints = folder.join("data/checkpoints");
    let manifests = names(&checkpoints).into_iter().filter(|name| name.ends_with(".manifest"));
    let mut manifests: Vec<String> = manifests.collect();
    manifests.sort();
    // The last two: what they had committed is visible.
    for manifest in &manifests[manifests.len() - 2..] {
        fs::write(checkpoints.join(manifest), "cut off").unwrap();
    }
    let refused = run(folder, &RUN);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("the manifest is damaged"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--allow-older-checkpoint"), "{}", refused.stderr);
    let listed = run(folder, &["checkpoints", "ls", "--data-dir", "data"]);
    assert_eq!(
        (listed.code, listed.stdout.matches("the manifest is damaged").count()),
        (Some(1), 2),
        "{}",
        listed.stdout
    );

    let older = run(folder, &[&RUN[..], &["--allow-older-checkpoint"]].concat());
    assert_eq!(older.code, Some(0), "{}", older.stderr);
    assert!(older.stderr.contains("passes over checkpoint "), "{}", older.stderr);
    assert_eq!(copied(folder), all_numbers());
}

#[test]
fn what_checkpoints_have_cost_is_told_to_scripts() {
    let folder = fresh();
    let folder = folder.path();
    fs::write(folder.join("q.sql"), numbers("SET 'state.checkpoints.num-retained' = '100';")).unwrap();
    assert_eq!(run(folder, &RUN).code, Some(0));
    let ls = ["checkpoints", "ls", "--data-dir", "data", "--output", "json"];
    let listed = run(folder, &ls);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let checkpoints: Vec<Value> = listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(checkpoints.len() > 3, "{}", listed.stdout);
    // The file of parts has the number of the run before that of the checkpoint.
    let bytes_of = |end: String| {
        let checkpoints = folder.join("data/checkpoints");
        let file = names(&checkpoints).into_iter().find(|name| name.ends_with(&end));
        file.map_or(0, |file| fs::metadata(checkpoints.join(file)).unwrap().len())
    };
    for checkpoint in &checkpoints {
        let epoch = checkpoint["checkpoint"].as_u64().unwrap();
        let written = bytes_of(format!("{epoch:010}.parts")) + bytes_of(format!("{epoch:010}.manifest"));
        assert_eq!(checkpoint["written_bytes"].as_u64(), Some(written), "{checkpoint}");
        // Nothing was processed before the first, which says where sinks will write; behind the last nothing is.
        let pause_ms = checkpoint["longest_pause_ms"].as_f64().unwrap();
        assert!(pause_ms > 0.0 || epoch == 0 || checkpoint["finished"] == true, "{checkpoint}");
        assert!(checkpoint["time"].as_str().unwrap().ends_with('Z') && checkpoint["state_bytes"].is_u64());
    }
    let last = checkpoints.last().unwrap();
    assert_eq!(last["finished"], true);

    let manifest = format!("data/checkpoints/{:010}.manifest", last["checkpoint"].as_u64().unwrap());
    fs::write(folder.join(manifest), "cut off").unwrap();
    let listed = run(folder, &ls);
    assert_eq!(listed.code, Some(1));
    let damaged: Value = serde_json::from_str(listed.stdout.lines().last().unwrap()).unwrap();
    assert!(damaged["error"].as_str().unwrap().starts_with("the manifest is damaged"), "{damaged}");
}

#[test]
fn checkpoints_may_be_kept_elsewhere() {
    let folder = fresh();
    let folder = folder.path();
    let elsewhere = folder.join("elsewhere");
    let setting = format!("SET 'execution.checkpointing.dir' = 'file://{}';", elsewhere.display());
    fs::write(folder.join("q.sql"), numbers(&setting)).unwrap();
    interrupt(started(folder));
    assert_eq!(names(&folder.join("data")), ["lock", "savepoints"]);
    let listed = run(folder, &["checkpoints", "ls", "--from", &elsewhere.to_string_lossy()]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert_eq!(run(folder, &RUN).code, Some(0));
    assert_eq!(copied(folder), all_numbers());
}

#[test]
fn what_can_not_be_kept_is_refused_by_name() {
    let folder = fresh();
    let folder = folder.path();
    let stdin = "CREATE TABLE typed (a INT) WITH ('connector' = 'stdio', 'format' = 'json');\nSELECT a FROM typed;\n";
    let dir = "SET 'execution.checkpointing.dir' = 'there';\n";
    for (sql, arguments, says) in [
        (stdin.to_owned(), &RUN[..], "a run can't go on reading the table 'typed' where another has stopped"),
        (
            numbers(""),
            &["run", "q.sql", "--batch", "--data-dir", "data"],
            "a batch has no checkpoints to keep in --data-dir",
        ),
        (numbers(dir), &["run", "q.sql"], "checkpoints are to be kept in 'there', but the run has no --data-dir"),
        (
            numbers("SET 'execution.checkpointing.dir' = 'hdfs://there/x';"),
            &RUN[..],
            "'hdfs://there/x' is no place for checkpoints",
        ),
        (numbers("SET 'execution.checkpointing.num-retained' = '0';"), &RUN[..], "'0' is not a number of checkpoints"),
    ] {
        fs::write(folder.join("q.sql"), sql).unwrap();
        let refused = run(folder, arguments);
        assert_eq!(refused.code, Some(2), "{says}: {}", refused.stderr);
        assert!(refused.stderr.contains(says), "{says}: {}", refused.stderr);
    }
}

#[test]
fn sinks_that_show_rows_at_once_say_so() {
    let folder = fresh();
    let folder = folder.path();
    let sql = "CREATE TABLE numbers (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '2');
CREATE TABLE shown (id BIGINT) WITH ('connector' = 'print');
INSERT INTO shown SELECT id FROM numbers;
SELECT id FROM numbers;
";
    fs::write(folder.join("q.sql"), sql).unwrap();
    let finished = run(folder, &RUN);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let told =
        finished.stderr.matches("at least once: rows since the last checkpoint come again after a crash").count();
    assert_eq!(told, 2, "{}", finished.stderr);
}

/// A store that takes a connection and never answers.
#[test]
fn a_store_that_hangs_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || listener.incoming().map(Result::unwrap).collect::<Vec<_>>());
    let folder = fresh();
    let folder = folder.path();
    let settings =
        "SET 'execution.checkpointing.dir' = 's3://bucket/job';\nSET 'execution.checkpointing.timeout' = '500 ms';";
    fs::write(folder.join("q.sql"), numbers(settings)).unwrap();
    let mut command: Command = Program::in_folder(folder).command(&RUN);
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_REGION", "us-east-1")];
    command.envs(keys).env("AWS_ENDPOINT_URL", endpoint).env("AWS_ALLOW_HTTP", "true");
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("'s3://bucket/job'") && stderr.contains("'execution.checkpointing.timeout'"), "{stderr}");
}
