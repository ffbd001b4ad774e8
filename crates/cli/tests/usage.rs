//! The command line itself: how wrong usage is answered, before any SQL is read.
//!
//! It also makes cargo build the binary whenever the workspace is tested; the whole-program tests run that.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::{Command, Output};

fn tidemill(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tidemill")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn help_teaches_by_example() {
    for command in ["run", "reconcile"] {
        let output = tidemill(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        let help = text(&output.stdout);
        assert!(help.contains(&format!("tidemill {command} ")) && help.contains("Exit codes:"), "{help}");
    }
}

#[test]
fn wrong_usage_exits_with_2_and_prints_nothing() {
    let calls: [&[&str]; 8] = [
        &[],
        &["rnu", "q.sql"],
        &["run"],
        &["run", "q.sql", "--bacth"],
        &["run", "q.sql", "--output", "xml"],
        &["run", "q.sql", "--parallelism", "0"],
        &["run", "q.sql", "--batch-size", "0"],
        &["reconcile", "q.sql", "--live", "a", "--save-live", "b"],
    ];
    for arguments in calls {
        let output = tidemill(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_sql_file_that_is_not_there_is_named() {
    let output = tidemill(&["run", "no/such/query.sql"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no/such/query.sql"), "{}", text(&output.stderr));
}

#[test]
fn explain_shows_the_plan_of_both_drivers_and_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("query.sql");
    let sql = "CREATE TABLE t (a STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'not-there.json', 'format' = 'json');
EXPLAIN SELECT window_start, a, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, a;
EXPLAIN PLAN FOR SELECT a FROM t ORDER BY a;
";
    std::fs::write(&file, sql).unwrap();
    let output = tidemill(&["run", file.to_str().unwrap(), "--parallelism", "2"]);
    let plans = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    for part in [
        "WindowTableFunction: TUMBLE(size 60000 ms), time=t.ts",
        "0: source t (parallelism 2)",
        "fold TUMBLE(size 60000 ms) panes by (a): count",
        "dealt by columns 1",
        "2: sink query (parallelism 1)",
        "SourceExec: table=t, columns=[a, ts]",
        "it does not run live: ORDER BY",
    ] {
        assert!(plans.contains(part), "{part} is not in\n{plans}");
    }
}

#[test]
fn of_a_row_only_the_fields_that_are_read_are_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("query.sql");
    for (query, decoded) in [
        ("SELECT r.a FROM t", "r(a)"),
        ("SELECT r.a FROM t WHERE r.c > 1", "r(a, c)"),
        ("SELECT k, COUNT(*) AS n FROM (SELECT r.b AS k FROM t) GROUP BY k", "r(b)"),
        ("SELECT k FROM (SELECT r AS s, r.a AS k FROM t) WHERE s IS NOT NULL", "r(a, b, c)"),
        ("SELECT r FROM t WHERE r.a = 'x'", "r(a, b, c)"),
        ("SELECT MAX(r.c) AS c FROM t WHERE r.a IN (SELECT k.a FROM (SELECT r AS k FROM t))", "r(a, c)"),
    ] {
        let sql = format!(
            "CREATE TABLE t (r ROW<a STRING, b STRING, c INT>) WITH
('connector' = 'filesystem', 'path' = 'not-there.json', 'format' = 'json');
EXPLAIN {query};"
        );
        std::fs::write(&file, sql).unwrap();
        let output = tidemill(&["run", file.to_str().unwrap()]);
        let plans = text(&output.stdout);
        let scan = format!("SourceExec: table=t, columns=[{decoded}]");
        assert!(plans.contains(&scan), "{query}: {scan} is not in\n{plans}{}", text(&output.stderr));
    }
}
