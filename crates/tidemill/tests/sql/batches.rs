//! Queries of programs that run as batches: nothing is late, and the rows are those of a recomputation over all.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tidemill::{Environment, Settings, Tables};

use crate::orders::{MINUTE_MS, Order, orders, timed};

type Revenue = (String, i64, i64, i64);

const REVENUE: &str = "
    SELECT category, window_start, SUM(cents), COUNT(*)
    FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '1' MINUTE))
    GROUP BY category, window_start, window_end";

const SESSIONS: &str = "
    SELECT category, window_start, SUM(cents), COUNT(*)
    FROM TABLE(SESSION(TABLE orders PARTITION BY category, DESCRIPTOR(placed), INTERVAL '20' SECOND))
    GROUP BY category, window_start, window_end";

fn in_a_batch(query: &str, orders: Vec<Order>, settings: Settings) -> Vec<Revenue> {
    let env = Environment::with(settings);
    let mut tables = Tables::new(&env);
    tables.to_table_with_event_time("orders", timed(&env, orders), "placed").unwrap();
    let rows = tables.from_table::<Revenue>("rows", query).unwrap().collect();
    let executed = env.execute_batch().unwrap();
    assert_eq!(executed.late_elements["rows"], 0);
    let mut rows = rows.take();
    rows.sort();
    rows
}

fn revenue(orders: &[Order]) -> Vec<Revenue> {
    let mut revenue = BTreeMap::<(String, i64), (i64, i64)>::new();
    for order in orders {
        let window_start = order.placed_ms.div_euclid(MINUTE_MS) * MINUTE_MS;
        let (cents, orders) = revenue.entry((order.category.clone(), window_start)).or_default();
        (*cents, *orders) = (*cents + order.cents, *orders + 1);
    }
    revenue.into_iter().map(|((category, start), (cents, orders))| (category, start, cents, orders)).collect()
}

fn sessions(orders: &[Order]) -> Vec<Revenue> {
    let mut orders: Vec<_> =
        orders.iter().map(|order| (order.category.clone(), order.placed_ms, order.cents)).collect();
    orders.sort();
    let mut sessions: Vec<(Revenue, i64)> = vec![];
    for (category, placed_ms, cents) in orders {
        match sessions.last_mut() {
            Some(((of, _, sum, count), last)) if *of == category && placed_ms - *last <= 20_000 => {
                (*sum, *count, *last) = (*sum + cents, *count + 1, placed_ms);
            }
            _ => sessions.push(((category, placed_ms, cents, 1), placed_ms)),
        }
    }
    sessions.into_iter().map(|(session, _)| session).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_query_of_a_batch_counts_what_a_live_run_would_find_late(
        orders in orders(),
        (parallelism, batch_size) in (1..=3usize, 1..50usize),
        shuffle_memory in prop_oneof![Just(0), Just(1 << 20)],
    ) {
        let settings = Settings { parallelism, batch_size, shuffle_memory, ..Settings::default() };
        prop_assert_eq!(in_a_batch(REVENUE, orders.clone(), settings.clone()), revenue(&orders));
        prop_assert_eq!(in_a_batch(SESSIONS, orders.clone(), settings), sessions(&orders));
    }
}

/// What goes by the place of a row, over a table that the query declares.
#[test]
fn a_declared_table_has_places_in_a_batch_too() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        |n: i64| format!("{{\"category\": \"{}\", \"n\": {n}, \"at\": \"2025-12-01 00:00:0{}\"}}\n", n % 2, n % 3);
    std::fs::write(folder.path().join("in.jsonl"), (0..50).map(line).collect::<String>()).unwrap();
    let env = Environment::with(Settings { batch_size: 3, ..Settings::default() });
    let tables = Tables::new(&env);
    let path = folder.path().join("in.jsonl");
    let sql = format!(
        "CREATE TABLE t (category STRING, n BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
         WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{}');
         SELECT category, window_start, FIRST_VALUE(n), COUNT(*)
         FROM TABLE(SESSION(TABLE t PARTITION BY category, DESCRIPTOR(at), INTERVAL '20' SECOND))
         GROUP BY category, window_start, window_end",
        path.display()
    );
    let rows = tables.from_table::<Revenue>("rows", &sql).unwrap().collect();
    env.execute_batch().unwrap();
    let mut rows = rows.take();
    rows.sort();
    let midnight = 1_764_547_200_000;
    // Of the rows of the first second, the first in the file.
    assert_eq!(rows, [("0".to_owned(), midnight, 0, 25), ("1".to_owned(), midnight, 3, 25)]);
}
