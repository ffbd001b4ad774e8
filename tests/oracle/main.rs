//! The oracles themselves: what the helpers give is what the tests that use them expect.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use tidemill_tests::duckdb::duckdb;

#[test]
fn duckdb_gives_the_rows_of_the_last_statement() {
    let rows = duckdb(
        "CREATE TABLE t AS SELECT 12345678901234567890.10::DECIMAL(38, 2) AS amount, TIMESTAMP '2026-11-29 10:00:00.001' AS ts;
         SELECT amount, ts, TIMESTAMPTZ '2026-11-29 10:00:00+02' AS ltz, [1, NULL] AS list, {'a': 'é\"'} AS \"row\", NULL AS nothing
         FROM t",
    );
    let [row] = &rows[..] else { panic!("one row, not {rows:?}") };
    let expected = r#"{"amount":12345678901234567890.10,"ts":"2026-11-29 10:00:00.001","ltz":"2026-11-29 08:00:00+00","list":[1,null],"row":{"a":"é\""},"nothing":null}"#;
    assert_eq!(row.to_string(), expected);
    assert!(duckdb("SELECT 1 AS a WHERE FALSE").is_empty());
}

#[test]
#[should_panic(expected = "no_such_column")]
fn duckdb_says_what_it_refuses() {
    let _ = duckdb("SELECT no_such_column");
}

/// More than a pipe holds, both ways.
#[test]
fn duckdb_takes_long_questions_and_gives_long_answers() {
    let question = format!("SELECT '{}' AS long", "x".repeat(200_000));
    assert_eq!(duckdb(&question)[0]["long"].as_str().unwrap().len(), 200_000);
}
