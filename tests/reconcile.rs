//! `reconcile` is tested by what it must catch: each way to spoil a live run's output is found, and the
//! row is named.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tidemill_tests::folder::fresh;
use tidemill_tests::program::{Finished, Program};

const SQL: &str = "CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, window_end, category, COUNT(*) AS orders, SUM(amount) AS revenue
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
";

/// The last two rows are late, the very last for a window that has no other row.
const ROWS: [(&str, &str, &str); 7] = [
    ("toys", "1.25", "10:00:10"),
    ("books", "2.50", "10:00:20"),
    ("toys", "3.00", "10:00:59.999"),
    ("books", "4.00", "10:01:30"),
    ("toys", "5.75", "10:02:30"),
    ("toys", "6.00", "10:00:30"),
    ("games", "7.00", "09:00:00"),
];

/// A live run's saved output.
struct Saved {
    folder: TempDir,
    rows: Vec<String>,
    late: Vec<String>,
}

impl Saved {
    fn new() -> Self {
        let folder = fresh();
        fs::write(folder.path().join("query.sql"), SQL).unwrap();
        let rows = ROWS.map(|(category, amount, time)| {
            format!("{{\"category\": \"{category}\", \"amount\": {amount}, \"ts\": \"2026-11-29 {time}\"}}\n")
        });
        fs::write(folder.path().join("orders.jsonl"), rows.concat()).unwrap();
        let saved = Program::in_folder(folder.path()).run(&["reconcile", "query.sql", "--save-live", "live"]);
        assert_eq!(saved.code, Some(0), "{saved:?}");
        let (rows, late) = (lines(folder.path(), "query.jsonl"), lines(folder.path(), "query.late.jsonl"));
        assert_eq!((rows.len(), late.len()), (4, 2), "{rows:?} {late:?}");
        Self { folder, rows, late }
    }

    /// Reconciles with what is in `rows` and `late` now.
    fn reconcile(&self) -> Finished {
        let live = self.folder.path().join("live");
        fs::write(live.join("query.jsonl"), self.rows.concat()).unwrap();
        fs::write(live.join("query.late.jsonl"), self.late.concat()).unwrap();
        Program::in_folder(self.folder.path()).run(&["reconcile", "query.sql", "--live", "live"])
    }

    /// Asserts that exactly these lines of differences come out, each with all of its words.
    fn assert_finds(&self, differences: &[&[&str]]) {
        let finished = self.reconcile();
        assert_eq!(finished.code, Some(3), "{finished:?}");
        let mut found: Vec<&str> = finished.stdout.lines().filter(|line| line.starts_with("  ")).collect();
        for words in differences {
            let line = found.iter().position(|line| words.iter().all(|word| line.contains(word)));
            let line = line.unwrap_or_else(|| panic!("no line has {words:?}:\n{}", finished.stdout));
            found.remove(line);
        }
        assert!(found.is_empty(), "too much is found: {found:#?}");
    }
}

fn lines(folder: &Path, file: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.join("live").join(file)).unwrap();
    text.lines().map(|line| format!("{line}\n")).collect()
}

/// The place of the line that has this text.
fn line_with(lines: &[String], text: &str) -> usize {
    lines.iter().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{text} is not in {lines:?}"))
}

const LATE_TOYS: &[&str] = &["orders.jsonl, line 6", "[2026-11-29T10:00:00.000, 2026-11-29T10:01:00.000)"];

#[test]
fn an_untouched_run_is_balanced() {
    let finished = Saved::new().reconcile();
    let verdict = "query: balanced: 4 rows live, 5 in the batch, 2 of them moved by 2 late rows\n";
    assert_eq!(finished, Finished { code: Some(0), stdout: verdict.into(), stderr: String::new() });
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let mut saved = Saved::new();
    saved.rows.reverse();
    saved.late.reverse();
    assert_eq!(saved.reconcile().code, Some(0));
}

