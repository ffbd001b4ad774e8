//! `tidemill check`: what is told of a file before it runs.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tidemill_tests::folder::{fresh, names};
use tidemill_tests::program::{Finished, Program};

const TABLES: &str = "CREATE TABLE events (id BIGINT, kind STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'not-there.json', 'format' = 'json');
CREATE TABLE pipe (id BIGINT, kind STRING) WITH ('connector' = 'stdio', 'format' = 'json');
CREATE TABLE files (kind STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
CREATE TABLE shown (kind STRING, n BIGINT) WITH ('connector' = 'print');
";

fn check(sql: &str, options: &[&str]) -> Finished {
    let folder = fresh();
    fs::write(folder.path().join("q.sql"), format!("{TABLES}{sql}\n")).unwrap();
    let finished = Program::in_folder(folder.path()).run(&[&["check", "q.sql"][..], options].concat());
    assert_eq!(names(folder.path()), ["q.sql"], "nothing is written");
    finished
}

/// What is found out of the only statement.
fn object(sql: &str) -> Value {
    let Finished { stdout, stderr, .. } = check(sql, &["--output", "json"]);
    assert_eq!((stderr.as_str(), stdout.lines().count()), ("", 1), "{sql}");
    serde_json::from_str(&stdout).unwrap()
}

fn codes(object: &Value) -> Vec<String> {
    let findings = object["findings"].as_array().unwrap().iter();
    findings.map(|f| format!("{} {}", f["severity"].as_str().unwrap(), f["code"].as_str().unwrap())).collect()
}

/// The message of the finding with this code.
fn message(object: &Value, code: &str) -> String {
    let found = object["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == code);
    found.unwrap_or_else(|| panic!("no {code} in {object}"))["message"].as_str().unwrap().to_owned()
}

const WINDOW: &str = "SELECT kind, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, kind";

#[test]
fn a_window_keeps_nothing_for_ever_and_loses_late_rows() {
    let found = object(&format!("INSERT INTO files {WINDOW};"));
    assert_eq!(found["statement"], "files");
    assert_eq!((&found["target"], &found["line"]), (&"files".into(), &6.into()));
    assert_eq!(found["live"]["changelog"], "append");
    assert!(found["live"]["plan"].as_str().unwrap().contains("window TUMBLE(size 60000 ms) by (kind)"), "{found}");
    assert_eq!(found["batch"], serde_json::json!({}));
    assert_eq!(codes(&found), ["warning no-delay", "note late-rows-not-kept"]);
}

#[test]
fn state_without_a_bound_is_named_by_the_operator_that_keeps_it() {
    for (sql, keeps) in [
        ("SELECT kind, COUNT(*) AS n FROM events GROUP BY kind;", "a row for each (kind)"),
        ("SELECT DISTINCT kind, id FROM events;", "a row for each (kind, id)"),
        ("SELECT COUNT(DISTINCT id) AS n FROM events;", "the values of count"),
        (
            "SELECT * FROM (SELECT id, kind, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY id) AS r FROM events) WHERE r <= 3;",
            "3 rows for each (kind)",
        ),
        (
            "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY id) AS r \
             FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) WHERE r <= 2;",
            "2 rows for each (window_start, window_end)",
        ),
        ("SELECT MAX(n) AS most FROM (SELECT kind, COUNT(*) AS n FROM events GROUP BY kind);", "the values of max(n)"),
        (
            "SELECT kind, LISTAGG(kind) AS l FROM events GROUP BY kind;",
            "with the values of listagg(events.kind) in memory",
        ),
        (
            "SELECT kind, n FROM (SELECT kind, COUNT(*) AS n FROM events GROUP BY kind) ORDER BY n DESC LIMIT 3;",
            "all rows, since one that is taken back",
        ),
    ] {
        let found = object(sql);
        assert!(codes(&found).contains(&"warning unbounded-state".to_owned()), "{sql}: {found}");
        let kept: Vec<String> =
            found["findings"].as_array().unwrap().iter().map(|f| f["message"].to_string()).collect();
        assert!(kept.iter().any(|message| message.contains(keeps)), "{sql}: {kept:?}");
    }
    for sql in [
        "SELECT COUNT(*) AS n, MAX(id) AS last FROM events;",
        "SELECT id, kind FROM events ORDER BY id LIMIT 3;",
        "SELECT id FROM events WHERE kind = 'a';",
        WINDOW,
    ] {
        assert!(!codes(&object(sql)).iter().any(|code| code.contains("unbounded-state")), "{sql}");
    }
}

#[test]
fn what_a_sink_guarantees_and_when_it_shows_rows_is_told() {
    let grouped = "SELECT kind, COUNT(*) AS n FROM events GROUP BY kind;";
    let found = object(&format!("INSERT INTO shown {grouped}"));
    assert_eq!(found["live"]["changelog"], "retract");
    assert!(codes(&found).contains(&"note at-least-once".to_owned()), "{found}");
    let endless = object("INSERT INTO files SELECT kind, id FROM pipe;");
    assert_eq!(codes(&endless), ["note no-watermark"], "standard input ends: {endless}");
    let generated = "CREATE TABLE made (kind STRING, n BIGINT) WITH ('connector' = 'datagen');\n";
    let endless = object(&format!("{generated}INSERT INTO files SELECT kind, n FROM made;"));
    assert_eq!(codes(&endless), ["warning no-commit", "note no-watermark"]);
    assert_eq!(endless["batch"]["refused"], "the table 'made' has no end, so it can't run as a batch");
    let commits = "SET 'execution.checkpointing.interval' = '10 s';\n";
    let committed = object(&format!("{commits}{generated}INSERT INTO files SELECT kind, n FROM made;"));
    assert_eq!(codes(&committed), ["note no-watermark"]);
}

#[test]
fn what_depends_on_the_time_of_arrival_is_told() {
    let early = "SET 'table.exec.emit.early-fire.enabled' = 'true'; SET 'table.exec.emit.early-fire.delay' = '10 s';\n";
    let found = object(&format!("{early}{WINDOW};"));
    assert!(codes(&found).contains(&"note provisional".to_owned()), "{found}");
    assert!(message(&found, "late-rows-not-kept").contains("counted"));
}

#[test]
fn a_refusal_is_the_exit_code_of_the_driver_that_is_meant() {
    let updates = "INSERT INTO files SELECT kind, COUNT(*) AS n FROM events GROUP BY kind;";
    let live = check(updates, &[]);
    assert_eq!(live.code, Some(2));
    for part in ["live: does not run", "takes only rows that are added", "--> q.sql:6:1", "batch: runs", "1 refused"] {
        assert!(live.stdout.contains(part), "{part} is not in\n{}", live.stdout);
    }
    assert_eq!(check(updates, &["--batch"]).code, Some(0));
    assert_eq!(check(&format!("SET 'execution.runtime-mode' = 'batch';\n{updates}"), &[]).code, Some(0));
    let found = object(updates);
    assert!(found["live"]["refused"].as_str().unwrap().contains("updates its result"), "{found}");
    assert!(found["live"]["hint"].as_str().unwrap().contains("'print'"), "{found}");
}

#[test]
fn warnings_count_where_they_are_meant_to() {
    let sql = "SELECT kind, COUNT(*) AS n FROM events GROUP BY kind;";
    assert_eq!(check(sql, &[]).code, Some(0));
    assert_eq!(check(sql, &["--strict"]).code, Some(1));
    assert_eq!(check("SELECT id FROM events;", &["--strict"]).code, Some(0));
    let wrong = check("SELECT idd FROM events;", &[]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
    assert!(wrong.stderr.contains("did you mean 'id'?"), "{}", wrong.stderr);
}

#[test]
fn what_a_batch_does_not_keep_is_no_warning_for_it() {
    let sql = "SELECT kind, COUNT(*) AS n FROM events GROUP BY kind;";
    let batch = check(sql, &["--batch", "--strict"]);
    assert_eq!(batch.code, Some(0), "{}", batch.stdout);
    assert!(batch.stdout.contains("0 warnings") && !batch.stdout.contains("unbounded-state"), "{}", batch.stdout);
    let shown = check(&format!("INSERT INTO shown {sql}"), &["--batch", "--output", "json"]);
    assert_eq!(codes(&serde_json::from_str(&shown.stdout).unwrap()), ["note at-least-once"]);
}

#[test]
fn plans_are_shown_where_they_are_asked_for() {
    let plan = "0: source events";
    assert!(!check("SELECT id FROM events;", &[]).stdout.contains(plan));
    assert!(check("SELECT id FROM events;", &["--plan"]).stdout.contains(plan));
}

#[test]
fn the_examples_are_checked() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for file in ["orders/pipeline.sql", "orders/ticker.sql", "ecom/pipeline.sql", "shop/pipeline.sql"] {
        let finished = Program::in_folder(&examples).run(&["check", file]);
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{file}: {}", finished.stdout);
    }
}
