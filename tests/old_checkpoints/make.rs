//! Makes the folder of a format: runs the job, kills it in the middle, and keeps what it has left.
//!
//! The moment of the kill is drawn until the checkpoint holds what it is to be an example of: a file that was read in part,
//! one that was read to its end, and files of the sinks that are not visible yet.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;
use flate2::Compression;
use flate2::write::GzEncoder;
use tidemill_state::checkpoint::{CheckpointStore, Place, Retention};
use tidemill_tests::duckdb::duckdb;
use tidemill_tests::folder::{copy_of, fresh, names};
use tidemill_tests::program::Program;
use tidemill_tests::rows::written_rows;
use tokio::runtime::Runtime;

use super::{RUN, add_later_input};

/// A job of which a checkpoint is kept.
pub struct Case {
    /// Its folder.
    pub name: &'static str,
    /// What stands before the tables.
    settings: &'static str,
    /// The files of which a part is to be read, and those that are to be read to their end.
    in_part: &'static [&'static str],
    ended: &'static [&'static str],
    /// The tables that are written: name, columns, whether they are updated, and the query.
    statements: &'static [(&'static str, &'static str, bool, &'static str)],
}

/// All states that a job can have, in two jobs.
pub const CASES: &[Case] = &[
    Case {
        name: "appended_and_updated",
        settings: "SET 'tidemill.late-output.windows' = 'late';\n",
        in_part: &["in/b.jsonl.gz"],
        ended: &["in/a.jsonl.gz"],
        statements: &[
            ("passed", "id BIGINT, amount DECIMAL(10, 2)", false, "SELECT id, amount FROM events WHERE id % 10 = 0"),
            (
                "windows",
                "window_start TIMESTAMP(3), category STRING, events BIGINT, revenue DECIMAL(38, 2), first_id BIGINT",
                false,
                "SELECT window_start, category, count(*), sum(amount), first_value(id)
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, category",
            ),
            (
                "late",
                "id BIGINT, window_start TIMESTAMP(3), late_reason STRING",
                false,
                "",
            ),
            (
                "hops",
                "window_end TIMESTAMP(3), users BIGINT, mean DOUBLE",
                false,
                "SELECT window_end, count(DISTINCT user_id), avg(CAST(amount AS DOUBLE))
  FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end",
            ),
            (
                "sessions",
                "window_start TIMESTAMP(3), window_end TIMESTAMP(3), user_id BIGINT, events BIGINT",
                false,
                "SELECT window_start, window_end, user_id, count(*)
  FROM TABLE(SESSION(TABLE events PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '20' SECOND))
  GROUP BY window_start, window_end, user_id",
            ),
            (
                "clicked",
                "window_start TIMESTAMP(3), clicks BIGINT",
                false,
                "SELECT window_start, count(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end",
            ),
            (
                "totals",
                "user_id BIGINT, events BIGINT, revenue DECIMAL(38, 2), categories BIGINT",
                true,
                "SELECT user_id, count(*), sum(amount), count(DISTINCT category) FROM events GROUP BY user_id",
            ),
            (
                "busy",
                "events BIGINT, users BIGINT, highest DECIMAL(38, 2)",
                true,
                "SELECT events, count(*), max(revenue) FROM (
    SELECT user_id, count(*) AS events, sum(amount) AS revenue FROM events GROUP BY user_id)
  GROUP BY events",
            ),
            (
                "best",
                "category STRING, id BIGINT, amount DECIMAL(10, 2), place BIGINT",
                true,
                "SELECT category, id, amount, place FROM (
    SELECT category, id, amount, ROW_NUMBER() OVER (PARTITION BY category ORDER BY amount DESC, id) AS place FROM events)
  WHERE place <= 3",
            ),
        ],
    },
    Case {
        name: "revised",
        settings: "SET 'table.exec.emit.allow-lateness' = '2 min';\n",
        in_part: &["in/a.parquet"],
        ended: &[],
        statements: &[
            (
                "windows",
                "window_start TIMESTAMP(3), category STRING, events BIGINT",
                true,
                "SELECT window_start, category, count(*)
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, category",
            ),
            (
                "sessions",
                "window_start TIMESTAMP(3), window_end TIMESTAMP(3), user_id BIGINT, events BIGINT",
                true,
                "SELECT window_start, window_end, user_id, count(*)
  FROM TABLE(SESSION(TABLE events PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '20' SECOND))
  GROUP BY window_start, window_end, user_id",
            ),
            (
                "clicked",
                "window_end TIMESTAMP(3), clicks BIGINT",
                true,
                "SELECT window_end, count(*) FROM TABLE(CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
  GROUP BY window_start, window_end",
            ),
        ],
    },
];