#[test]
fn a_dropped_late_row_is_named() {
    let mut saved = Saved::new();
    saved.late.remove(line_with(&saved.late, "6.00"));
    saved.assert_finds(&[
        &[&["late, but not in the late output"], LATE_TOYS].concat(),
        // Nothing tells the batch to leave the row out any more.
        &["only in the live run", "toys", "4.25"],
        &["only in the batch", "toys", "10.25"],
    ]);
}

#[test]
fn a_dropped_late_row_whose_window_has_no_other_is_named() {
    let mut saved = Saved::new();
    saved.late.remove(line_with(&saved.late, "games"));
    saved.assert_finds(&[
        &["late, but not in the late output", "orders.jsonl, line 7"],
        &["only in the batch", "games", "7.00"],
    ]);
}

#[test]
fn a_changed_window_is_named() {
    let mut saved = Saved::new();
    let changed = line_with(&saved.rows, "5.75");
    saved.rows[changed] = saved.rows[changed].replace("5.75", "5.76");
    saved.assert_finds(&[&["only in the live run", "toys", "5.76"], &["only in the batch", "toys", "5.75"]]);
}

#[test]
fn a_row_moved_to_another_window_is_named() {
    let mut saved = Saved::new();
    let moved = line_with(&saved.rows, "5.75");
    saved.rows[moved] = saved.rows[moved].replace("10:02:00", "10:04:00").replace("10:03:00", "10:05:00");
    saved.assert_finds(&[
        &["only in the live run", "2026-11-29T10:04:00", "5.75"],
        &["only in the batch", "2026-11-29T10:02:00", "5.75"],
    ]);
}

#[test]
fn a_doubled_row_is_named() {
    let mut saved = Saved::new();
    saved.rows.push(saved.rows[line_with(&saved.rows, "4.00")].clone());
    saved.assert_finds(&[&["only in the live run", "books", "4.00"]]);
}

#[test]
fn a_dropped_row_is_named() {
    let mut saved = Saved::new();
    saved.rows.remove(line_with(&saved.rows, "2.50"));
    saved.assert_finds(&[&["only in the batch", "books", "2.50"]]);
}

#[test]
fn a_doubled_late_row_is_named() {
    let mut saved = Saved::new();
    saved.late.push(saved.late[line_with(&saved.late, "6.00")].clone());
    saved.assert_finds(&[&[&["in the late output once too often"], LATE_TOYS].concat()]);
}

#[test]
fn a_row_that_is_wrongly_called_late_is_named() {
    let mut saved = Saved::new();
    let late = saved.late[line_with(&saved.late, "6.00")].clone();
    // The first row of the same window, which was in time.
    saved.late.push(late.replace("6.00", "1.25").replace("\"source_offset\":5", "\"source_offset\":0"));
    saved.assert_finds(&[
        &["in the late output once too often, or not late", "orders.jsonl, line 1"],
        &["only in the live run", "toys", "4.25"],
        &["only in the batch", "toys", "3.00"],
    ]);
}

#[test]
fn a_late_row_that_also_counted_is_named() {
    let mut saved = Saved::new();
    let counted = line_with(&saved.rows, "4.25");
    saved.rows[counted] = saved.rows[counted].replace("\"orders\":2", "\"orders\":3").replace("4.25", "10.25");
    saved.assert_finds(&[&["only in the live run", "toys", "10.25"], &["only in the batch", "toys", "4.25"]]);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let saved = Saved::new();
    let finished = Program::in_folder(saved.folder.path()).run(&["reconcile", "query.sql", "--live", "other"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("cannot read 'other/query.jsonl'"), "{}", finished.stderr);
}

#[test]
fn an_input_without_an_end_is_refused_before_it_is_read() {
    let folder = fresh();
    let sql = "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');
SELECT n FROM numbers;
";
    fs::write(folder.path().join("q.sql"), sql).unwrap();
    let finished = Program::in_folder(folder.path()).run(&["reconcile", "q.sql"]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""));
    assert!(finished.stderr.contains("the table 'numbers' has no end"), "{}", finished.stderr);
}
