//! A program with queries that is stopped again and again goes on with their state.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tidemill::{AggregateFunction, Environment, EventTime, Result, Settings, Tables, WatermarkStrategy};

use crate::orders::Order;

/// The greatest difference of two values.
struct Spread;

impl AggregateFunction for Spread {
    type In = i64;
    type Acc = Option<(i64, i64)>;
    type Out = Option<i64>;

    fn create_accumulator(&self) -> Option<(i64, i64)> {
        None
    }

    fn add(&self, bounds: &mut Option<(i64, i64)>, value: i64) {
        *bounds = self.merge(*bounds, Some((value, value)));
    }

    fn result(&self, bounds: &Option<(i64, i64)>) -> Option<i64> {
        bounds.map(|(least, most)| most - least)
    }

    fn merge(&self, a: Option<(i64, i64)>, b: Option<(i64, i64)>) -> Option<(i64, i64)> {
        match (a, b) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (one, None) | (None, one) => one,
        }
    }
}

type Row = (String, i64, Option<i64>, i64);

/// Windows of a second over a program's elements, then Top-1 of each window.
const QUERY: &str = "
    SELECT category, window_start, spread, cents FROM (
      SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY cents DESC) AS place FROM (
        SELECT category, window_start, window_end, spread(cents) AS spread, SUM(cents) AS cents
        FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '1' SECOND))
        GROUP BY category, window_start, window_end))
    WHERE place = 1";

/// Some rows are late for these, which depends on the order of all.
const SESSIONS: &str = "
    SELECT category, window_start, spread(cents), SUM(cents)
    FROM TABLE(SESSION(TABLE orders PARTITION BY category, DESCRIPTOR(placed), INTERVAL '0.1' SECOND))
    GROUP BY category, window_start, window_end";

fn given() -> Vec<Order> {
    let order = |n: i64| Order {
        category: format!("c{}", n % 7),
        cents: (n * 37) % 101,
        coupon: None,
        placed_ms: n * 10 + (n * 7) % 300,
    };
    (0..3_000).map(order).collect()
}

/// Runs until so many elements have come, or to the end; the rows that it has given, and whether it was stopped.
fn run(data_dir: Option<&Path>, limit: usize) -> Result<(bool, Vec<Row>)> {
    let data_dir = data_dir.map(Path::to_owned);
    let settings = Settings { parallelism: 2, batch_size: 20, data_dir, ..Settings::default() };
    let env = Environment::with(Settings { checkpoint_interval: Duration::from_millis(20), ..settings });
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let orders = env
        .from_iter(given())
        .map(move |order| {
            // From here on little comes, so that the run hears that it is to stop.
            if counted.fetch_add(1, Ordering::Relaxed) >= limit {
                std::thread::sleep(Duration::from_millis(3));
            }
            order
        })
        .assign_timestamps_and_watermarks(
            WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(100))
                .with_timestamp_assigner(|order: &Order| EventTime(order.placed_ms)),
        );
    let mut tables = Tables::new(&env);
    tables.to_table_with_event_time("orders", orders, "placed")?;
    tables.register_aggregate("spread", Spread)?;
    let greatest = tables.from_table::<Row>("greatest", QUERY)?;
    let rows = greatest.union([tables.from_table::<Row>("sessions", SESSIONS)?]).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let executed = runtime.block_on(env.run_live(async {
        while seen.load(Ordering::Relaxed) < limit {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }));
    Ok((executed?.stopped, rows.take()))
}

#[test]
fn a_program_with_queries_goes_on_from_its_data_directory() {
    let dir = tempfile::tempdir().unwrap();
    let (mut rows, mut stops) = (vec![], 0);
    loop {
        let (stopped, some) = run(Some(dir.path()), 700).unwrap();
        rows.extend(some);
        if !stopped {
            break;
        }
        stops += 1;
        assert!(stops < 100, "no run gets on");
    }
    assert!(stops > 0, "no run was stopped");
    let (_, mut expected) = run(None, usize::MAX).unwrap();
    assert!(expected.len() > 100, "windows and sessions");
    rows.sort();
    expected.sort();
    assert_eq!(rows, expected);
}

#[test]
fn a_query_that_asks_otherwise_does_not_take_up_the_state() {
    let dir = tempfile::tempdir().unwrap();
    let env = |sql: &str| {
        let env = Environment::with(Settings { data_dir: Some(dir.path().to_owned()), ..Settings::default() });
        let mut tables = Tables::new(&env);
        tables.to_table("orders", env.from_iter(given())).unwrap();
        tables.from_table::<(String,)>("chosen", sql).unwrap().for_each("ignored", |_| ());
        env
    };
    env("SELECT category FROM orders WHERE cents > 5").execute_live().unwrap();
    let error = env("SELECT category FROM orders WHERE cents > 6").execute_live().unwrap_err();
    assert!(error.message().contains("cents"), "{error}");
    let same = env("SELECT category FROM orders WHERE cents > 5").execute_live().unwrap();
    assert!(same.was_finished);
}

#[test]
fn tables_that_queries_read_have_a_source_for_each_and_names_do_not_collide() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("orders.jsonl"), "{\"cents\": 5}\n{\"cents\": 7}\n").unwrap();
    let settings = Settings { data_dir: Some(dir.path().join("job")), ..Settings::default() };
    let env = Environment::with(settings);
    let tables = Tables::new(&env).in_folder(dir.path());
    let declared = "CREATE TABLE orders (cents BIGINT) WITH \
                    ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
                    CREATE VIEW doubled AS SELECT cents * 2 AS cents FROM orders;";
    let all = tables.from_table::<(i64,)>("all", &format!("{declared} SELECT cents FROM doubled")).unwrap();
    let large = tables.from_table::<(i64,)>("large", &format!("{declared} SELECT cents FROM orders WHERE cents > 5"));
    let (all, large) = (all.collect(), large.unwrap().collect());
    env.execute_live().unwrap();
    assert_eq!(all.take(), [(10,), (14,)]);
    assert_eq!(large.take(), [(7,)]);

    let env = Environment::new();
    let tables = Tables::new(&env).in_folder(dir.path());
    let all = tables.from_table::<(i64,)>("all", &format!("{declared} SELECT cents FROM orders")).unwrap();
    all.for_each("ignored", |_| ());
    env.from_iter([1]).for_each("orders", |_| ());
    assert_eq!(env.execute_live().unwrap_err().message(), "two steps are called 'orders'");

    let env = Environment::new();
    let mut tables = Tables::new(&env);
    tables.to_table("orders", env.from_iter(given())).unwrap();
    for _ in 0..2 {
        let all = tables.from_table::<(String,)>("all", "SELECT category FROM orders").unwrap();
        let _ = all.collect();
    }
    assert_eq!(env.execute_live().unwrap_err().message(), "two steps are called 'all'");
}
