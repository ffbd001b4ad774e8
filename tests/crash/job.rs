//! One job: its input, its SQL, and what it is to commit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use tidemill_tests::folder::fresh;
use tidemill_tests::program::Program;

use super::broken_commit::program_in;
use super::output::{committed, committed_to_delta};

/// Rows of each of the two files.
const ROWS: u64 = 30_000;

/// What keeps the tables whose rows are only added; those that are updated are files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    InFiles,
    InDelta,
}

/// The tables that are written, and the query of each.
const STATEMENTS: [(&str, &str, &str); 6] = [
    ("passed", "id BIGINT, amount DECIMAL(10, 2)", "SELECT id, amount FROM events WHERE id % 3 = 0"),
    (
        "windows",
        "window_start TIMESTAMP(3), category STRING, orders BIGINT, revenue DECIMAL(38, 2)",
        "SELECT window_start, category, count(*), sum(amount)
   FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, category",
    ),
    (
        "hops",
        "window_end TIMESTAMP(3), users BIGINT",
        "SELECT window_end, count(DISTINCT user_id)
   FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end",
    ),
    (
        "sessions",
        "window_start TIMESTAMP(3), window_end TIMESTAMP(3), user_id BIGINT, events BIGINT",
        "SELECT window_start, window_end, user_id, count(*)
   FROM TABLE(SESSION(TABLE events PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '20' SECOND))
   GROUP BY window_start, window_end, user_id",
    ),
    (
        "totals",
        "user_id BIGINT, events BIGINT, revenue DECIMAL(38, 2)",
        "SELECT user_id, count(*), sum(amount) FROM events GROUP BY user_id",
    ),
    (
        "best",
        "category STRING, id BIGINT, amount DECIMAL(10, 2), place BIGINT",
        "SELECT category, id, amount, place FROM (
   SELECT category, id, amount, ROW_NUMBER() OVER (PARTITION BY category ORDER BY amount DESC, id) AS place FROM events)
   WHERE place <= 3",
    ),
];

/// The late output has the rows that missed a window, by their number.
const LATE: &str = "late";

pub struct Job {
    folder: TempDir,
    parallelism: String,
    kept: Kept,
}

/// By table: each row, and how often it is there.
pub type Rows = BTreeMap<String, BTreeMap<String, i64>>;

impl Job {
    /// A job whose input is drawn by the number.
    pub fn new(draw: u64, kept: Kept) -> Self {
        let folder = fresh();
        fs::create_dir(folder.path().join("in")).unwrap();
        for file in 0..2 {
            fs::write(folder.path().join(format!("in/{file}.jsonl")), events(draw, file)).unwrap();
        }
        fs::write(folder.path().join("q.sql"), sql(kept)).unwrap();
        Self { folder, parallelism: (1 + draw % 3).to_string(), kept }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn parallelism(&self) -> &str {
        &self.parallelism
    }

    pub fn checkpoints(&self) -> std::path::PathBuf {
        self.folder().join("data/checkpoints")
    }

    /// What a run commits that nobody kills, and that has no checkpoints. What can be is counted from the input itself.
    pub fn uncrashed(&self) -> Rows {
        let run = Program::in_folder(self.folder()).run(&["run", "q.sql"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let rows = self.committed();
        let texts = (0..2).map(|file| fs::read_to_string(self.folder().join(format!("in/{file}.jsonl"))).unwrap());
        let lines: Vec<String> = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
        assert_eq!(rows["passed"].values().sum::<i64>(), lines.len() as i64 / 3);
        assert_eq!(counted(&rows["totals"]), lines.len() as i64);
        fs::remove_dir_all(self.folder().join("out")).unwrap();
        rows
    }

    /// The rows that are committed now; of tables that are updated, what the changes leave.
    pub fn committed(&self) -> Rows {
        let tables = STATEMENTS.iter().map(|(name, ..)| *name).chain([LATE]);
        let rows = |name| {
            let folder = self.folder().join("out").join(name);
            match is_delta(name, self.kept) {
                true => committed_to_delta(&folder),
                false => committed(&folder),
            }
        };
        tables.map(|name| (name.to_owned(), rows(name))).collect()
    }

    pub fn assert_committed(&self, expected: &Rows) {
        let committed = self.committed();
        let mut differing = vec![];
        for (table, expected) in expected {
            let found = &committed[table];
            let rows: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
            let rows = rows.into_iter().filter(|row| expected.get(*row) != found.get(*row));
            let times = |rows: &BTreeMap<String, i64>, row: &str| rows.get(row).copied().unwrap_or_default();
            differing.extend(rows.map(|row| {
                format!(
                    "{table}: {row} is there {} times, and should be {} times",
                    times(found, row),
                    times(expected, row)
                )
            }));
        }
        assert!(differing.is_empty(), "{} rows differ: {:#?}", differing.len(), &differing[..differing.len().min(40)]);
    }

    /// The same run by a program whose sinks commit before the checkpoint is there.
    pub fn broken_program(&self) -> Command {
        program_in(self.folder(), &self.parallelism)
    }
}

/// The sum of the second column, which counts events.
fn counted(totals: &BTreeMap<String, i64>) -> i64 {
    let events = |row: &String| -> i64 {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        row["events"].as_i64().unwrap()
    };
    totals.iter().map(|(row, times)| events(row) * times).sum()
}

fn is_updated(table: &str) -> bool {
    matches!(table, "totals" | "best")
}

fn is_delta(table: &str, kept: Kept) -> bool {
    kept == Kept::InDelta && !is_updated(table)
}

fn sql(kept: Kept) -> String {
    let mut sql = "SET 'execution.checkpointing.interval' = '40 ms';
SET 'tidemill.late-output.windows' = 'late';
CREATE TABLE events (id BIGINT, user_id BIGINT, category STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
"
    .to_owned();
    let late = (LATE, "id BIGINT, window_start TIMESTAMP(3), late_reason STRING", "");
    for (name, columns, query) in STATEMENTS.into_iter().chain([late]) {
        let (by, with) = match (is_delta(name, kept), is_updated(name)) {
            (true, _) if name == "windows" => ("PARTITIONED BY (category)", "'connector' = 'delta', 'table-path'"),
            (true, _) => ("", "'connector' = 'delta', 'table-path'"),
            (false, true) => ("", "'connector' = 'filesystem', 'format' = 'debezium-json', 'path'"),
            (false, false) => ("", "'connector' = 'filesystem', 'format' = 'json', 'path'"),
        };
        let _ = writeln!(sql, "CREATE TABLE {name} ({columns}) {by} WITH ({with} = 'out/{name}');");
        if !query.is_empty() {
            let _ = writeln!(sql, "INSERT INTO {name} {query};");
        }
    }
    sql
}

/// Events of half an hour, in order but for a few seconds; some come too late.
fn events(draw: u64, file: u64) -> String {
    let mut random = draw ^ (file + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |bound: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % bound
    };
    let mut text = String::new();
    for row in 0..ROWS {
        let late = if next(100) == 0 { 30_000 + next(60_000) } else { next(4_000) };
        let ms = (row * 1_800_000 / ROWS + 120_000).saturating_sub(late);
        let (minute, second, milli) = (ms / 60_000, ms / 1000 % 60, ms % 1000);
        let _ = writeln!(
            text,
            r#"{{"id":{},"user_id":{},"category":"c{}","amount":{}.{:02},"ts":"2026-03-01 10:{minute:02}:{second:02}.{milli:03}"}}"#,
            row * 2 + file,
            next(200),
            next(7),
            next(500),
            next(100),
        );
    }
    text
}
