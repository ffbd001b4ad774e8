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
    for command in ["query", "run", "check", "reconcile", "completions", "man"] {
        let output = tidemill(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        let help = text(&output.stdout);
        assert!(help.contains(&format!("tidemill {command} ")) && help.contains("Exit codes:"), "{help}");
    }
}

#[test]
fn wrong_usage_exits_with_2_and_prints_nothing() {
    let calls: [&[&str]; 9] = [
        &[],
        &["rnu", "q.sql"],
        &["run"],
        &["query"],
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

/// Every command that `--help` lists.
fn commands() -> Vec<String> {
    let help = text(&tidemill(&["--help"]).stdout);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    let names = listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn completions_know_every_command() {
    assert!(commands().len() >= 6, "{:?}", commands());
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = tidemill(&["completions", shell]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
        let script = text(&output.stdout);
        for command in commands().iter().map(String::as_str).chain(["--batch", "--output"]) {
            let option = command.trim_start_matches('-');
            assert!(script.contains(option), "{command} is not in the completions of {shell}");
        }
    }
    assert_eq!(tidemill(&["completions", "csh"]).status.code(), Some(2));
}

/// The script is one that the shell itself takes, and it completes what has been begun.
#[test]
fn bash_completes_commands_and_options() {
    let script = text(&tidemill(&["completions", "bash"]).stdout);
    let completed = |words: &str| {
        let count = words.split(' ').count() - 1;
        let ask = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD={count}; _tidemill tidemill {} {}; echo \"${{COMPREPLY[@]}}\"",
            words.rsplit(' ').next().unwrap(),
            words.rsplit(' ').nth(1).unwrap()
        );
        let words = text(&Command::new("bash").args(["--norc", "-c", &ask]).output().unwrap().stdout);
        let mut words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        words.sort();
        words.join(" ")
    };
    assert_eq!(completed("tidemill rec"), "reconcile");
    assert_eq!(completed("tidemill run q.sql --bat"), "--batch --batch-size");
}

#[test]
fn each_command_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert_eq!(tidemill(&["man", pages.to_str().unwrap()]).status.code(), Some(0));
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
    assert!(page("tidemill.1").starts_with(".ie"), "{}", page("tidemill.1"));
    for command in commands() {
        let page = page(&format!("tidemill-{command}.1"));
        assert!(page.contains(&format!(".TH tidemill-{command} 1")), "{page}");
    }
    assert!(page("tidemill-run.1").contains("over its input as history"));
    std::fs::write(folder.path().join("file"), "").unwrap();
    let refused = tidemill(&["man", folder.path().join("file/man1").to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("give a folder that you may write to"));
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
        // A subquery is a join, which passes rows on whole.
        ("SELECT MAX(r.c) AS c FROM t WHERE r.a IN (SELECT k.a FROM (SELECT r AS k FROM t))", "r(a, b, c)"),
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
