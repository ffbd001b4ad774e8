//! `source.monitor-interval`: files that appear while the program runs, their floors, and its end.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tidemill_tests::folder::fresh;
use tidemill_tests::program::Program;
use tidemill_tests::rows::written_rows;
use tidemill_tests::running::Running;

const SQL: &str = "CREATE TABLE orders (
  category STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '20 ms');
";

const BY_MINUTE: &str = "SELECT window_start, category, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
";

/// Puts a file into the folder, whole at once.
fn add(folder: &Path, name: &str, orders: &[(&str, &str)]) {
    let row =
        |(category, time): &(&str, &str)| format!("{{\"category\": \"{category}\", \"ts\": \"2026-11-29 {time}\"}}\n");
    let hidden = folder.join("in").join(format!(".{name}"));
    fs::write(&hidden, orders.iter().map(row).collect::<String>()).unwrap();
    fs::rename(hidden, folder.join("in").join(name)).unwrap();
}

fn folder() -> TempDir {
    let folder = fresh();
    fs::create_dir(folder.path().join("in")).unwrap();
    folder
}

fn follow(folder: &Path) -> Running {
    Running::start(folder, &[SQL, BY_MINUTE].concat(), &["--output", "json"])
}

fn count(category: &str, minute: &str, orders: u32) -> String {
    format!(r#"{{"op":"+I","window_start":"2026-11-29T{minute}:00.000","category":"{category}","orders":{orders}}}"#)
}

#[test]
fn files_that_appear_are_read_and_the_end_of_one_is_not_the_end_of_input() {
    let folder = folder();
    add(folder.path(), "a.json", &[("toys", "10:00:10"), ("toys", "10:01:05")]);
    let running = follow(folder.path());
    // The watermark is 10:01:00 and stays there, though all files are read.
    assert_eq!(running.wait_for(1), [count("toys", "10:00", 1)]);
    running.assert_silent();
    add(folder.path(), "b.json", &[("books", "10:01:20"), ("books", "10:02:30")]);
    assert_eq!(running.wait_for(2), [count("books", "10:01", 1), count("toys", "10:01", 1)]);
    // The file that is behind counts no more: it has ended.
    add(folder.path(), "c.json", &[("games", "10:02:40"), ("games", "10:05:00")]);
    assert_eq!(running.wait_for(2), [count("books", "10:02", 1), count("games", "10:02", 1)]);
    running.interrupt();
    let (code, rest, _) = running.end_by_itself();
    assert_eq!((code, rest), (Some(130), vec![]), "an open window is not given as final");
}

#[test]
fn a_row_of_a_later_file_is_late_by_what_has_gone_out_before() {
    let folder = folder();
    add(folder.path(), "a.json", &[("toys", "10:00:10"), ("toys", "10:03:05")]);
    let running = follow(folder.path());
    assert_eq!(running.wait_for(1), [count("toys", "10:00", 1)]);
    // Its floor is 10:03:00: its first row would be in time by its own file.
    add(folder.path(), "b.json", &[("books", "10:00:20"), ("books", "10:03:20"), ("books", "10:04:05")]);
    assert_eq!(running.wait_for(2), [count("books", "10:03", 1), count("toys", "10:03", 1)]);
    running.interrupt();
    let (_, _, messages) = running.end_by_itself();
    assert!(messages.contains("query: 1 of 5 rows late"), "{messages}");
}

#[test]
fn a_folder_may_be_empty_at_first_and_a_pattern_may_fit_nothing() {
    for path in ["in", "in/*.json"] {
        let folder = folder();
        let sql = [&SQL.replace("'in'", &format!("'{path}'")), BY_MINUTE].concat();
        let running = Running::start(folder.path(), &sql, &["--output", "json"]);
        running.assert_silent();
        add(folder.path(), "a.json", &[("toys", "10:00:10"), ("toys", "10:01:05")]);
        assert_eq!(running.wait_for(1), [count("toys", "10:00", 1)]);
        running.interrupt();
        assert_eq!(running.end_by_itself().0, Some(130));
    }
}

#[test]
fn a_batch_reads_what_is_there() {
    let folder = folder();
    add(folder.path(), "a.json", &[("toys", "10:00:10"), ("toys", "10:01:05")]);
    fs::write(folder.path().join("query.sql"), [SQL, BY_MINUTE].concat()).unwrap();
    for command in [&["run", "query.sql", "--batch", "--output", "json"][..], &["reconcile", "query.sql"]] {
        let finished = Program::in_folder(folder.path()).run(command);
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    }
}

#[test]
fn a_file_that_can_not_be_read_fails_the_run_and_takes_back_what_is_not_committed() {
    let folder = folder();
    let sink = "CREATE TABLE out_orders (category STRING)
WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
INSERT INTO out_orders SELECT category FROM orders;
";
    add(folder.path(), "a.json", &[("toys", "10:00:10")]);
    let running = Running::start(folder.path(), &[SQL, sink].concat(), &[]);
    add(folder.path(), "b.json", &[("books", "no time")]);
    let (code, _, messages) = running.end_by_itself();
    assert_eq!(code, Some(1), "{messages}");
    assert!(messages.contains("in/b.json, line 1"), "{messages}");
    assert!(written_rows(&folder.path().join("out"), |_| true).is_empty());
}

/// Orders from standard input and from a followed folder, in one result.
const BOTH: &str = "CREATE TABLE piped (
  category STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'stdio', 'format' = 'json');
