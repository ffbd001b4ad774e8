//! `examples/ecom`: real clicks, sorted by session; live, batch and DuckDB give the same rows.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tidemill_tests::duckdb::duckdb;
use tidemill_tests::folder::copy_of;
use tidemill_tests::program::Program;

/// The columns by which DuckDB reads a result, and the question in its own SQL over `events`.
const QUESTIONS: [(&str, &str, &str); 3] = [
    (
        "daily_active_users",
        "window_start TIMESTAMP, users BIGINT",
        "SELECT date_trunc('day', timestamp) AS window_start, count(DISTINCT user_id) AS users FROM events GROUP BY 1",
    ),
    (
        "hourly_events",
        "window_start TIMESTAMP, platform VARCHAR, events BIGINT",
        "SELECT date_trunc('hour', timestamp) AS window_start, platform, count(*) AS events FROM events GROUP BY 1, 2",
    ),
    (
        "sessions",
        "user_id VARCHAR, window_start TIMESTAMP, window_end TIMESTAMP, events BIGINT",
        "SELECT user_id, min(timestamp) AS window_start, max(timestamp) + INTERVAL 30 MINUTE AS window_end, count(*) AS events
         FROM events GROUP BY user_id, session_id",
    ),
];

fn example() -> TempDir {
    copy_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/ecom"))
}

fn events(folder: &Path) -> String {
    format!(
        "(SELECT *, row_number() OVER () - 1 AS number FROM read_csv('{}'))",
        folder.join("events.csv.gz").display()
    )
}

fn parts(folder: &Path, name: &str) -> PathBuf {
    folder.join("out").join(name).join("*.csv")
}

/// The number of rows that DuckDB answers, and of those that the run does not give just as often.
fn compare(folder: &Path, (name, columns, question): (&str, &str, &str)) -> (i64, i64) {
    let types: Vec<String> =
        columns.split(", ").filter_map(|c| c.split_once(' ')).map(|(c, t)| format!("'{c}': '{t}'")).collect();
    let sql = format!(
        "WITH events AS {}, expected AS ({question}),
         given AS (SELECT * FROM read_csv('{}', header = false, columns = {{{}}})),
         missing AS (FROM expected EXCEPT ALL FROM given), extra AS (FROM given EXCEPT ALL FROM expected)
         SELECT (SELECT count(*) FROM expected) AS expected,
                (SELECT count(*) FROM missing) + (SELECT count(*) FROM extra) AS different",
        events(folder),
        parts(folder, name).display(),
        types.join(", ")
    );
    let row = &duckdb(&sql)[0];
    (row["expected"].as_i64().unwrap(), row["different"].as_i64().unwrap())
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let finished = Program::in_folder(folder).run(arguments);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    finished.stdout
}

#[test]
fn live_and_batch_answer_as_duckdb_does() {
    for mode in [&[][..], &["--batch"]] {
        let folder = example();
        let printed = run(folder.path(), &[&["run", "pipeline.sql", "--output", "json"], mode].concat());
        for question in QUESTIONS {
            let (expected, different) = compare(folder.path(), question);
            assert!(expected > 0 && different == 0, "{}: {different} of {expected} rows differ", question.0);
        }
        let funnel = duckdb(&format!(
            "WITH users AS (
               SELECT min(timestamp) FILTER (event = 'product_view') AS viewed, min(timestamp) FILTER (event = 'add_to_cart') AS carted,
                 min(timestamp) FILTER (event = 'purchase') AS bought
               FROM {} GROUP BY user_id)
             SELECT count(viewed) AS viewed, count(*) FILTER (carted > viewed) AS carted,
               count(*) FILTER (carted > viewed AND bought > carted) AS bought FROM users",
            events(folder.path())
        ));
        let last: serde_json::Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
        for column in ["viewed", "carted", "bought"] {
            assert_eq!(last[column], funnel[0][column], "{column} of {last}");
        }
    }
}

#[test]
fn the_sessions_are_those_that_the_file_names() {
    let folder = example();
    run(folder.path(), &["run", "pipeline.sql"]);
    let sessions = duckdb(&format!(
        "SELECT count(*) AS n FROM read_csv('{}', header = false)",
        parts(folder.path(), "sessions").display()
    ));
    assert_eq!(sessions[0]["n"], 3605);
}

#[test]
fn with_a_delay_of_one_day_each_late_event_is_named() {
    let folder = example();
    let sql = fs::read_to_string(folder.path().join("pipeline.sql")).unwrap();
    let sql = sql.replace("INTERVAL '180' DAY", "INTERVAL '1' DAY");
    fs::write(folder.path().join("one_day.sql"), sql).unwrap();
    let report = run(folder.path(), &["reconcile", "one_day.sql"]);
    assert_eq!(report.lines().filter(|line| line.contains("balanced")).count(), 4, "{report}");

    run(folder.path(), &["run", "one_day.sql"]);
    // By the definition: late is what comes when the maximum before it, less a day, has passed the end of its hour.
    let counts = duckdb(&format!(
        "WITH judged AS (
           SELECT number, timestamp, date_trunc('hour', timestamp) + INTERVAL 1 HOUR AS window_end,
             max(timestamp) OVER (ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) - INTERVAL 1 DAY AS watermark
           FROM {}),
         expected AS (SELECT number, window_end, watermark FROM judged WHERE watermark >= window_end - INTERVAL 1 MILLISECOND),
         given AS (
           SELECT source_offset - 1 AS number, window_end, row_watermark AS watermark
           FROM read_csv('{}', header = false, columns = {{'user_id': 'VARCHAR', 'event': 'VARCHAR', 'event_time': 'TIMESTAMP',
             'window_end': 'TIMESTAMP', 'row_watermark': 'TIMESTAMP', 'source_offset': 'BIGINT'}})),
         missing AS (FROM expected EXCEPT ALL FROM given), extra AS (FROM given EXCEPT ALL FROM expected)
         SELECT (SELECT count(*) FROM expected) AS expected,
                (SELECT count(*) FROM missing) + (SELECT count(*) FROM extra) AS different",
        events(folder.path()),
        parts(folder.path(), "late_events").display()
    ));
    assert!(counts[0]["expected"].as_i64().unwrap() > 10_000, "{}", counts[0]);
    assert_eq!(counts[0]["different"], 0, "{}", counts[0]);
}
