//! Sessions of a query over a stream, beside those of typed code.

use std::time::Duration;

use proptest::prelude::*;
use tidemill::{Tables, WindowAssigner};

use crate::orders::{Order, environment, orders, orders_in_time, timed};

type Session = (String, i64, i64, i64, i64);

const SESSIONS: &str = "
    SELECT category, window_start, window_end, SUM(cents), COUNT(*)
    FROM TABLE(SESSION(TABLE orders PARTITION BY category, DESCRIPTOR(placed), INTERVAL '20' SECOND))
    GROUP BY category, window_start, window_end";

fn by_query(orders: Vec<Order>, parallelism: usize, batch_size: usize) -> (Vec<Session>, u64) {
    let env = environment(parallelism, batch_size);
    let mut tables = Tables::new(&env);
    tables.to_table_with_event_time("orders", timed(&env, orders), "placed").unwrap();
    let sessions = tables.from_table::<Session>("sessions", SESSIONS).unwrap().collect();
    let executed = env.execute_live().unwrap();
    let mut sessions = sessions.take();
    sessions.sort();
    (sessions, executed.late_elements["sessions"])
}

fn by_typed_code(orders: Vec<Order>, parallelism: usize, batch_size: usize) -> (Vec<Session>, u64) {
    let env = environment(parallelism, batch_size);
    let sessions = timed(&env, orders)
        .map(|order| (order.category, order.cents, 1))
        .key_by(|order| order.0.clone())
        .window(WindowAssigner::session(Duration::from_secs(20)))
        .reduce("sessions", |a, b| (a.0, a.1 + b.1, a.2 + b.2))
        .map(|of| (of.key, of.window.start, of.window.end, of.value.1, of.value.2))
        .collect();
    let executed = env.execute_live().unwrap();
    let mut sessions = sessions.take();
    sessions.sort();
    (sessions, executed.late_elements["sessions"])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_query_and_typed_code_find_the_same_sessions(
        orders in orders_in_time(),
        parallelism in 1..=3usize,
        batch_size in 1..50usize,
    ) {
        let query = by_query(orders.clone(), parallelism, batch_size);
        prop_assert_eq!(query.1, 0, "none is late");
        prop_assert_eq!(by_typed_code(orders, parallelism, batch_size), query);
    }

    /// An order that touches a session which is closed is late in SQL, as it is in a file; typed code begins another.
    #[test]
    fn which_orders_are_late_for_sessions_depends_on_their_order_alone(
        orders in orders(),
        (parallelism, batch_size) in (1..=3usize, 1..50usize),
    ) {
        let found = by_query(orders.clone(), parallelism, batch_size);
        let in_sessions: i64 = found.0.iter().map(|session| session.4).sum();
        prop_assert_eq!(in_sessions as u64 + found.1, orders.len() as u64, "each is in a session or late");
        prop_assert_eq!(by_query(orders, 1, 1_000), found, "however it is run");
    }
}
