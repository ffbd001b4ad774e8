//! Windows of a query over a stream: the rows of the same windows in typed code, with the same late elements.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tidemill::{Result, Tables, WindowAssigner};

use crate::orders::{MINUTE_MS, Order, environment, order, orders, timed, with_watermarks};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Revenue {
    category: String,
    window_start: i64,
    cents: i64,
    orders: i64,
}

const REVENUE: &str = "
    SELECT category, window_start, window_time, SUM(cents) AS cents, COUNT(*) AS orders
    FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '1' MINUTE))
    GROUP BY category, window_start, window_end, window_time";

/// The revenue of a minute and category, and how many orders were late for theirs.
fn naive(orders: &[Order]) -> (Vec<Revenue>, u64) {
    let (mut revenue, mut late) = (BTreeMap::<(String, i64), (i64, i64)>::new(), 0);
    for (order, watermark) in with_watermarks(orders) {
        let window_start = order.placed_ms.div_euclid(MINUTE_MS) * MINUTE_MS;
        if watermark >= window_start + MINUTE_MS - 1 {
            late += 1;
            continue;
        }
        let (cents, orders) = revenue.entry((order.category, window_start)).or_default();
        (*cents, *orders) = (*cents + order.cents, *orders + 1);
    }
    let row = |((category, window_start), (cents, orders))| Revenue { category, window_start, cents, orders };
    (revenue.into_iter().map(row).collect(), late)
}

fn by_query(orders: Vec<Order>, parallelism: usize, batch_size: usize) -> Result<(Vec<Revenue>, u64)> {
    let env = environment(parallelism, batch_size);
    let mut tables = Tables::new(&env);
    tables.to_table_with_event_time("orders", timed(&env, orders), "placed")?;
    let revenue = tables.from_table::<Revenue>("revenue", REVENUE)?.collect();
    let executed = env.execute_live()?;
    let mut revenue = revenue.take();
    revenue.sort();
    Ok((revenue, executed.late_elements["revenue"]))
}

fn by_typed_code(orders: Vec<Order>, parallelism: usize, batch_size: usize) -> Result<(Vec<Revenue>, u64)> {
    let env = environment(parallelism, batch_size);
    let revenue = timed(&env, orders)
        .map(|order| (order.category, order.cents, 1))
        .key_by(|order| order.0.clone())
        .window(WindowAssigner::tumbling(Duration::from_secs(60)))
        .reduce("revenue", |a, b| (a.0, a.1 + b.1, a.2 + b.2))
        .map(|of| Revenue { category: of.key, window_start: of.window.start, cents: of.value.1, orders: of.value.2 })
        .collect();
    let executed = env.execute_live()?;
    let mut revenue = revenue.take();
    revenue.sort();
    Ok((revenue, executed.late_elements["revenue"]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_query_and_typed_code_give_the_rows_of_a_recomputation(
        orders in orders(),
        parallelism in 1..=3usize,
        batch_size in 1..50usize,
    ) {
        let expected = naive(&orders);
        prop_assert_eq!(&by_query(orders.clone(), parallelism, batch_size).unwrap(), &expected);
        prop_assert_eq!(&by_typed_code(orders, parallelism, batch_size).unwrap(), &expected);
    }

    /// Stream, table, query, stream, window, table, query: event time is kept all the way.
    #[test]
    fn what_a_query_gives_has_event_time_again(orders in orders(), parallelism in 1..=3usize, batch_size in 1..50usize) {
        let env = environment(parallelism, batch_size);
        let mut tables = Tables::new(&env);
        tables.to_table_with_event_time("orders", timed(&env, orders.clone()), "placed").unwrap();
        let minutes = tables.from_table::<Revenue>("revenue", REVENUE).unwrap();
        let of_five = minutes
            .key_by(|revenue| revenue.category.clone())
            .window(WindowAssigner::tumbling(Duration::from_secs(300)))
            .reduce("of five minutes", |a, b| Revenue { cents: a.cents + b.cents, orders: a.orders + b.orders, ..a })
            .map(|of| Revenue { window_start: of.window.start, ..of.value });
        tables.to_table_with_event_time("of_five", of_five, "ends").unwrap();
        let rows = tables.from_table::<Revenue>(
            "of ten minutes",
            "SELECT category, window_start, SUM(cents) AS cents, SUM(orders) AS orders
             FROM TABLE(TUMBLE((SELECT category, cents, orders, ends FROM of_five), DESCRIPTOR(ends), INTERVAL '10' MINUTE))
             GROUP BY category, window_start, window_end",
        );
        let rows = rows.unwrap().collect();
        let executed = env.execute_live().unwrap();
        let mut expected = BTreeMap::<(String, i64), (i64, i64)>::new();
        for Revenue { category, window_start, cents, orders } in naive(&orders).0 {
            let of = expected.entry((category, window_start.div_euclid(10 * MINUTE_MS) * 10 * MINUTE_MS)).or_default();
            *of = (of.0 + cents, of.1 + orders);
        }
        let row = |((category, window_start), (cents, orders))| Revenue { category, window_start, cents, orders };
        let expected: Vec<Revenue> = expected.into_iter().map(row).collect();
        let mut rows = rows.take();
        rows.sort();
        prop_assert_eq!(rows, expected);
        prop_assert_eq!(executed.late_elements["of five minutes"], 0, "results of windows are never late");
    }
}

#[test]
fn rows_that_a_query_lets_through_keep_their_time_and_their_watermark() {
    let env = environment(2, 2);
    let given = vec![order("a", 1, 0), order("a", 2, 200_000), order("a", 4, 1_000), order("b", 8, 199_000)];
    let mut tables = Tables::new(&env);
    tables.to_table_with_event_time("orders", timed(&env, given), "placed").unwrap();
    let kept = tables.from_table::<Order>("kept", "SELECT * FROM orders WHERE category = 'a'").unwrap();
    let sums = kept
        .key_by(|order| order.category.clone())
        .window(WindowAssigner::tumbling(Duration::from_secs(60)))
        .reduce("sums", |a, b| Order { cents: a.cents + b.cents, ..a })
        .map(|of| (of.window.start, of.value.cents))
        .collect();
    let executed = env.execute_live().unwrap();
    let mut sums = sums.take();
    sums.sort();
    assert_eq!(sums, [(0, 1), (180_000, 2)]);
    assert_eq!(executed.late_elements["sums"], 1, "the order of 1,000 ms came behind that of 200,000");
}

/// By the clocks of Berlin 23:30 UTC is in the next day, and is told so; the event time is an instant.
#[test]
fn windows_of_a_declared_table_go_by_the_clocks_of_a_zone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("t.jsonl"),
        "{\"at\": \"1970-01-01 23:30:00Z\"}\n{\"at\": \"1970-01-02 00:30:00Z\"}\n",
    )
    .unwrap();
    let env = environment(1, 10);
    let days = Tables::new(&env).in_folder(dir.path()).from_table::<(i64, i64, i64)>(
        "days",
        "SET 'table.local-time-zone' = 'Europe/Berlin';
         CREATE TABLE t (at TIMESTAMP_LTZ(3), WATERMARK FOR at AS at)
         WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
         SELECT window_start, window_time, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(at), INTERVAL '1' DAY))
         GROUP BY window_start, window_end, window_time",
    );
    let hours = days
        .unwrap()
        .key_by(|_| ())
        .window(WindowAssigner::tumbling(Duration::from_secs(3_600)))
        .reduce("hours", |a, _| a)
        .map(|of| (of.window.start, of.value))
        .collect();
    env.execute_live().unwrap();
    let (day, hour) = (86_400_000, 3_600_000);
    assert_eq!(hours.take(), [(2 * day - 2 * hour, (day, 2 * day - hour - 1, 2))]);
}