/// Bytes that fill up each line of the file of several chunks.
const FILL: usize = 1_200;

const CLICKS: u64 = 300_000;

/// How often the kill may miss.
const ATTEMPTS: u64 = 400;

/// Longer than any machine needs for one run.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes the folder of a case.
pub fn make(case: &Case, folder: &Path) {
    let job = fresh();
    let job = job.path();
    fs::write(job.join("pipeline.sql"), sql(case)).unwrap();
    write_input(job);

    let whole = copy_of(job);
    add_later_input(whole.path());
    let run = Program::in_folder(whole.path()).run(&["run", "pipeline.sql"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    fs::write(job.join("expected.rows"), written_rows(&whole.path().join("out"), |_| true)).unwrap();

    for attempt in 0..ATTEMPTS {
        let killed = copy_of(job);
        kill(killed.path(), 1 + attempt % 8);
        if is_example(case, killed.path()) {
            fs::remove_file(killed.path().join("data/lock")).unwrap();
            fs::create_dir_all(folder.parent().unwrap()).unwrap();
            let made = std::process::Command::new("cp").arg("-r").arg(killed.path()).arg(folder).status().unwrap();
            assert!(made.success());
            return;
        }
    }
    panic!("{}: no kill has hit a moment that is an example, in {ATTEMPTS} attempts", case.name);
}

fn sql(case: &Case) -> String {
    let mut sql = format!(
        "SET 'execution.checkpointing.interval' = '5 ms';
{}CREATE TABLE events (id BIGINT, user_id BIGINT, category STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'in/*.gz', 'format' = 'json');
CREATE TABLE clicks (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'in/*.parquet', 'format' = 'parquet');
",
        case.settings
    );
    for (name, columns, updated, query) in case.statements {
        let format = if *updated { "debezium-json" } else { "json" };
        let _ = writeln!(
            sql,
            "CREATE TABLE {name} ({columns})\n  WITH ('connector' = 'filesystem', 'path' = 'out/{name}', 'format' = '{format}');"
        );
        if !query.is_empty() {
            let _ = writeln!(sql, "INSERT INTO {name} {query};");
        }
    }
    sql
}

/// Two files of events, the second of several chunks; one of clicks, in many row groups; and one more of events for later.
fn write_input(folder: &Path) {
    for name in ["in", "later"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    fs::write(folder.join("in/a.jsonl.gz"), gzip(&events(0, 1_000, 0, 100_000, 0))).unwrap();
    fs::write(folder.join("in/b.jsonl.gz"), gzip(&events(1_000, 5_000, 0, 1_800_000, FILL))).unwrap();
    fs::write(folder.join("later/c.jsonl.gz"), gzip(&events(6_000, 1_000, 1_810_000, 2_400_000, 0))).unwrap();
    write_clicks(&folder.join("in/a.parquet"));
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A click every 40 milliseconds.
fn write_clicks(path: &Path) {
    drop(duckdb(&format!(
        "COPY (SELECT i AS id, (TIMESTAMP '2026-03-01 10:00:00' + i * INTERVAL 40 MILLISECONDS)::TIMESTAMP_MS AS ts
               FROM range({CLICKS}) AS t(i))
         TO '{}' (FORMAT parquet, PARQUET_VERSION v2, ROW_GROUP_SIZE 4096, COMPRESSION zstd)",
        path.display()
    )));
}

/// Events from `from_ms` to `to_ms` after ten o'clock, in order but for a few seconds; some come too late. Each line is
/// filled up with a column that nobody reads.
fn events(first_id: u64, rows: u64, from_ms: u64, to_ms: u64, fill: usize) -> String {
    let mut random = (first_id + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |bound: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % bound
    };
    let fill = "x".repeat(fill);
    let mut text = String::new();
    for row in 0..rows {
        let late = if next(50) == 0 { 30_000 + next(60_000) } else { next(4_000) };
        let ms = (from_ms + row * (to_ms - from_ms) / rows).saturating_sub(late).max(from_ms);
        let (minute, second, milli) = (ms / 60_000, ms / 1000 % 60, ms % 1000);
        let _ = writeln!(
            text,
            r#"{{"id":{},"user_id":{},"category":"category {}","amount":{}.{:02},"ts":"2026-03-01 10:{minute:02}:{second:02}.{milli:03}","fill":"{fill}"}}"#,
            first_id + row,
            next(20),
            next(5),
            next(500),
            next(100),
        );
    }
    text
}

/// Runs the job, and kills it when so many manifests have appeared.
fn kill(folder: &Path, manifests: u64) {
    let mut command = Program::in_folder(folder).command(&RUN);
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    let last = || {
        let names = names(&folder.join("data/checkpoints"));
        names.iter().filter_map(|name| name.strip_suffix(".manifest")?.parse::<u64>().ok()).max()
    };
    while last().is_none_or(|last| last < manifests) && process.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "the process is stuck");
        sleep(Duration::from_micros(50));
    }
    process.kill().unwrap();
    process.wait().unwrap();
}

/// Whether what a killed run has left is worth keeping.
fn is_example(case: &Case, folder: &Path) -> bool {
    let hidden = names(&folder.join("out")).iter().any(|table| {
        let files = names(&folder.join("out").join(table));
        files.iter().any(|name| name.starts_with('.'))
    });
    // Reading a checkpoint removes what is no part of it.
    let copy = copy_of(folder);
    let place = Place::Folder(copy.path().join("data/checkpoints"));
    let runtime = Runtime::new().unwrap();
    let Some(Ok(last)) = runtime.block_on(CheckpointStore::list(&place)).unwrap().pop().map(|last| last.manifest)
    else {
        return false;
    };
    let mut store = CheckpointStore::new(place, Retention(1), last.plan().to_owned());
    let state = runtime.block_on(store.resume(false)).unwrap().unwrap_or_default();
    let (mut in_part, mut ended): (Vec<String>, Vec<String>) = (vec![], vec![]);
    for (_, mut source) in state.into_iter().filter(|(owner, _)| owner.ends_with(".source")) {
        let names =
            |batch: &RecordBatch| batch.column(0).as_string::<i32>().iter().flatten().map(str::to_owned).collect();
        ended.extend(source.take("ended").unwrap().iter().flat_map(|batch| -> Vec<String> { names(batch) }));
        for reading in source.take("reading").unwrap() {
            let names: Vec<String> = names(&reading);
            let positions = reading.column(1).as_primitive::<UInt64Type>();
            for (name, &position) in names.into_iter().zip(positions.values()) {
                // Rows, or bytes.
                let whole = if name.ends_with(".parquet") { CLICKS } else { 5_000 * FILL as u64 };
                if position > 0 && position < whole {
                    in_part.push(name);
                }
            }
        }
    }
    let has = |names: &[String], wanted: &[&str]| wanted.iter().all(|wanted| names.iter().any(|name| name == wanted));
    // A table that has ended has completed its windows, and what comes later is late for them.
    let events_go_on = in_part.iter().any(|name| name == "in/b.jsonl.gz");
    !last.finished() && hidden && events_go_on && has(&in_part, case.in_part) && has(&ended, case.ended)
}
