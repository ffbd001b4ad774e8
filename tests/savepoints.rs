//! Savepoints: how they are made, what a changed pipeline can begin from, what it is refused, and what is said.
//!
//! That nothing is lost or doubled when a job is handed over at any moment is the crash test's business.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tidemill_state::DataDir;
use tidemill_tests::folder::{fresh, names};
use tidemill_tests::program::{Finished, Program, interrupt};

/// Longer than any machine needs: a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

const ROWS: i64 = 1_500;

/// Numbers, a thousand a second.
const SOURCE: &str = "SET 'execution.checkpointing.interval' = '30 ms';
CREATE TABLE numbers (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000', 'number-of-rows' = '1500',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '1499');
";

/// They go into files.
const COPIED: &str = "
CREATE TABLE copied (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'copied', 'format' = 'json');
INSERT INTO copied SELECT id FROM numbers;
";

/// How many there are of each remainder.
const COUNTED: &str = "
CREATE TABLE counted (remainder BIGINT, numbers BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'counted', 'format' = 'debezium-json');
INSERT INTO counted SELECT id % 7, count(*) FROM numbers GROUP BY id % 7;
";

/// A folder with the job, which has been stopped before its end.
fn stopped(sql: &str) -> TempDir {
    let folder = fresh();
    fs::write(folder.path().join("q.sql"), sql).unwrap();
    interrupt(started(folder.path(), "data"));
    assert!(rows(folder.path(), "copied").len() < ROWS as usize, "it has come to its end");
    folder
}

/// Starts the job of `q.sql`, and waits until some rows are committed.
fn started(folder: &Path, data: &str) -> Child {
    let mut command = Program::in_folder(folder).command(&["run", "q.sql", "--data-dir", data, "--parallelism", "2"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while rows(folder, "copied").is_empty() {
        assert!(begun.elapsed() < PATIENCE, "nothing is committed");
        sleep(Duration::from_millis(5));
    }
    child
}

fn run(folder: &Path, arguments: &[&str]) -> Finished {
    Program::in_folder(folder).run(arguments)
}

/// Makes a savepoint of the job of `data`, and runs `sql` from it to its end, as the job of `next`.
fn changed(folder: &Path, sql: &str, more: &[&str]) -> Finished {
    if !folder.join("savepoint").exists() {
        let made = run(folder, &["savepoint", "--data-dir", "data", "savepoint"]);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
    }
    fs::write(folder.join("changed.sql"), sql).unwrap();
    run(folder, &[&["run", "changed.sql", "--data-dir", "next", "--from-savepoint", "savepoint"], more].concat())
}

/// The rows that the visible files of a table leave; a change adds its row after, and takes away its row before.
fn rows(folder: &Path, table: &str) -> Vec<Value> {
    let mut times: BTreeMap<String, i64> = BTreeMap::new();
    for name in names(&folder.join(table)).into_iter().filter(|name| !name.starts_with('.')) {
        for line in fs::read_to_string(folder.join(table).join(name)).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let (row, more) = match line["op"].as_str() {
                Some("d") => (&line["before"], -1),
                Some(_) => (&line["after"], 1),
                None => (&line, 1),
            };
            *times.entry(row.to_string()).or_default() += more;
        }
    }
    let repeated = times
        .into_iter()
        .flat_map(|(row, times)| vec![serde_json::from_str(&row).unwrap(); usize::try_from(times).unwrap()]);
    repeated.collect()
}

/// All numbers are there, once.
fn assert_all_are_copied(folder: &Path) {
    let mut ids: Vec<i64> = rows(folder, "copied").iter().map(|row| row["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.iter().copied().eq(0..ROWS), "{} rows", ids.len());
}

/// Of each remainder there are as many as numbers have it.
fn assert_all_are_counted(folder: &Path) {
    let counted: BTreeMap<i64, i64> = rows(folder, "counted")
        .iter()
        .map(|row| (row["remainder"].as_i64().unwrap(), row["numbers"].as_i64().unwrap()))
        .collect();
    let expected = (0..7).map(|remainder| (remainder, (0..ROWS).filter(|id| id % 7 == remainder).count() as i64));
    assert_eq!(counted, expected.collect());
}

#[test]
fn columns_views_and_sinks_can_be_added() {
    let folder = stopped(&[SOURCE, COPIED, COUNTED].concat());
    let folder = folder.path();
    let source = SOURCE.replace("(id BIGINT)", "(note STRING, id BIGINT)");
    let added = "CREATE VIEW evens AS SELECT id, note FROM numbers WHERE id % 2 = 0;
CREATE TABLE ends (remainder BIGINT, evens BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'ends', 'format' = 'debezium-json');
INSERT INTO ends SELECT id % 10, count(note) FROM evens GROUP BY id % 10;
";
    let counted = COUNTED.replace("GROUP BY", "WHERE id >= 0 GROUP BY");
    let done = changed(folder, &[&source, added, COPIED, &counted].concat(), &["--parallelism", "3"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("begins from the savepoint 'savepoint', of epoch "), "{}", done.stderr);
    assert_all_are_copied(folder);
    assert_all_are_counted(folder);
    // What was added sees what comes from the savepoint on.
    let ends = rows(folder, "ends");
    let evens: i64 = ends.iter().map(|row| row["evens"].as_i64().unwrap()).sum();
    assert!(ends.len() == 5 && evens > 0 && evens < ROWS / 2, "{ends:?}");
}

/// How many numbers there are in each span of 50, each of which is a millisecond.
fn windowed(delay: &str) -> String {
    let source = SOURCE.replace(
        "(id BIGINT)",
        &format!("(id BIGINT, ts AS TO_TIMESTAMP_LTZ(id, 3), WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND)"),
    );
    source
        + COPIED
        + "CREATE TABLE spans (start_ms BIGINT, numbers BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'spans', 'format' = 'json');
INSERT INTO spans SELECT MIN(id), COUNT(*) FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '0.05' SECOND))
GROUP BY window_start, window_end;
"
}

#[test]
fn the_delay_of_a_watermark_can_be_changed() {
    let folder = stopped(&windowed("0.3"));
    let folder = folder.path();
    let done = changed(folder, &windowed("0.7"), &[]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_all_are_copied(folder);
    let spans: BTreeMap<i64, i64> = rows(folder, "spans")
        .iter()
        .map(|row| (row["start_ms"].as_i64().unwrap(), row["numbers"].as_i64().unwrap()))
        .collect();
    assert_eq!(spans, (0..ROWS).step_by(50).map(|start| (start, 50)).collect());
}

#[test]
fn what_nobody_takes_up_is_refused_by_name_unless_that_is_allowed() {
    let folder = stopped(&[SOURCE, COPIED, COUNTED].concat());
    let folder = folder.path();
    let without = [SOURCE, COPIED].concat();
    let refused = changed(folder, &without, &[]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let says = "error: the savepoint 'savepoint' has state that no operator of this job takes up: 'group of counted', \
                'sink counted'\n";
    assert!(refused.stderr.starts_with(says), "{}", refused.stderr);
    assert!(refused.stderr.contains("--allow-non-restored-state"), "{}", refused.stderr);

    let done = changed(folder, &without, &["--allow-non-restored-state"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("leaves out the state of 'group of counted'\n"), "{}", done.stderr);
    assert_all_are_copied(folder);
}

#[test]
fn a_statement_whose_table_has_another_name_keeps_its_state() {
    let folder = stopped(&[SOURCE, COPIED, COUNTED].concat());
    let folder = folder.path();
    let renamed = COUNTED.replace("TABLE counted", "TABLE tallied").replace("INTO counted", "INTO tallied");
    let done = changed(folder, &[SOURCE, COPIED, &renamed].concat(), &["--allow-non-restored-state"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let left: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("leaves out")).collect();
    assert_eq!(left, ["leaves out the state of 'sink counted'"]);
    assert_all_are_counted(folder);
}

#[test]
fn an_operator_that_does_something_else_is_told_with_what_it_did() {
    let folder = stopped(&[SOURCE, COPIED, COUNTED].concat());
    let count = "group by (%(id, 7)): count(Int64(1))";
    for (what, by, instead) in [
        ("count(*)", "sum(id)", "group by (%(id, 7)): sum(numbers.id)"),
        ("id % 7", "id % 8", "group by (%(id, 8)): count(Int64(1))"),
        (
            "count(*)",
            "count(*) FILTER (WHERE id > 3)",
            "group by (%(id, 7)): count(Int64(1)) FILTER (WHERE numbers.id > Int64(3))",
        ),
    ] {
        let refused = changed(folder.path(), &[SOURCE, COPIED, &COUNTED.replace(what, by)].concat(), &[]);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        let says = format!("takes up: 'group of counted', which was: {count}; the job has instead: {instead}\n");
        assert!(refused.stderr.contains(&says), "{}", refused.stderr);
    }
}

/// What an operator keeps is of use only while the columns that it reads, and what it has told, mean the same.
#[test]
fn an_operator_whose_rows_mean_something_else_is_refused() {
    let events = "SET 'execution.checkpointing.interval' = '30 ms';
CREATE TABLE events (v INT, v2 INT, k STRING, n BIGINT, ts AS TO_TIMESTAMP_LTZ(n * 10, 3), ts2 AS TO_TIMESTAMP_LTZ(n * 20, 3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'datagen', 'rows-per-second' = '1000', 'number-of-rows' = '1500', 'fields.n.kind' = 'sequence',
    'fields.n.start' = '0', 'fields.n.end' = '1499', 'fields.k.length' = '1', 'fields.v.max' = '9', 'fields.v.min' = '0',
    'fields.v2.max' = '99', 'fields.v2.min' = '0');
CREATE VIEW read AS SELECT k AS x, v AS y, v2, n, ts, ts2 FROM events;
CREATE TABLE copied (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'copied', 'format' = 'json');
INSERT INTO copied SELECT n FROM events;
CREATE TABLE sums (x STRING, y BIGINT, z BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO sums SELECT x, sum(y), approx_count_distinct(v2) FROM read GROUP BY x;
CREATE TABLE sessions (x STRING, y BIGINT, z BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO sessions SELECT x, sum(y), sum(v2)
  FROM TABLE(SESSION(TABLE read PARTITION BY x, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY x, window_start, window_end;
CREATE TABLE windows (x STRING, z BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO windows SELECT x, sum(v2)
  FROM TABLE(TUMBLE(TABLE read, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY x, window_start, window_end;
CREATE TABLE best (x STRING, v2 BIGINT, place BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO best SELECT x, v2, place FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY x ORDER BY v2) AS place FROM read) WHERE place <= 2;
";
    let folder = stopped(events);
    for (what, by, operator) in [
        // Columns of one type in another order are not taken up by their place.
        ("(v INT, v2 INT, ", "(v2 INT, v INT, ", ""),
        ("k AS x", "UPPER(k) AS x", "'group of sums', whose columns come from others now, or in another order"),
        ("v AS y", "v2 AS y", "'group of sums'"),
        ("v2 INT, k STRING", "v2 BIGINT, k STRING", "'group of sums'"),
        ("WATERMARK FOR ts AS ts -", "WATERMARK FOR ts2 AS ts2 -", "'window TUMBLE(size 3600000 ms) of windows'"),
        ("n * 10, 3), ts2", "n * 11, 3), ts2", "'window SESSION(gap 3600000 ms, by x) of sessions'"),
        ("ORDER BY v2)", "ORDER BY v2 NULLS LAST)", "'top 2 of best'"),
        (
            "SET 'exec",
            "SET 'table.exec.emit.allow-lateness' = '10 s';\nSET 'exec",
            "'window TUMBLE(size 3600000 ms) of windows', which was: window TUMBLE(size 3600000 ms) by (x): sum(read.v2)",
        ),
    ] {
        let sql = events
            .replacen(what, by, 1)
            .replace("DESCRIPTOR(ts)", if by.starts_with("WATERMARK") { "DESCRIPTOR(ts2)" } else { "DESCRIPTOR(ts)" });
        let refused = changed(folder.path(), &sql, &["--parallelism", "2"]);
        if operator.is_empty() {
            assert_eq!(refused.code, Some(0), "{by}: {}", refused.stderr);
            fs::remove_dir_all(folder.path().join("next")).unwrap();
            continue;
        }
        assert_eq!(refused.code, Some(2), "{by}: {}", refused.stderr);
        assert!(refused.stderr.contains(operator), "{by}: {}", refused.stderr);
    }
    // A checkpoint of the job's own is of no use to what tells other results, either.
    let early = "SET 'table.exec.emit.early-fire.enabled' = 'true';\nSET 'table.exec.emit.early-fire.delay' = '1 s';\n";
    fs::write(folder.path().join("q.sql"), [early, events].concat()).unwrap();
    let refused = run(folder.path(), &["run", "q.sql", "--data-dir", "data", "--parallelism", "2"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let told = "sessions with a gap of 3600000 ms by (x): sum(read.y), sum(read.v2)";
    let says = format!(" was: {told}; and is: {told}, told early\n");
    assert!(refused.stderr.contains(&says), "{}", refused.stderr);
}

#[test]
fn a_job_that_runs_makes_its_savepoint_itself_and_goes_on() {
    let folder = fresh();
    let folder = folder.path();
    fs::write(folder.join("q.sql"), [SOURCE, COPIED, COUNTED].concat()).unwrap();
    // Nobody waits any more for what was asked of an earlier run.
    fs::create_dir_all(folder.join("data/savepoints")).unwrap();
    let stale = format!("{{\"to\":\"{}\"}}", folder.join("stale").display());
    fs::write(folder.join("data/savepoints/1.request"), stale).unwrap();
    let mut job = started(folder, "data");
    let made = run(folder, &["savepoint", "--data-dir", "data", "savepoint"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stdout.starts_with("savepoint is a savepoint of epoch "), "{}", made.stdout);
    assert_eq!(made.stderr, "the job of 'data' is running: it makes the savepoint, and goes on\n");
    let again = run(folder, &["savepoint", "--data-dir", "data", "savepoint"]);
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    assert!(again.stderr.contains("/savepoint' has a savepoint or checkpoints already"), "{}", again.stderr);
    assert!(job.wait().unwrap().success());
    assert_all_are_copied(folder);
    assert_all_are_counted(folder);
    assert_eq!(names(&folder.join("data/savepoints")), [""; 0], "requests and answers are gone");
    assert!(!folder.join("stale").exists());
    let shown = run(folder, &["checkpoints", "show", "--from", "savepoint"]);
    assert!(shown.stdout.contains("the job\n0: source numbers (parallelism 2)\n"), "{}", shown.stdout);

    // Another version of the job, which writes elsewhere, leaves what the first has written as it is.
    let elsewhere = [SOURCE, COPIED, COUNTED].concat().replace("'path' = '", "'path' = 'other/");
    let done = changed(folder, &elsewhere, &["--parallelism", "1"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_all_are_copied(folder);
    let other = rows(&folder.join("other"), "copied");
    assert!(!other.is_empty() && other.len() < ROWS as usize, "{} rows", other.len());
    assert_eq!(other.iter().map(|row| row["id"].as_i64()).max(), Some(Some(ROWS - 1)));
}

#[test]
fn a_job_that_began_from_a_savepoint_goes_on_from_its_own_checkpoints() {
    let folder = stopped(&[SOURCE, COPIED, COUNTED].concat());
    let folder = folder.path();
    for to in ["savepoint", "twin"] {
        assert_eq!(run(folder, &["savepoint", "--data-dir", "data", to]).code, Some(0));
    }
    let arguments = ["run", "q.sql", "--data-dir", "next", "--from-savepoint"];
    let mut command = Program::in_folder(folder).command(&[&arguments[..], &["savepoint"]].concat());
    let before = rows(folder, "copied").len();
    let mut job = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while rows(folder, "copied").len() == before {
        sleep(Duration::from_millis(5));
    }
    job.kill().unwrap();
    job.wait().unwrap();

    let refused = run(folder, &[&arguments[..], &["twin"]].concat());
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.starts_with("error: the job can't begin from 'twin': it has checkpoints in "),
        "{}",
        refused.stderr
    );
    let done = run(folder, &[&arguments[..], &["savepoint"]].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("goes on from checkpoint "), "{}", done.stderr);
    assert_all_are_copied(folder);
    assert_all_are_counted(folder);
}

#[test]
fn a_job_that_takes_no_requests_is_told() {
    let folder = stopped(&[SOURCE, COPIED, COUNTED].concat());
    let data = folder.path().join("data");
    // As a program has it that is no `tidemill run`.
    fs::remove_dir_all(data.join("savepoints")).unwrap();
    let owned = DataDir::lock(&data).unwrap();
    let refused = run(folder.path(), &["savepoint", "--data-dir", "data", "to"]);
    drop(owned);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("the job of 'data' is running, and takes no requests"), "{}", refused.stderr);
    assert!(!folder.path().join("to").exists());
}

#[test]
fn what_is_no_savepoint_is_told() {
    let folder = stopped(&[SOURCE, COPIED, COUNTED].concat());
    let folder = folder.path();
    let cases: [(&[&str], &str); 7] = [
        (&["savepoint", "--data-dir", "nowhere", "to"], "there is no data directory 'nowhere'"),
        (&["run", "q.sql", "--data-dir", "next", "--from-savepoint", "nowhere"], "there is no savepoint in 'nowhere'"),
        (
            &["run", "q.sql", "--data-dir", "next", "--from-savepoint", "data/checkpoints"],
            "there is no savepoint in 'data/checkpoints': that is a checkpoint",
        ),
        (
            &["savepoint", "--data-dir", "data", "data/checkpoints"],
            "/data/checkpoints' is in the data directory of the job",
        ),
        (&["savepoint", "--data-dir", "data", "./data/new/one"], "/data/new/one' is in the data directory of the job"),
        (&["savepoint", "--data-dir", "data", ""], "the place of the savepoint has no name"),
        (&["run", "q.sql", "--from-savepoint", "savepoint"], "--data-dir <DIR>"),
    ];
    for (arguments, says) in cases {
        let refused = run(folder, arguments);
        assert_eq!(refused.code, Some(2), "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(says), "{arguments:?}: {}", refused.stderr);
    }
    // A job that has ended has nothing to go on with.
    assert_eq!(run(folder, &["run", "q.sql", "--data-dir", "data", "--parallelism", "2"]).code, Some(0));
    let refused = run(folder, &["savepoint", "--data-dir", "data", "to"]);
    assert!(refused.stderr.contains("the job has come to the end of its input"), "{}", refused.stderr);
    assert!(!folder.join("to").exists());
}
