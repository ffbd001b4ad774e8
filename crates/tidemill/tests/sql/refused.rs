//! What is wrong with a query, and where, is told before anything runs.

use serde::{Deserialize, Serialize};
use tidemill::{Environment, Error, Tables};

use crate::orders::{Order, environment, order, timed};

/// The error of a query over orders.
fn refused(sql: &str) -> Error {
    let env = environment(1, 10);
    let mut tables = Tables::new(&env);
    tables.to_table_with_event_time("orders", timed(&env, vec![order("a", 1, 0)]), "placed").unwrap();
    tables.from_table::<Order>("q", sql).err().unwrap()
}

#[test]
fn a_mistake_in_a_query_has_its_place() {
    let error = refused("SELECT\n  cent FROM orders");
    assert_eq!(error.message(), "q:2:3: there is no column 'cent'");
    assert_eq!(error.hint_text(), Some("did you mean 'cents'?"));
    assert_eq!(error.excerpt().unwrap().span, 9..13);
    assert_eq!(refused("SELECT * FROM order_s").message(), "q:1:15: there is no table 'order_s'");
    assert_eq!(
        refused("SELECT 1; SELECT 2").message(),
        "the query 'q': a query of a program is one SELECT, and this text has several"
    );
}

#[test]
fn a_field_needs_a_column() {
    let error = refused("SELECT category, cents, placed_ms FROM orders");
    assert!(error.message().ends_with("Order has the field 'coupon', and the query no such column"), "{error}");
    assert!(error.hint_text().unwrap().ends_with("the query's columns are category, cents, placed_ms"));
}

#[test]
fn what_the_program_does_itself_is_refused_in_a_query() {
    let of = |sql: &str| refused(sql).message().to_owned();
    assert_eq!(
        of("SET 'parallelism.default' = '4'; SELECT * FROM orders"),
        "q:1:5: SET 'parallelism.default' does not go with a query of a program"
    );
    assert_eq!(of("INSERT INTO orders SELECT * FROM orders"), "q:1:1: a query of a program inserts into no table");
    assert_eq!(of("SHOW TABLES"), "the query 'q': a query of a program has no use for SHOW, DESCRIBE and EXPLAIN");
    assert_eq!(
        of("SET 'tidemill.watermark.max-ahead' = '2030-01-01 00:00:00'; SELECT * FROM orders"),
        "q:1:61: SET 'tidemill.watermark.max-ahead' is for tables that a query reads itself, and 'orders' is a stream of the program"
    );
}

#[test]
fn what_needs_the_place_of_rows_in_a_log_is_refused() {
    let session = "SELECT category, COUNT(*) AS cents FROM TABLE(SESSION(TABLE orders PARTITION BY category, DESCRIPTOR(placed), \
                   INTERVAL '1' MINUTE)) GROUP BY category, window_start, window_end";
    let of = |sql: &str| {
        let env = environment(1, 10);
        let mut tables = Tables::new(&env);
        let stream = timed(&env, vec![order("a", 1, 0)]).union([timed(&env, vec![order("a", 1, 0)])]);
        tables.to_table_with_event_time("orders", stream, "placed").unwrap();
        #[derive(Clone, Deserialize)]
        struct Cents {
            #[allow(dead_code, reason = "only its column is asked for")]
            cents: i64,
        }
        tables.from_table::<Cents>("q", sql).err().unwrap().message().to_owned()
    };
    assert_eq!(
        of(session),
        "q:1:1: a SESSION over 'orders' needs rows in the order of one partition, which this stream is not in"
    );
    let watermark = "SELECT cents FROM orders WHERE placed > CURRENT_WATERMARK(placed)";
    assert_eq!(
        of(watermark),
        "q:1:1: CURRENT_WATERMARK needs the rows of a table that is declared, and these are a stream's"
    );
    let by_clock = "SELECT COUNT(*) AS cents FROM TABLE(TUMBLE((SELECT *, PROCTIME() AS p FROM orders), DESCRIPTOR(p), \
                    INTERVAL '1' MINUTE)) GROUP BY window_start, window_end";
    assert_eq!(
        of(by_clock),
        "q:1:1: a window over processing time can't be made over 'orders', a stream of the program"
    );
}

#[test]
fn event_time_is_one_column_that_the_elements_have() {
    let error = refused("SELECT category, cents, coupon, placed_ms, placed, placed AS again FROM orders");
    assert!(
        error
            .message()
            .ends_with("the query has two columns of event time, 'placed' and 'again', and an element has one time")
    );
    let env = environment(1, 10);
    let mut tables = Tables::new(&env);
    let error = tables.to_table_with_event_time("orders", env.from_iter(vec![order("a", 1, 0)]), "placed").unwrap_err();
    assert_eq!(
        error.message(),
        "the table 'orders' can't have the event time 'placed': the stream's elements have none"
    );
    let error = tables.to_table_with_event_time("orders", timed(&env, vec![]), "cents").unwrap_err();
    assert_eq!(
        error.message(),
        "the event time of the table 'orders' can't be the column 'cents': a field has that name"
    );
}

