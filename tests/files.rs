//! Files that a run writes: what a killed process leaves, and that the next run works.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tidemill_tests::duckdb::duckdb;
use tidemill_tests::folder::{fresh, names};
use tidemill_tests::program::Program;

/// Longer than any machine needs: a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether there is a file of that kind in the folder or below.
fn any_file(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> bool {
    names(folder).iter().any(|name| match folder.join(name).is_dir() {
        true => any_file(&folder.join(name), wanted),
        false => wanted(name),
    })
}

fn hidden(name: &str) -> bool {
    name.starts_with('.')
}

fn visible(name: &str) -> bool {
    !hidden(name)
}

#[test]
fn a_killed_live_run_leaves_hidden_files_alone_and_the_next_one_works() {
    let folder = fresh();
    let out = folder.path().join("out");
    let sql = "CREATE TABLE events (id BIGINT, day STRING) WITH ('connector' = 'stdio', 'format' = 'json');
CREATE TABLE sink (id BIGINT, day STRING) PARTITIONED BY (day) WITH (
  'connector' = 'filesystem', 'path' = 'out', 'format' = 'json', 'sink.rolling-policy.file-size' = '10 kb');
INSERT INTO sink SELECT id, day FROM events;
";
    fs::write(folder.path().join("q.sql"), sql).unwrap();
    let program = Program::in_folder(folder.path());
    let rows: String = (0..20_000).map(|id| format!("{{\"id\":{id},\"day\":\"{}\"}}\n", id % 3)).collect();

    let mut killed = program.command(&["run", "q.sql"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = killed.stdin.take().unwrap();
    input.write_all(rows.as_bytes()).unwrap();
    input.flush().unwrap();
    let begun = Instant::now();
    while !any_file(&out, &hidden) {
        assert!(begun.elapsed() < PATIENCE, "no part was begun");
        sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(!any_file(&out, &visible), "nothing was committed");

    let mut next = program.command(&["run", "q.sql"]).stdin(Stdio::piped()).spawn().unwrap();
    next.stdin.take().unwrap().write_all(rows.as_bytes()).unwrap();
    assert!(next.wait().unwrap().success());
    // DuckDB's pattern takes no hidden file.
    let query = format!(
        "SELECT count(*) AS n, count(DISTINCT id) AS ids FROM read_json('{}/*/part-*.json', hive_partitioning = true)
         WHERE id % 3 = day",
        out.display()
    );
    assert_eq!(duckdb(&query)[0].to_string(), r#"{"n":20000,"ids":20000}"#);
}

/// The sum of each day, by a reader that takes visible files alone.
fn sums(out: &Path) -> String {
    let query = format!(
        "SELECT list((day, n, s) ORDER BY day)::VARCHAR AS sums FROM (
           SELECT day, count(*) AS n, sum(v)::BIGINT AS s
           FROM read_parquet('{}/*/part-*.parquet', hive_partitioning = true) GROUP BY day)",
        out.display()
    );
    duckdb(&query)[0]["sums"].as_str().unwrap().to_owned()
}

/// The same of 30,000 rows over five days, by arithmetic.
fn expected_sums(factor: u64) -> String {
    let of_day = |day| {
        let sum: u64 = (0..30_000).filter(|id| id % 5 == day).sum();
        format!("({day}, 6000, {})", sum * factor)
    };
    format!("[{}]", (0..5).map(of_day).collect::<Vec<_>>().join(", "))
}

#[test]
fn a_killed_overwriting_leaves_the_old_rows_or_the_new_and_the_next_one_finishes() {
    let folder = fresh();
    let out = folder.path().join("out");
    let program = Program::in_folder(folder.path());
    let sql = |factor: u64| {
        format!(
            "CREATE TABLE events (id BIGINT, day INT) WITH (
  'connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');
CREATE TABLE sink (v BIGINT, day INT) PARTITIONED BY (day) WITH (
  'connector' = 'filesystem', 'path' = 'out', 'format' = 'parquet', 'sink.rolling-policy.file-size' = '8 kb');
INSERT OVERWRITE sink SELECT id * {factor}, day FROM events;
"
        )
    };
    let rows: String = (0..30_000).map(|id| format!("{{\"id\":{id},\"day\":{}}}\n", id % 5)).collect();
    fs::write(folder.path().join("events.jsonl"), rows).unwrap();
    let whole = |factor| {
        fs::write(folder.path().join("q.sql"), sql(factor)).unwrap();
        let started = Instant::now();
        let finished = program.run(&["run", "q.sql", "--batch"]);
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        (sums(&out), started.elapsed())
    };
    let (mut old, duration) = whole(1);
    for round in 2..8 {
        let new = expected_sums(round);
        fs::write(folder.path().join("q.sql"), sql(round)).unwrap();
        let mut killed = program.command(&["run", "q.sql", "--batch"]).spawn().unwrap();
        sleep(duration * (round as u32) / 8);
        killed.kill().unwrap();
        killed.wait().unwrap();
        let decided = names(&out).iter().any(|name| name.starts_with(".overwrite-") && !name.ends_with(".inprogress"));
        if !decided {
            let found = sums(&out);
            assert!(found == old || found == new, "{found}\nis neither\n{old}\nnor\n{new}");
        }
        old = whole(round).0;
        assert_eq!(old, new);
    }
}

#[test]
fn a_folder_that_is_half_replaced_is_read_when_a_run_has_written_to_it() {
    let folder = fresh();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("part-old-0.json"), "{\"v\":1}\n").unwrap();
    fs::write(out.join("part-old-1.json"), "{\"v\":2}\n").unwrap();
    fs::write(out.join(".part-new-0.json.inprogress"), "{\"v\":3}\n").unwrap();
    // What a run leaves that was killed when it had deleted one more file, `part-old-2.json`.
    let decision = "tidemill overwrite 1\n-part-old-0.json\0-part-old-1.json\0-part-old-2.json\0\
                    +.part-new-0.json.inprogress\0";
    fs::write(out.join(".overwrite-new"), decision).unwrap();
    let table = "CREATE TABLE t (v BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');\n";
    fs::write(folder.path().join("read.sql"), format!("{table}SELECT v FROM t;")).unwrap();
    fs::write(folder.path().join("write.sql"), format!("{table}INSERT OVERWRITE t SELECT v * 10 FROM t;")).unwrap();
    let program = Program::in_folder(folder.path());
    for arguments in [&["run", "read.sql"][..], &["run", "read.sql", "--batch"], &["query", "SELECT v FROM 'out'"]] {
        let finished = program.run(arguments);
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{}", finished.stderr);
        assert!(finished.stderr.contains("'out/.overwrite-new' is there"), "{}", finished.stderr);
        assert!(finished.stderr.contains("the next run that writes to the table finishes it"), "{}", finished.stderr);
    }
    // The run that reads and replaces the same table finishes it first.
    let finished = program.run(&["run", "write.sql", "--batch"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let finished = program.run(&["run", "read.sql", "--batch"]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "+I[30]\n"), "{}", finished.stderr);
}
