//! The present time in a running program: it goes on, it is one in a batch, and what it does to the promises is told.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tidemill_tests::folder::fresh;
use tidemill_tests::program::{Finished, Program};
use tidemill_tests::running::Running;

/// Longer than any machine needs: a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

fn object(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}"))
}

const PIPE: &str = "CREATE TABLE pipe (k STRING, p AS PROCTIME()) WITH ('connector' = 'stdio', 'format' = 'json');\n";

#[test]
fn the_time_of_a_live_run_goes_on_and_is_one_for_a_row() {
    let folder = fresh();
    let sql = "SELECT NOW() AS n, p, NOW() = CURRENT_ROW_TIMESTAMP() AND p <= NOW() AS agrees FROM pipe WHERE PROCTIME() >= p;";
    let mut running = Running::start(folder.path(), &[PIPE, sql].concat(), &["--output", "json"]);
    let mut next = || {
        running.write("{\"k\": \"a\"}\n");
        let row = object(&running.wait_for(1)[0]);
        assert_eq!(row["agrees"], true, "{row}");
        (row["n"].as_str().unwrap().to_owned(), row["p"].as_str().unwrap().to_owned())
    };
    let first = next();
    let mut last = first.clone();
    let started = Instant::now();
    while last.0 == first.0 || last.1 == first.1 {
        assert!(started.elapsed() < PATIENCE, "the time stands still at {first:?}");
        let (now, p) = next();
        assert!(now >= last.0 && p >= last.1, "the time went back from {last:?} to {now} and {p}");
        last = (now, p);
    }
    assert_eq!(running.end().0, Some(0));
}

