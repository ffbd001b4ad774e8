//! Delta tables, by the whole program; what is in them by a reader of the log and by DuckDB's extension.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use tidemill_tests::delta::DeltaTable;
use tidemill_tests::folder::{fresh, names};
use tidemill_tests::program::{Finished, Program};

const ORDERS: &str = "CREATE TABLE orders (id BIGINT, region STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
";

/// How a file of SQL is run.
const WAYS: [&[&str]; 3] = [&["--batch"], &["--parallelism", "2"], &["--data-dir", "data"]];

fn folder(lines: &str) -> TempDir {
    let folder = fresh();
    fs::write(folder.path().join("orders.jsonl"), lines).unwrap();
    folder
}

fn run(folder: &Path, sql: &str, way: &[&str]) -> Finished {
    fs::write(folder.join("q.sql"), sql).unwrap();
    Program::in_folder(folder).run(&[&["run", "q.sql"], way].concat())
}

fn run_well(folder: &Path, sql: &str, way: &[&str]) {
    let finished = run(folder, sql, way);
    assert_eq!(finished.code, Some(0), "{way:?}: {}", finished.stderr);
}

fn orders(count: u64) -> String {
    let order = |id: u64| {
        let region = if id.is_multiple_of(7) { "null".to_owned() } else { format!("\"r{}\"", id % 3) };
        format!(
            "{{\"id\":{id},\"region\":{region},\"amount\":{}.{:02},\"ts\":\"2026-03-01 10:{:02}:{:02}\"}}\n",
            id * 31 % 500,
            id * 7 % 100,
            id / 60 % 60,
            id % 60
        )
    };
    (0..count).map(order).collect()
}

/// Each way of running gives the same table: of rows that pass, and of windows.
#[test]
fn a_batch_and_a_live_run_write_the_same_rows() {
    let sql = format!(
        "SET 'execution.checkpointing.interval' = '20 ms';
{ORDERS}CREATE TABLE passed (id BIGINT, region STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3)) PARTITIONED BY (region)
  WITH ('connector' = 'delta', 'table-path' = 'out/passed');
CREATE TABLE minutes (opened TIMESTAMP(3), region STRING, orders BIGINT, revenue DECIMAL(38, 2))
  WITH ('connector' = 'delta', 'table-path' = 'out/minutes');
INSERT INTO passed SELECT id, region, amount, ts FROM orders WHERE id % 5 <> 0;
INSERT INTO minutes SELECT window_start, region, COUNT(*), SUM(amount)
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, region;
"
    );
    let rows = |way: &[&str]| {
        let folder = folder(&orders(3_000));
        run_well(folder.path(), &sql, way);
        let table = |name: &str| DeltaTable::at(&folder.path().join("out").join(name)).unwrap();
        let passed = table("passed").rows("SELECT id, region, amount, ts FROM t ORDER BY id");
        let minutes = table("minutes").rows("SELECT opened, region, orders, revenue FROM t ORDER BY opened, region");
        let pruned = table("passed").rows("SELECT count(*) AS n FROM t WHERE region = 'r1' AND id < 100");
        assert_eq!(pruned[0]["n"], (0..100).filter(|id| id % 3 == 1 && id % 5 != 0 && id % 7 != 0).count());
        (passed, minutes)
    };
    let batch = rows(WAYS[0]);
    assert_eq!((batch.0.len(), batch.1.len()), (2_400, 200));
    assert_eq!(batch.0[0], json!({"id": 1, "region": "r1", "amount": 31.07, "ts": "2026-03-01 10:00:01"}));
    for way in &WAYS[1..] {
        assert_eq!(rows(way), batch, "{way:?}");
    }
}

