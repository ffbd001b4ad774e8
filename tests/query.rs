//! `tidemill query`: files that nobody has declared, and what is told where they are not as they seemed.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tidemill_tests::duckdb::duckdb;
use tidemill_tests::folder::fresh;
use tidemill_tests::program::{Finished, Program};

/// Runs a query in a folder.
fn query(folder: &Path, sql: &str, options: &[&str]) -> Finished {
    Program::in_folder(folder).run(&[&["query", sql][..], options].concat())
}

/// The rows of a query that must work.
fn rows(folder: &Path, sql: &str) -> Vec<Value> {
    let Finished { code, stdout, stderr } = query(folder, sql, &[]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{sql}");
    stdout.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

#[test]
fn a_compressed_file_is_grouped_and_sorted_by_position_as_duckdb_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/ecom").canonicalize().unwrap();
    let sql = |from: &str| {
        format!(
            "SELECT event, COUNT(*) AS n, COUNT(DISTINCT user_id) AS users FROM {from} GROUP BY 1 ORDER BY 2 DESC, 1"
        )
    };
    let ours = rows(&folder, &sql("'events.csv.gz'"));
    let theirs = duckdb(&sql(&format!("read_csv('{}')", folder.join("events.csv.gz").display())));
    assert!(ours.len() > 2, "{ours:?}");
    assert_eq!(ours, theirs);
}

#[test]
fn rows_are_printed_as_json_csv_or_a_table() {
    let folder = fresh();
    let lines = "{\"kind\":\"a,b\",\"n\":1,\"at\":\"2026-01-01T10:00:00.000\"}\n{\"kind\":null,\"n\":20}\n";
    fs::write(folder.path().join("t.jsonl"), lines).unwrap();
    let printed = |output: &str| query(folder.path(), "SELECT * FROM 't.jsonl'", &["--output", output]).stdout;
    assert_eq!(
        printed("json"),
        "{\"kind\":\"a,b\",\"n\":1,\"at\":\"2026-01-01T10:00:00.000\"}\n{\"kind\":null,\"n\":20,\"at\":null}\n"
    );
    assert_eq!(printed("csv"), "kind,n,at\n\"a,b\",1,2026-01-01 10:00:00.000\n,20,\n");
    assert_eq!(
        printed("table"),
        "kind   n  at\n----  --  ----------------\na,b    1  2026-01-01T10:00\nNULL  20  NULL\n(2 rows)\n"
    );
    // Where standard output is no terminal, programs read it.
    assert_eq!(query(folder.path(), "SELECT * FROM 't.jsonl'", &[]).stdout, printed("json"));
}

#[test]
fn several_statements_read_several_files_and_tables_of_their_own() {
    let folder = fresh();
    fs::create_dir(folder.path().join("logs")).unwrap();
    fs::write(folder.path().join("logs/a.csv"), "id,name\n1,Ada\n2,\n").unwrap();
    fs::write(folder.path().join("logs/b.csv"), "id,name\n3,Bo\n").unwrap();
    fs::write(folder.path().join("t.json"), "{\"id\":4,\"name\":\"Cy\"}\n").unwrap();
    let sql = "CREATE TABLE logs (id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = 't.json', 'format' = 'json');
CREATE VIEW everyone AS SELECT id, name FROM 'logs/*.csv' UNION ALL SELECT id, name FROM logs;
SELECT COUNT(*) AS n, MAX(id) AS last FROM everyone;
SELECT name FROM (SELECT * FROM 'logs/*.csv' WHERE id < 3) ORDER BY id;";
    let expected = [json!({"n": 4, "last": 4}), json!({"name": "Ada"}), json!({"name": null})];
    assert_eq!(rows(folder.path(), sql), expected);
    let tables = query(folder.path(), sql, &["--output", "table"]).stdout;
    assert_eq!(tables, "n  last\n-  ----\n4     4\n(1 row)\nname\n----\nAda\nNULL\n(2 rows)\n");
}

#[test]
fn folders_that_say_a_value_can_be_asked_for_it() {
    let folder = fresh();
    for (day, id) in [("2026-01-01", 1), ("2026-01-02", 2)] {
        let partition = folder.path().join(format!("events/day={day}"));
        fs::create_dir_all(&partition).unwrap();
        fs::write(partition.join("part.csv"), format!("id\n{id}\n")).unwrap();
    }
    let found = rows(folder.path(), "SELECT id, day FROM 'events' WHERE day > DATE '2026-01-01'");
    assert_eq!(found, [json!({"id": 2, "day": "2026-01-02"})]);
    let shown = query(folder.path(), "SHOW CREATE TABLE 'events'", &[]).stdout;
    assert!(shown.contains(") PARTITIONED BY (`day`) WITH ("), "{shown}");
}

#[test]
fn the_declaration_that_is_shown_reads_the_same_rows() {
    let folder = fresh();
    let lines = "{\"order\":{\"id\":1,\"a b\":[1.5]},\"at\":\"2026-01-01T10:00:00Z\"}\n{\"order\":null,\"at\":null}\n";
    fs::write(folder.path().join("it's.jsonl"), lines).unwrap();
    // What is printed is SQL as it stands, also where no terminal is.
    let declaration = query(folder.path(), "SHOW CREATE TABLE 'it''s.jsonl'", &[]).stdout;
    let sql = format!("{declaration}SELECT * FROM it_s;\n");
    fs::write(folder.path().join("q.sql"), sql).unwrap();
    let run = Program::in_folder(folder.path()).run(&["run", "q.sql", "--batch", "--output", "json"]);
    let inferred = query(folder.path(), "SELECT * FROM 'it''s.jsonl'", &[]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(run.stdout.replace("\"op\":\"+I\",", ""), inferred.stdout);
    assert!(inferred.stdout.starts_with("{\"order\":{\"id\":1,\"a b\":[1.5]},"), "{}", inferred.stdout);
}

#[test]
fn a_row_that_contradicts_the_sample_is_named_with_what_to_do() {
    let folder = fresh();
    let lines: String =
        (0..30).map(|n| if n < 20 { "{\"a\":1}\n".into() } else { format!("{{\"a\":\"x{n}\"}}\n") }).collect();
    fs::write(folder.path().join("t.jsonl"), lines).unwrap();
    let failed = query(folder.path(), "SELECT SUM(a) FROM 't.jsonl'", &["--sample", "10"]);
    assert_eq!(failed.code, Some(1));
    for part in [
        "t.jsonl, line 21",
        "column 'a' is BIGINT",
        "inferred from at most 10 rows",
        "--sample N",
        "SHOW CREATE TABLE 't.jsonl'",
    ] {
        assert!(failed.stderr.contains(part), "{part} is not in\n{}", failed.stderr);
    }
    let sampled = query(folder.path(), "SELECT MAX(a) AS a FROM 't.jsonl'", &["--sample", "21"]);
    assert_eq!(sampled.stdout, "{\"a\":\"x29\"}\n");
}

#[test]
fn what_can_not_be_told_or_is_meant_for_run_is_refused_with_its_place() {
    let folder = fresh();
    fs::write(folder.path().join("t.log"), "a\n").unwrap();
    fs::write(folder.path().join("q.sql"), "SELECT * FROM 't.csv';\n").unwrap();
    let cases: [(&[&str], i32, &[&str]); 5] = [
        (&["query", "SELECT * FROM 't.log'"], 2, &["<command line>:1:15", "does not tell its format", "--format"]),
        (&["query", "SELECT * FROM 'no.csv'"], 1, &["there is no file 'no.csv'", "current folder"]),
        (&["query", "SET 'execution.runtime-mode' = 'streaming'; SELECT 1 AS a"], 2, &["runs as a batch"]),
        (&["query", "SELECT * FROM 't.log'", "--format", "csv", "--header", "maybe"], 2, &["'maybe'"]),
        (&["run", "q.sql"], 2, &["q.sql:1:15", "is not Flink SQL", "SHOW CREATE TABLE 't.csv'"]),
    ];
    for (arguments, code, parts) in cases {
        let failed = Program::in_folder(folder.path()).run(arguments);
        assert_eq!((failed.code, failed.stdout.as_str()), (Some(code), ""), "{arguments:?}");
        for part in parts {
            assert!(failed.stderr.contains(part), "{part} is not in\n{}", failed.stderr);
        }
    }
    let told = query(folder.path(), "SELECT * FROM 't.log'", &["--format", "csv", "--header", "false"]);
    assert_eq!(told.stdout, "{\"f0\":\"a\"}\n");
}

#[test]
fn what_can_be_read_only_once_is_refused() {
    let folder = fresh();
    let mut command =
        Program::in_folder(folder.path()).command(&["query", "SELECT a FROM '/dev/stdin'", "--format", "json"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{\"a\":1}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{stderr}");
    assert!(stderr.contains("can be read only once") && stderr.contains("save it to a file"), "{stderr}");
}

/// What they answer; that they are planned at once shows in the time that the tests take.
#[test]
fn long_chains_are_planned() {
    let folder = fresh();
    fs::write(folder.path().join("t.jsonl"), "{\"a\":1,\"s\":\"x\"}\n").unwrap();
    let joined = |count: i32, operator: &str, term: &dyn Fn(i32) -> String| {
        (0..count).map(term).collect::<Vec<_>>().join(operator)
    };
    let sql = format!(
        "SELECT {} AS every_one, {} AS any_one, CHAR_LENGTH({}) AS letters, {} - {} AS total FROM 't.jsonl'",
        joined(2_000, " AND ", &|n| format!("a > {}", -n)),
        joined(2_000, " OR ", &|n| format!("a = {}", n + 2)),
        joined(2_000, " || ", &|_| "s".to_owned()),
        joined(200, " + ", &|_| "a".to_owned()),
        joined(40, " - ", &|_| "1".to_owned()),
    );
    let expected = json!({"every_one": true, "any_one": false, "letters": 2_000, "total": 160});
    assert_eq!(rows(folder.path(), &sql), [expected]);
}

#[test]
fn a_column_of_parquet_that_no_table_has_hides_no_other() {
    let folder = fresh();
    let file = folder.path().join("t.parquet");
    let written = duckdb(&format!(
        "COPY (SELECT 1 AS a, 18446744073709551615::UBIGINT AS big, INTERVAL '1' DAY AS gap) TO '{}' (FORMAT parquet)",
        file.display()
    ));
    assert!(file.exists(), "{written:?}");
    assert_eq!(
        rows(folder.path(), "SELECT a, big FROM 't.parquet'"),
        [json!({"a": 1, "big": serde_json::from_str::<Value>("18446744073709551615").unwrap()})]
    );
    let refused = query(folder.path(), "SELECT * FROM 't.parquet'", &[]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("the column 'gap' has the type"), "{}", refused.stderr);
}
