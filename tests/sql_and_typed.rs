//! The same questions in SQL and in typed code, over the same files: both give the rows that a recomputation gives.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use chrono::NaiveDateTime;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidemill::{
    AggregateFunction, DataStream, Environment, EventTime, LateElement, OutputTag, Settings, Table, WatermarkStrategy,
    WindowAssigner,
};
use tidemill_tests::folder::{fresh, names};
use tidemill_tests::program::Program;

const MINUTE_MS: i64 = 60_000;
const GAP_MS: i64 = 20_000;
/// The watermark in milliseconds behind the latest order: what SQL writes as `at - INTERVAL '5' SECOND`.
const BEHIND_MS: i64 = 5_000;

const SQL: &str = "
SET 'tidemill.late-output.revenue' = 'late';
CREATE TABLE orders (
  order_id BIGINT, category STRING, cents BIGINT, at_ms BIGINT, `at` AS TO_TIMESTAMP_LTZ(at_ms, 3),
  WATERMARK FOR `at` AS `at` - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
CREATE TABLE revenue (start_at TIMESTAMP(3), category STRING, orders BIGINT, cents BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out/revenue', 'format' = 'json');
CREATE TABLE late (order_id BIGINT, window_start TIMESTAMP(3))
  WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
CREATE TABLE sessions (start_at TIMESTAMP(3), end_at TIMESTAMP(3), category STRING, orders BIGINT, cents BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out/sessions', 'format' = 'json');
INSERT INTO revenue
SELECT window_start, category, COUNT(*), SUM(cents)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(`at`), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
";

const SESSIONS: &str = "
INSERT INTO sessions
SELECT window_start, window_end, category, COUNT(*), SUM(cents)
FROM TABLE(SESSION(TABLE orders PARTITION BY category, DESCRIPTOR(`at`), INTERVAL '20' SECOND))
GROUP BY window_start, window_end, category;
";

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Order {
    order_id: i64,
    category: String,
    cents: i64,
    at_ms: i64,
}

/// Start, category, orders, cents.
type Revenue = (i64, String, i64, i64);
/// Start, end, category, orders, cents.
type Session = (i64, i64, String, i64, i64);
/// Order, start of the window that it missed.
type Late = (i64, i64);

#[derive(Debug, PartialEq, Eq)]
struct Answer {
    revenue: Vec<Revenue>,
    late: Vec<Late>,
}

impl Answer {
    fn sorted(mut self) -> Self {
        self.revenue.sort();
        self.late.sort_unstable();
        self
    }
}

/// Some files of orders, each in its own order of arrival: many by some seconds out of order, some by minutes.
fn files() -> impl Strategy<Value = Vec<Vec<Order>>> {
    let behind = prop_oneof![8 => 0..6_i64, 1 => 6..200_i64];
    let order = (0..3_u8, 0..10_000_i64, 0..8_i64, behind, prop_oneof![3 => Just(999_i64), 1 => 0..1_000_i64]);
    let file = prop::collection::vec(order, 1..150);
    prop::collection::vec(file, 1..4).prop_map(|files| {
        let mut number = 0;
        let mut order = |now: &mut i64, (category, cents, on, behind, part): (u8, i64, i64, i64, i64)| {
            *now += on;
            number += 1;
            // Many at the last millisecond of a second, so that the watermark meets that of a window.
            let at_ms = (300 + *now - behind) * 1_000 + part;
            Order { order_id: number, category: format!("category {category}"), cents, at_ms }
        };
        let mut file = |drawn: Vec<_>| {
            let mut now = 0;
            drawn.into_iter().map(|drawn| order(&mut now, drawn)).collect()
        };
        files.into_iter().map(&mut file).collect()
    })
}

fn write(files: &[Vec<Order>], folder: &Path) {
    fs::create_dir(folder.join("orders")).unwrap();
    for (number, orders) in files.iter().enumerate() {
        let lines = orders.iter().fold(String::new(), |mut lines, Order { order_id, category, cents, at_ms }| {
            writeln!(lines, r#"{{"order_id":{order_id},"category":"{category}","cents":{cents},"at_ms":{at_ms}}}"#)
                .unwrap();
            lines
        });
        fs::write(folder.join(format!("orders/{number}.jsonl")), lines).unwrap();
    }
}

/// By the definition: an order is in time for a window whose last millisecond its own watermark has not reached.
fn recomputed(files: &[Vec<Order>]) -> Answer {
    let (mut revenue, mut late) = (BTreeMap::<(i64, &str), (i64, i64)>::new(), vec![]);
    for orders in files {
        let mut watermark = i64::MIN;
        for Order { order_id, category, cents, at_ms } in orders {
            let start = at_ms.div_euclid(MINUTE_MS) * MINUTE_MS;
            if watermark < start + MINUTE_MS - 1 {
                let of = revenue.entry((start, category)).or_default();
                *of = (of.0 + 1, of.1 + cents);
            } else {
                late.push((*order_id, start));
            }
            watermark = watermark.max(at_ms - BEHIND_MS);
        }
    }
    let revenue = revenue.into_iter().map(|((start, of), (orders, cents))| (start, of.to_owned(), orders, cents));
    Answer { revenue: revenue.collect(), late }.sorted()
}

/// Of all orders, each at most the gap behind the one before.
fn sessions(files: &[Vec<Order>]) -> Vec<Session> {
    let mut orders: Vec<&Order> = files.iter().flatten().collect();
    orders.sort_by_key(|order| (&order.category, order.at_ms));
    let mut sessions: Vec<Session> = vec![];
    for Order { category, cents, at_ms, .. } in orders {
        let end = at_ms + GAP_MS;
        match sessions.last_mut().filter(|last| last.2 == *category && *at_ms <= last.1) {
            Some(last) => *last = (last.0, end, category.clone(), last.3 + 1, last.4 + cents),
            None => sessions.push((*at_ms, end, category.clone(), 1, *cents)),
        }
    }
    sessions.sort();
    sessions
}

/// The rows of a sink.
fn rows(folder: &Path, name: &str) -> Vec<Value> {
    let folder = folder.join("out").join(name);
    let lines = names(&folder).into_iter().map(|part| fs::read_to_string(folder.join(part)).unwrap());
    lines.collect::<String>().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn time_ms(value: &Value) -> i64 {
    let time = NaiveDateTime::parse_from_str(value.as_str().unwrap(), "%Y-%m-%d %H:%M:%S%.3f").unwrap();
    time.and_utc().timestamp_millis()
}

fn by_sql(folder: &Path, sql: &str) -> (Answer, Vec<Session>) {
    fs::write(folder.join("pipeline.sql"), sql).unwrap();
    let finished = Program::in_folder(folder).run(&["run", "pipeline.sql"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let number = |value: &Value| value.as_i64().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |row: &Value| (text(&row["category"]), number(&row["orders"]), number(&row["cents"]));
    let revenue = rows(folder, "revenue").into_iter().map(|row| {
        let (category, orders, cents) = of(&row);
        (time_ms(&row["start_at"]), category, orders, cents)
    });
    let late = rows(folder, "late").into_iter().map(|row| (number(&row["order_id"]), time_ms(&row["window_start"])));
    let sessions = rows(folder, "sessions").into_iter().map(|row| {
        let (category, orders, cents) = of(&row);
        (time_ms(&row["start_at"]), time_ms(&row["end_at"]), category, orders, cents)
    });
    let mut sessions: Vec<Session> = sessions.collect();
    sessions.sort();
    (Answer { revenue: revenue.collect(), late: late.collect() }.sorted(), sessions)
}

/// How many orders, and what they cost.
#[derive(Clone)]
struct Sum;

impl AggregateFunction for Sum {
    type In = Order;
    type Acc = (i64, i64);
    type Out = (i64, i64);

    fn create_accumulator(&self) -> Self::Acc {
        (0, 0)
    }

    fn add(&self, acc: &mut Self::Acc, order: Order) {
        *acc = (acc.0 + 1, acc.1 + order.cents);
    }

    fn result(&self, acc: &Self::Acc) -> Self::Out {
        *acc
    }

    fn merge(&self, a: Self::Acc, b: Self::Acc) -> Self::Acc {
        (a.0 + b.0, a.1 + b.1)
    }
}

const LATE: OutputTag<LateElement<Order>> = OutputTag::new("late");

fn by_program(folder: &Path, behind: Duration, settings: Settings) -> (Answer, Vec<Session>) {
    let env = Environment::with(settings);
    let table = Table::new("filesystem").with("path", "orders").with("format", "json").in_folder(folder);
    let by_time = WatermarkStrategy::for_bounded_out_of_orderness(behind)
        .with_timestamp_assigner(|order: &Order| EventTime(order.at_ms));
    let orders: DataStream<Order> = table.read(&env, "orders").unwrap().assign_timestamps_and_watermarks(by_time);
    let revenue = orders
        .clone()
        .key_by(|order| order.category.clone())
        .window(WindowAssigner::tumbling(Duration::from_secs(60)))
        .side_output_late_data(&LATE)
        .aggregate("revenue", Sum);
    let late = revenue.side_output(&LATE).collect();
    let revenue = revenue.map(|of| (of.window.start, of.key, of.value.0, of.value.1)).collect();
    let sessions = orders
        .key_by(|order| order.category.clone())
        .window(WindowAssigner::session(Duration::from_secs(20)))
        .aggregate("sessions", Sum)
        .map(|of| (of.window.start, of.window.end, of.key, of.value.0, of.value.1))
        .collect();
    env.execute_live().unwrap();
    let late = late.take().into_iter().map(|late| (late.element.order_id, late.missed[0].start)).collect();
    let mut sessions = sessions.take();
    sessions.sort();
    (Answer { revenue: revenue.take(), late }.sorted(), sessions)
}

proptest! {
    // Each case starts the program, so there are few.
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn revenue_by_minute_is_the_same_in_sql_in_typed_code_and_recomputed(
        files in files(), parallelism in 1..4_usize, batch_size in 1..40_usize,
    ) {
        let folder = fresh();
        write(&files, folder.path());
        let expected = recomputed(&files);
        prop_assert_eq!(&by_sql(folder.path(), SQL).0, &expected);
        // The strategy's watermark is a millisecond lower than that of SQL, as in Flink.
        let behind = Duration::from_millis(BEHIND_MS.unsigned_abs() - 1);
        let settings = Settings { parallelism, batch_size, ..Settings::default() };
        prop_assert_eq!(by_program(folder.path(), behind, settings).0, expected);
    }

    #[test]
    fn sessions_are_the_same_in_sql_in_typed_code_and_recomputed(files in files(), parallelism in 1..4_usize) {
        let folder = fresh();
        write(&files, folder.path());
        let expected = sessions(&files);
        // Nothing is late.
        let sql = SQL.replace("INTERVAL '5' SECOND", "INTERVAL '1' HOUR") + SESSIONS;
        prop_assert_eq!(&by_sql(folder.path(), &sql).1, &expected);
        let settings = Settings { parallelism, ..Settings::default() };
        prop_assert_eq!(by_program(folder.path(), Duration::from_secs(3600), settings).1, expected);
    }
}