#[test]
fn a_table_has_a_name_of_its_own_and_columns_that_sql_has() {
    #[derive(Clone, Serialize, Deserialize)]
    struct Counted {
        count: u64,
    }
    let env = Environment::new();
    let mut tables = Tables::new(&env);
    let error = tables.to_table("counts", env.from_iter(vec![Counted { count: 1 }])).unwrap_err();
    assert_eq!(error.message(), "the table 'counts': the field 'count' is an unsigned number, which no column is");
    tables.to_table("orders", env.from_iter(vec![order("a", 1, 0)])).unwrap();
    let error = tables.to_table("orders", env.from_iter(vec![order("a", 1, 0)])).unwrap_err();
    assert_eq!(error.message(), "there is a table 'orders' already");
    let other = Environment::new();
    let error = tables.to_table("others", other.from_iter(vec![order("a", 1, 0)])).unwrap_err();
    assert_eq!(error.message(), "streams of two environments meet");
}

#[test]
fn a_null_for_a_field_that_is_no_option_names_the_query() {
    let env = environment(1, 10);
    let mut tables = Tables::new(&env);
    tables.to_table("orders", env.from_iter(vec![order("a", 1, 0)])).unwrap();
    let _ = tables.from_table::<(i64,)>("q", "SELECT coupon FROM orders").unwrap().collect();
    let error = env.execute_live().unwrap_err();
    assert!(error.message().starts_with("the query 'q': a row is no (i64,): "), "{error}");
    assert!(error.hint_text().unwrap().contains("a column that can be NULL is an Option"));
}

#[test]
fn a_column_of_another_type_than_the_field_is_refused_at_once() {
    let refused = |sql: &str| {
        let env = environment(1, 10);
        let mut tables = Tables::new(&env);
        tables.to_table("orders", env.from_iter(vec![order("a", 1, 0)])).unwrap();
        tables.from_table::<(i64, f64, String, bool)>("q", sql).map(|_| ()).map_err(|e| e.message().to_owned())
    };
    let of = |field: usize, column: &str| {
        Err(format!(
            "the query 'q': the field '{field}' of (i64, f64, alloc::string::String, bool) is not made of the column {column}"
        ))
    };
    assert_eq!(refused("SELECT category, 1e0 AS a, 'x' AS b, TRUE AS c FROM orders"), of(0, "'category', a STRING"));
    assert_eq!(refused("SELECT cents, 1.5 AS a, 'x' AS b, TRUE AS c FROM orders"), of(1, "'a', a DECIMAL(2, 1)"));
    assert_eq!(refused("SELECT cents, cents AS a, 'x' AS b, TRUE AS c FROM orders"), of(1, "'a', a BIGINT"));
    assert_eq!(refused("SELECT cents, 1e0 AS a, cents AS b, TRUE AS c FROM orders"), of(2, "'b', a BIGINT"));
    assert_eq!(refused("SELECT cents, 1e0 AS a, 'x' AS b, 'y' AS c FROM orders"), of(3, "'c', a STRING"));
    assert_eq!(refused("SELECT DATE '2026-11-30' AS d, 1e0 AS a, 1.5 AS b, TRUE AS c FROM orders"), Ok(()));
}

/// What is let through at once is what serde then takes.
#[test]
fn values_come_as_the_fields_that_they_are_let_through_for() {
    let env = environment(1, 10);
    let mut tables = Tables::new(&env);
    tables.to_table("orders", env.from_iter(vec![order("a", 1, 0)])).unwrap();
    let sql = "SELECT DATE '1970-01-02' AS a, TIMESTAMP '1970-01-01 00:00:01' AS b, TRUE AS c, CAST(7 AS TINYINT) AS d, \
               CAST(1.5 AS FLOAT) AS e, 1e0 AS f, 2.50 AS g, 'x' AS h, category, DATE '1970-01-02' AS i FROM orders";
    type Row = (i64, i64, i64, u64, f64, f32, String, String, Option<String>, String);
    let rows = tables.from_table::<Row>("q", sql).unwrap().collect();
    env.execute_live().unwrap();
    let text = str::to_owned;
    let expected = (1, 1_000, 1, 7, 1.5, 1.0, text("2.50"), text("x"), Some(text("a")), text("1970-01-02"));
    assert_eq!(rows.take(), [expected]);
}

#[test]
fn a_tuple_has_as_many_fields_as_the_query_columns() {
    let env = environment(1, 10);
    let error = Tables::new(&env).from_table::<(i64, i64)>("q", "SELECT 1 AS one").err().unwrap();
    assert_eq!(error.message(), "the query 'q': (i64, i64) has 2 fields, and the query 1 columns");
    assert_eq!(error.hint_text(), Some("select as many columns: now they are one"));
}

#[test]
fn first_value_goes_by_event_time_if_there_is_one() {
    let env = environment(1, 10);
    let mut tables = Tables::new(&env);
    tables.to_table("orders", env.from_iter(vec![order("a", 1, 0)])).unwrap();
    let sql = "SELECT FIRST_VALUE(cents) FROM orders GROUP BY category";
    let error = tables.from_changelog::<(i64,)>("q", sql).err().unwrap();
    assert_eq!(error.message(), "q:1:1: FIRST_VALUE needs rows that have an order, and these have no event time");
    assert!(error.hint_text().unwrap().contains("to_table_with_event_time"));
}