SELECT window_start, category, COUNT(*) AS orders
FROM TABLE(TUMBLE((SELECT category, ts FROM orders UNION ALL SELECT category, ts FROM piped), DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
";

fn piped(orders: &[(&str, &str)]) -> String {
    let row =
        |(category, time): &(&str, &str)| format!("{{\"category\": \"{category}\", \"ts\": \"2026-11-29 {time}\"}}\n");
    orders.iter().map(row).collect()
}

#[test]
fn a_source_that_is_idle_holds_up_no_other_and_wakes_with_a_floor() {
    let folder = folder();
    let sql = ["SET 'table.exec.source.idle-timeout' = '100 ms';\n", SQL, BOTH].concat();
    let mut running = Running::start(folder.path(), &sql, &["--output", "json"]);
    // The folder is empty: it is idle, and the pipe's clock is the clock.
    running.write(&piped(&[("toys", "10:00:10"), ("toys", "10:01:10")]));
    assert_eq!(running.wait_for(1), [count("toys", "10:00", 1)]);
    // A file wakes the folder. What it has for the minute that was given is late; the rest counts. The
    // pipe is idle too by now, and goes by the folder's clock.
    add(folder.path(), "a.json", &[("books", "10:00:20"), ("books", "10:01:20"), ("books", "10:02:10")]);
    assert_eq!(running.wait_for(2), [count("books", "10:01", 1), count("toys", "10:01", 1)]);
    // The pipe wakes with a floor, and then the folder goes by its clock.
    running.write(&piped(&[("games", "10:01:50"), ("toys", "10:03:10")]));
    assert_eq!(running.wait_for(1), [count("books", "10:02", 1)]);
    running.interrupt();
    let (code, rest, messages) = running.end();
    assert_eq!((code, rest), (Some(130), vec![]));
    assert!(messages.contains("query: 2 of 7 rows late"), "{messages}");
}

#[test]
fn without_an_idle_timeout_a_union_waits_for_the_silent_source() {
    let folder = folder();
    let mut running = Running::start(folder.path(), &[SQL, BOTH].concat(), &["--output", "json"]);
    running.write(&piped(&[("toys", "10:00:10"), ("toys", "10:01:10")]));
    running.assert_silent();
    add(folder.path(), "a.json", &[("books", "10:00:20"), ("books", "10:01:20")]);
    assert_eq!(running.wait_for(2), [count("books", "10:00", 1), count("toys", "10:00", 1)]);
    running.interrupt();
    assert_eq!(running.end().0, Some(130));
}

#[test]
fn rows_that_nobody_sees_before_the_end_are_told_at_the_beginning() {
    let folder = folder();
    add(folder.path(), "a.json", &[("toys", "10:00:10"), ("toys", "10:01:10")]);
    let to_files = "CREATE TABLE counts (window_start TIMESTAMP(3), category STRING, orders BIGINT) WITH (
  'connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
INSERT INTO counts ";
    let running = Running::start(folder.path(), &[SQL, BY_MINUTE, to_files, BY_MINUTE].concat(), &[]);
    running.wait_for(1);
    running.interrupt();
    let (code, _, stderr) = running.end();
    assert_eq!(code, Some(130), "{stderr}");
    assert!(
        stderr.contains("counts: the input has no end, and the rows of 'counts' become visible at the end"),
        "{stderr}"
    );
    assert!(stderr.contains("SET 'execution.checkpointing.interval' = '10 s'"), "{stderr}");
}