#[test]
fn a_window_by_the_clock_fires_while_the_input_is_open() {
    let folder = fresh();
    let sql = "SELECT k, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE pipe, DESCRIPTOR(p), INTERVAL '1' SECOND))
GROUP BY window_start, window_end, k;";
    let mut running = Running::start(folder.path(), &[PIPE, sql].concat(), &["--output", "json"]);
    for key in ["a", "b"] {
        running.write(&format!("{{\"k\": \"{key}\"}}\n"));
        assert_eq!(running.wait_for(1), [format!(r#"{{"op":"+I","k":"{key}","n":1}}"#)]);
    }
    assert_eq!(running.end(), (Some(0), vec![], String::new()));
}

/// A file of rows, and a table over it.
fn with_rows(folder: &Path, rows: usize) -> String {
    fs::write(folder.join("rows.jsonl"), (0..rows).map(|id| format!("{{\"id\": {id}}}\n")).collect::<String>())
        .unwrap();
    "CREATE TABLE rows_ (id BIGINT, p AS PROCTIME(), s AS CAST(LOCALTIMESTAMP AS STRING))
  WITH ('connector' = 'filesystem', 'path' = 'rows.jsonl', 'format' = 'json');\n"
        .to_owned()
}

fn run(folder: &Path, sql: &str, arguments: &[&str]) -> Finished {
    fs::write(folder.join("q.sql"), sql).unwrap();
    Program::in_folder(folder).run(arguments)
}

#[test]
fn a_batch_has_one_present_time() {
    let folder = fresh();
    // Many batches of rows, several statements, and columns that the table computes.
    let sql = with_rows(folder.path(), 20_000)
        + "SELECT DISTINCT NOW() AS t FROM rows_; SELECT DISTINCT p AS t FROM rows_ WHERE p = CURRENT_TIMESTAMP;
SELECT MAX(CURRENT_ROW_TIMESTAMP()) AS t FROM rows_ WHERE s = CAST(LOCALTIMESTAMP AS STRING);
SELECT DISTINCT PROCTIME() AS t FROM rows_ ORDER BY t;";
    let Finished { code, stdout, stderr } = run(folder.path(), &sql, &["run", "q.sql", "--batch", "--output", "json"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let told: Vec<String> = stdout.lines().map(|line| object(line)["t"].to_string()).collect();
    assert_eq!((told.len(), told.iter().collect::<BTreeSet<_>>().len()), (4, 1), "{told:?}");
}

#[test]
fn check_tells_the_place_of_every_call_that_matters() {
    let folder = fresh();
    let sql = with_rows(folder.path(), 1)
        + "CREATE VIEW v AS SELECT id, p, NOW() AS n, UNIX_TIMESTAMP() AS u FROM rows_;
SELECT id, n, p FROM v WHERE n < NOW();
SELECT id FROM v;
";
    let Finished { code, stdout, stderr } = run(folder.path(), &sql, &["check", "q.sql"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    // In the query, in the view, and in the table; neither the time that nobody reads, nor the computed text.
    for place in ["NOW gives", "q.sql:4:34", "q.sql:3:32", "PROCTIME gives", "q.sql:1:32", "3 warnings"] {
        assert!(stdout.contains(place), "{place} is not in\n{stdout}");
    }
    assert!(!stdout.contains("UNIX_TIMESTAMP") && !stdout.contains("LOCALTIMESTAMP"), "{stdout}");
    let found = run(folder.path(), &sql, &["check", "q.sql", "--output", "json", "--batch"]).stdout;
    let found: Vec<Value> = found.lines().map(object).collect();
    assert_eq!(found[0]["findings"][0]["place"], serde_json::json!({"file": "q.sql", "line": 4, "column": 34}));
    assert_eq!(found[1]["findings"], serde_json::json!([]), "what it does not read does not matter");
}

#[test]
fn reconcile_compares_what_does_not_depend_on_the_clock() {
    let folder = fresh();
    let table = with_rows(folder.path(), 3);
    let balanced = run(folder.path(), &format!("{table}SELECT id FROM rows_;"), &["reconcile", "q.sql"]);
    assert_eq!(balanced.code, Some(0), "{balanced:?}");
    let sql = format!("{table}SELECT id FROM rows_;\nSELECT id,\n  NOW() AS n FROM rows_;");
    let refused = run(folder.path(), &sql, &["reconcile", "q.sql"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    for part in ["NOW gives another value each time", "the batch of 'query#2' can't agree", "q.sql:5:3"] {
        assert!(refused.stderr.contains(part), "{part} is not in\n{}", refused.stderr);
    }
}

const ROWS: usize = 1_500;

/// Numbers, a thousand a second: how many there are in each tenth of a second, and when each was seen.
fn numbers() -> String {
    format!(
        "SET 'execution.checkpointing.interval' = '30 ms';
CREATE TABLE numbers (id BIGINT, p AS PROCTIME()) WITH ('connector' = 'datagen', 'rows-per-second' = '1000',
  'number-of-rows' = '{ROWS}', 'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '{}');
CREATE TABLE counted (w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'counted', 'format' = 'json');
CREATE TABLE seen (id BIGINT, t TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'path' = 'seen', 'format' = 'json');
INSERT INTO counted SELECT window_start, COUNT(*)
FROM TABLE(CUMULATE(TABLE numbers, DESCRIPTOR(p), INTERVAL '0.1' SECOND, INTERVAL '0.1' SECOND))
GROUP BY window_start, window_end;
INSERT INTO seen SELECT id, NOW() FROM numbers;
",
        ROWS - 1
    )
}

/// The rows that stand in the visible files of a folder.
fn visible(folder: &Path) -> Vec<Value> {
    let files = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap());
    let visible = files.filter(|file| !file.file_name().to_string_lossy().starts_with('.'));
    let texts = visible.map(|file| fs::read_to_string(file.path()).unwrap());
    texts.flat_map(|text| text.lines().map(object).collect::<Vec<_>>()).collect()
}

#[test]
fn a_run_that_goes_on_counts_every_row_once() {
    let folder = fresh();
    fs::write(folder.path().join("q.sql"), numbers()).unwrap();
    let arguments = ["run", "q.sql", "--data-dir", "data", "--parallelism", "2"];
    let mut command = Program::in_folder(folder.path()).command(&arguments);
    let mut first = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while visible(&folder.path().join("counted")).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "nothing is committed");
        sleep(Duration::from_millis(5));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let second = Program::in_folder(folder.path()).run(&arguments);
    assert_eq!(second.code, Some(0), "{second:?}");
    let mut counted: BTreeMap<String, u64> = BTreeMap::new();
    for row in visible(&folder.path().join("counted")) {
        let window = row["w"].as_str().unwrap().to_owned();
        let told = counted.insert(window, row["n"].as_u64().unwrap());
        assert_eq!(told, None, "{row} is told twice");
    }
    assert_eq!(counted.values().sum::<u64>(), ROWS as u64, "{counted:?}");
    let mut seen: Vec<u64> =
        visible(&folder.path().join("seen")).iter().map(|row| row["id"].as_u64().unwrap()).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..ROWS as u64).collect::<Vec<_>>());
}