#[test]
fn first_and_last_values_go_by_event_time_whatever_the_order_of_arrival() {
    let env = environment(3, 1);
    let mut tables = Tables::new(&env);
    let given = vec![order("a", 3, 3_000), order("a", 1, 1_000), order("a", 4, 3_000), order("a", 2, 2_000)];
    tables.to_table_with_event_time("orders", timed(&env, given), "placed").unwrap();
    let rows = tables.from_table::<(i64, i64, String)>(
        "ends",
        "SELECT FIRST_VALUE(cents), LAST_VALUE(cents), LISTAGG(CAST(cents AS STRING))
         FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end",
    );
    let rows = rows.unwrap().collect();
    env.execute_live().unwrap();
    assert_eq!(rows.take(), [(1, 4, "1,2,3,4".to_owned())]);
}

/// The rows of two streams are one table.
#[test]
fn a_union_is_a_table() {
    let env = environment(2, 1);
    let mut tables = Tables::new(&env);
    let both =
        timed(&env, vec![order("a", 1, 0), order("a", 2, 100_000)]).union([timed(&env, vec![order("b", 4, 500)])]);
    tables.to_table_with_event_time("orders", both, "placed").unwrap();
    let rows = tables.from_table::<(i64, i64)>(
        "sums",
        "SELECT window_start, SUM(cents) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '1' MINUTE))
         GROUP BY window_start, window_end",
    );
    let rows = rows.unwrap().collect();
    env.execute_live().unwrap();
    let mut rows = rows.take();
    rows.sort();
    assert_eq!(rows, [(0, 5), (MINUTE_MS, 2)]);
}

/// Planning waits for nothing, so a query can be asked where a runtime drives the program.
#[test]
fn a_query_is_asked_within_an_async_function() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let rows = runtime.block_on(async {
        let env = environment(1, 10);
        let mut tables = Tables::new(&env);
        tables.to_table("orders", env.from_iter(vec![order("a", 1, 0)])).unwrap();
        let rows = tables.from_table::<(String,)>("q", "SELECT category FROM orders").unwrap().collect();
        env.run_live(std::future::pending()).await.unwrap();
        rows.take()
    });
    assert_eq!(rows, [("a".to_owned(),)]);
}