#[test]
fn every_type_is_read_by_others_as_what_it_is() {
    let sql = format!(
        "{ORDERS}CREATE TABLE sink (b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f32 FLOAT, f64 DOUBLE,
  d9 DECIMAL(9, 2), d38 DECIMAL(38, 10), s STRING, x BYTES, day DATE, t3 TIMESTAMP(3), t6 TIMESTAMP(6), l3 TIMESTAMP_LTZ(3),
  a ARRAY<TIMESTAMP(3)>, m MAP<STRING, DECIMAL(10, 2)>, r ROW<n BIGINT, inner_row ROW<texts ARRAY<STRING>>>)
  WITH ('connector' = 'delta', 'table-path' = 'out');
INSERT INTO sink SELECT TRUE, CAST(-1 AS TINYINT), CAST(-2 AS SMALLINT), CAST(-3 AS INT), id, CAST(0.5 AS FLOAT), 0.25e0, CAST(-0.05 AS DECIMAL(9, 2)),
  CAST('1234567890123456789012345678.0123456789' AS DECIMAL(38, 10)), 'ü\"', x'00ff', DATE '2026-03-01', ts,
  CAST('2026-03-01 10:00:00.000001' AS TIMESTAMP(6)), CAST(ts AS TIMESTAMP_LTZ(3)), ARRAY[ts, CAST(NULL AS TIMESTAMP(3))],
  MAP['k', amount], ROW(id, ROW(ARRAY['p', 'q'])) FROM orders WHERE id = 1;
INSERT INTO sink SELECT CAST(NULL AS BOOLEAN), CAST(NULL AS TINYINT), CAST(NULL AS SMALLINT), CAST(NULL AS INT), id,
  CAST(NULL AS FLOAT), CAST(NULL AS DOUBLE), CAST(NULL AS DECIMAL(9, 2)), CAST(NULL AS DECIMAL(38, 10)), CAST(NULL AS STRING),
  CAST(NULL AS BYTES), CAST(NULL AS DATE), CAST(NULL AS TIMESTAMP(3)), CAST(NULL AS TIMESTAMP(6)),
  CAST(NULL AS TIMESTAMP_LTZ(3)), CAST(NULL AS ARRAY<TIMESTAMP(3)>), CAST(NULL AS MAP<STRING, DECIMAL(10, 2)>),
  CAST(NULL AS ROW<n BIGINT, inner_row ROW<texts ARRAY<STRING>>>) FROM orders WHERE id = 2;
"
    );
    for way in WAYS {
        let folder = folder(&orders(3));
        run_well(folder.path(), &sql, way);
        let table = DeltaTable::at(&folder.path().join("out")).unwrap();
        let types = [
            ("i16", "short"),
            ("d38", "decimal(38,10)"),
            ("t3", "timestamp_ntz"),
            ("l3", "timestamp"),
            ("x", "binary"),
        ];
        for (column, delta) in types {
            assert_eq!(table.type_of(column), Some(delta));
        }
        let rows = table.rows("SELECT * REPLACE (hex(x) AS x, CAST(d38 AS VARCHAR) AS d38) FROM t ORDER BY i64");
        let expected = json!({
            "b": true, "i8": -1, "i16": -2, "i32": -3, "i64": 1, "f32": 0.5, "f64": 0.25, "d9": -0.05,
            "d38": "1234567890123456789012345678.0123456789", "s": "ü\"", "x": "00FF", "day": "2026-03-01",
            "t3": "2026-03-01 10:00:01", "t6": "2026-03-01 10:00:00.000001", "l3": "2026-03-01 10:00:01+00",
            "a": ["2026-03-01 10:00:01", null], "m": {"k": 31.07}, "r": {"n": 1, "inner_row": {"texts": ["p", "q"]}},
        });
        assert_eq!(rows[0], expected, "{way:?}");
        let null = rows[1].as_object().unwrap().iter().filter(|(name, _)| *name != "i64");
        assert!(null.into_iter().all(|(_, value)| value.is_null()), "{}", rows[1]);
    }
}

