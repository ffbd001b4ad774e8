//! `UNNEST` over random orders: live, batch and DuckDB give the same rows, and what is late is accounted for.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use tidemill_tests::duckdb::duckdb;
use tidemill_tests::folder::fresh;
use tidemill_tests::program::Program;

/// How the program is run.
const MODES: [&[&str]; 3] =
    [&["--batch"], &["--batch-size", "1", "--parallelism", "3"], &["--batch-size", "8192", "--parallelism", "1"]];

/// The orders as DuckDB reads them, and their items with their places.
const ORDERS: &str = "
    WITH o AS (SELECT * FROM read_json('FOLDER/orders/*.jsonl', format = 'newline_delimited',
      columns = {id: 'INT', ts: 'TIMESTAMP', items: 'STRUCT(sku VARCHAR, n INT)[]'})),
    u AS (SELECT id, ts, unnest(items) AS i, generate_subscripts(items, 1) AS place FROM o)";

/// A query of the program's, and DuckDB's for the same rows.
const QUESTIONS: [(&str, &str); 3] = [
    (
        "SELECT window_start, sku, COUNT(*) AS c, SUM(n) AS n, MAX(place) AS place
         FROM TABLE(TUMBLE((SELECT ts, i.sku, i.n, i.place FROM orders CROSS JOIN UNNEST(items) WITH ORDINALITY AS i(sku, n, place)),
           DESCRIPTOR(ts), INTERVAL '1' MINUTE))
         GROUP BY window_start, window_end, sku",
        "SELECT strftime(time_bucket(INTERVAL '1 minute', ts), '%Y-%m-%dT%H:%M:%S.000') AS window_start, i.sku AS sku,
           count(*) AS c, sum(i.n) AS n, max(place) AS place FROM u GROUP BY ALL",
    ),
    (
        "SELECT id, sku, n, place FROM orders LEFT JOIN UNNEST(items) WITH ORDINALITY AS i(sku, n, place) ON TRUE
         WHERE n IS NULL OR n > 2",
        "SELECT o.id, u.i.sku AS sku, u.i.n AS n, u.place FROM o LEFT JOIN u ON o.id = u.id WHERE u.i.n IS NULL OR u.i.n > 2",
    ),
    (
        "SELECT window_start, ARRAY_AGG(sku) AS skus
         FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS w CROSS JOIN UNNEST(w.items) AS i(sku, n)
         GROUP BY w.window_start, w.window_end",
        "SELECT strftime(time_bucket(INTERVAL '1 minute', ts), '%Y-%m-%dT%H:%M:%S.000') AS window_start,
           list(i.sku ORDER BY ts, id % 2, id, place) AS skus FROM u GROUP BY 1",
    ),
];

type Item = Option<(Option<u8>, Option<i32>)>;
type Order = (u32, Option<Vec<Item>>);

/// Seconds after ten o'clock, and items.
fn orders() -> impl Strategy<Value = Vec<Order>> {
    let item =
        prop::option::weighted(0.9, (prop::option::weighted(0.9, 0..3_u8), prop::option::weighted(0.9, 0..6_i32)));
    let items = prop::option::weighted(0.9, prop::collection::vec(item, 0..5));
    prop::collection::vec((0..200_u32, items), 1..25)
}

/// Two files, whose numbers tell them apart: even ones stand in the first.
fn write(folder: &Path, orders: &[Order]) {
    let mut files = [String::new(), String::new()];
    for (id, (seconds, items)) in orders.iter().enumerate() {
        let item = |item: &Item| item.map(|(sku, n)| json!({"sku": sku.map(|sku| format!("s{sku}")), "n": n}));
        let items = items.as_ref().map(|items| items.iter().map(item).collect::<Vec<_>>());
        let ts = format!("2026-11-29 10:{:02}:{:02}", seconds / 60, seconds % 60);
        files[id % 2] += &format!("{}\n", json!({"id": id, "ts": ts, "items": items}));
    }
    fs::create_dir(folder.join("orders")).unwrap();
    for (name, text) in ["a", "b"].iter().zip(files) {
        fs::write(folder.join("orders").join(format!("{name}.jsonl")), text).unwrap();
    }
}

fn script(delay: &str, question: &str) -> String {
    format!(
        "CREATE TABLE orders (id INT, ts TIMESTAMP(3), items ARRAY<ROW<sku STRING, n INT>>, WATERMARK FOR ts AS ts - {delay})
         WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
         {question};"
    )
}

fn run(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let finished = Program::in_folder(folder).run(arguments);
    if finished.code == Some(0) { Ok(finished.stdout) } else { Err(finished.stdout + &finished.stderr) }
}

/// The rows as text, in an order of their own, without the kind of their change.
fn sorted(rows: impl IntoIterator<Item = Value>) -> Vec<String> {
    let mut rows: Vec<String> = rows
        .into_iter()
        .map(|mut row| {
            row.as_object_mut().unwrap().shift_remove("op");
            row.to_string()
        })
        .collect();
    rows.sort();
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn live_and_batch_answer_as_duckdb_does(orders in orders()) {
        let folder = fresh();
        write(folder.path(), &orders);
        let tables = ORDERS.replace("FOLDER", &folder.path().display().to_string());
        for (question, duckdbs) in QUESTIONS {
            let expected = sorted(duckdb(&format!("{tables} {duckdbs}")));
            fs::write(folder.path().join("q.sql"), script("INTERVAL '1' HOUR", question)).unwrap();
            for mode in MODES {
                let printed = run(folder.path(), &[&["run", "q.sql", "--output", "json"], mode].concat());
                let printed = printed.map_err(TestCaseError::fail)?;
                let given = sorted(printed.lines().map(|line| serde_json::from_str(line).unwrap()));
                prop_assert_eq!(&given, &expected, "{:?} {}", mode, question);
            }
        }
    }

    /// Without a delay many orders are late, each with all of its items.
    #[test]
    fn what_is_late_is_accounted_for(orders in orders()) {
        let folder = fresh();
        write(folder.path(), &orders);
        for (question, _) in QUESTIONS {
            fs::write(folder.path().join("q.sql"), script("INTERVAL '0' SECOND", question)).unwrap();
            run(folder.path(), &["reconcile", "q.sql", "--parallelism", "3"]).map_err(TestCaseError::fail)?;
        }
    }
}