/// Values that a path can't hold, or that mean something in one.
#[test]
fn partitions_have_any_values() {
    let values = ["a/b", "a=b", "50%", "%2F", "it's \"so\"", "ü 🦀", "..", "a?b#c", "[x]", "a:b*", " ", "null"];
    let lines: String = values
        .iter()
        .zip(1..)
        .map(|(value, id)| {
            format!("{}\n", json!({"id": id, "region": value, "amount": 1, "ts": "2026-03-01 10:00:00"}))
        })
        .chain(["{\"id\":0,\"region\":null,\"ts\":\"2026-03-01 10:00:00\"}\n".to_owned()])
        .collect();
    let sql = format!(
        "{ORDERS}CREATE TABLE sink (id BIGINT, region STRING, ts TIMESTAMP(3), moment TIMESTAMP_LTZ(3), amount DECIMAL(10, 2))
  PARTITIONED BY (region, ts, moment, amount) WITH ('connector' = 'delta', 'table-path' = 'out dir/ü #1');
INSERT INTO sink SELECT id, region, ts, CAST(ts AS TIMESTAMP_LTZ(3)), amount FROM orders;
"
    );
    for way in WAYS {
        let folder = folder(&lines);
        run_well(folder.path(), &sql, way);
        let table = DeltaTable::at(&folder.path().join("out dir/ü #1")).unwrap();
        let rows = table.rows("SELECT id, region, ts, moment, amount FROM t ORDER BY id");
        let row = |id: usize, region: Value, amount: Value| json!({"id": id, "region": region, "ts": "2026-03-01 10:00:00", "moment": "2026-03-01 10:00:00+00", "amount": amount});
        let known = values.iter().enumerate().map(|(index, value)| row(index + 1, json!(value), json!(1.00)));
        let expected: Vec<Value> = [row(0, Value::Null, Value::Null)].into_iter().chain(known).collect();
        assert_eq!(rows, expected, "{way:?}");
    }
}

#[test]
fn insert_overwrite_replaces_what_it_writes_in_one_entry() {
    let folder = folder(&orders(100));
    let sql = |verb: &str, query: &str, by: &str| {
        format!(
            "{ORDERS}CREATE TABLE sink (id BIGINT, region STRING) {by} WITH ('connector' = 'delta', 'table-path' = 'out');
INSERT {verb} sink SELECT id, region FROM orders WHERE {query};
"
        )
    };
    let by = "PARTITIONED BY (region)";
    let count = |region: &str| {
        let table = DeltaTable::at(&folder.path().join("out")).unwrap();
        let rows = table.rows(&format!("SELECT count(*) AS n FROM t WHERE region {region}"));
        rows.first().map_or(0, |row| row["n"].as_u64().unwrap())
    };
    run_well(folder.path(), &sql("INTO", "id < 60", by), &["--batch"]);
    let before = (count("= 'r0'"), count("= 'r1'"), count("IS NULL"));
    run_well(folder.path(), &sql("OVERWRITE", "id >= 90 AND (region = 'r1' OR region IS NULL)", by), &["--batch"]);
    let of = |region: u64| (90..100).filter(|id| id % 7 != 0 && id % 3 == region).count() as u64;
    assert_eq!((count("= 'r0'"), count("= 'r1'"), count("IS NULL")), (before.0, of(1), 2));
    let table = DeltaTable::at(&folder.path().join("out")).unwrap();
    assert_eq!(table.operations, ["CREATE TABLE", "WRITE"]);
    let refused = run(folder.path(), &sql("OVERWRITE", "id < 3", by), &[]);
    assert_eq!(refused.code, Some(2), "a live run can't: {}", refused.stderr);
}

/// A run that goes on with its data directory finds that all is committed.
#[test]
fn a_run_that_is_repeated_with_its_data_directory_adds_nothing() {
    let folder = folder(&orders(500));
    let sql = format!(
        "{ORDERS}CREATE TABLE sink (id BIGINT) WITH ('connector' = 'delta', 'table-path' = 'out');
INSERT INTO sink SELECT id FROM orders;
"
    );
    for _ in 0..3 {
        run_well(folder.path(), &sql, WAYS[2]);
        let table = DeltaTable::at(&folder.path().join("out")).unwrap();
        assert_eq!(table.rows("SELECT count(*) AS n FROM t ")[0]["n"], 500);
        assert_eq!(table.transactions.len(), 1);
    }
}

#[test]
fn a_run_that_fails_leaves_nothing() {
    let sql = format!(
        "{ORDERS}CREATE TABLE sink (id BIGINT, region STRING) PARTITIONED BY (region)
  WITH ('connector' = 'delta', 'table-path' = 'out');
INSERT INTO sink SELECT id, region FROM orders;
"
    );
    let folder = folder(&(orders(5_000) + "{\"id\":\n"));
    for way in &WAYS[..2] {
        let finished = run(folder.path(), &sql, way);
        assert_eq!(finished.code, Some(1), "{}", finished.stderr);
        assert_eq!(names(&folder.path().join("out")), Vec::<String>::new());
    }
}
