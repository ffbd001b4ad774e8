//! `tidemill demo` as a process: its final numbers are those that its events say, and live and batch balance.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tidemill_tests::folder::fresh;
use tidemill_tests::program::{Program, signal};
use tidemill_tests::rows::final_rows;

const MINUTE_MS: i64 = 60_000;

/// The shop's events, as the program writes them.
const EVENTS: &str = "CREATE TABLE events (
  event_id BIGINT, event_type STRING, event_time TIMESTAMP(3), user_id BIGINT,
  payload ROW<product_id STRING, category STRING, action STRING, quantity INT, total_amount DECIMAL(10, 2)>
) WITH ('connector' = 'shop', 'number-of-rows' = '5000', 'seed' = '7');
SELECT * FROM events;";

struct Event {
    event_type: String,
    time_ms: i64,
    user: i64,
    cents: i64,
    /// The watermark when it came: the latest time before it, less five seconds.
    watermark_ms: i64,
}

fn cents(amount: &Value) -> i64 {
    if amount.is_null() { 0 } else { amount.to_string().replace('.', "").parse().unwrap() }
}

/// Milliseconds of `2026-11-02T09:00:00.000` in its month.
fn time_ms(time: &Value) -> i64 {
    let time = time.as_str().unwrap();
    assert!(time.starts_with("2026-11-0"), "{time}");
    let part = |range: std::ops::Range<usize>| time[range].parse::<i64>().unwrap();
    (((part(8..10) * 24 + part(11..13)) * 60 + part(14..16)) * 60 + part(17..19)) * 1_000 + part(20..23)
}

/// The events in the order in which they arrive.
fn events() -> Vec<Event> {
    let folder = fresh();
    std::fs::write(folder.path().join("events.sql"), EVENTS).unwrap();
    let finished =
        Program::in_folder(folder.path()).run(&["run", "events.sql", "--output", "json", "--parallelism", "1"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let mut rows: Vec<Value> = finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rows.sort_by_key(|row| row["event_id"].as_i64().unwrap());
    let mut latest_ms = i64::MIN / 2;
    let event = |row: &Value| {
        let time_ms = time_ms(&row["event_time"]);
        let watermark_ms = latest_ms - 5_000;
        latest_ms = latest_ms.max(time_ms);
        let event_type = row["event_type"].as_str().unwrap().to_owned();
        let user = row["user_id"].as_i64().unwrap();
        Event { event_type, time_ms, user, cents: cents(&row["payload"]["total_amount"]), watermark_ms }
    };
    rows.iter().map(event).collect()
}

/// The rows that a statement of the demo leaves.
fn rows_of(stdout: &str, statement: &str) -> Vec<Value> {
    let start = format!("{{\"statement\":\"{statement}\",");
    let changes: String =
        stdout.lines().filter_map(|line| line.strip_prefix(&start)).map(|rest| format!("{{{rest}\n")).collect();
    final_rows(&changes).lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

/// Orders and cents, live, by the end of their minute; and the late ones.
fn expected_revenue(events: &[Event]) -> (BTreeMap<i64, (i64, i64)>, usize) {
    let (mut minutes, mut late) = (BTreeMap::<i64, (i64, i64)>::new(), 0);
    for order in events.iter().filter(|event| event.event_type == "order.placed") {
        let end_ms = (order.time_ms.div_euclid(MINUTE_MS) + 1) * MINUTE_MS;
        if order.watermark_ms >= end_ms - 1 {
            late += 1;
            continue;
        }
        let minute = minutes.entry(end_ms).or_default();
        *minute = (minute.0 + 1, minute.1 + order.cents);
    }
    (minutes, late)
}

fn expected_users(events: &[Event]) -> BTreeMap<i64, i64> {
    let mut windows = BTreeMap::<i64, BTreeSet<i64>>::new();
    for event in events {
        let first_end_ms = (event.time_ms.div_euclid(MINUTE_MS) + 1) * MINUTE_MS;
        for end_ms in (0..5).map(|minute| first_end_ms + minute * MINUTE_MS) {
            if event.watermark_ms < end_ms - 1 {
                windows.entry(end_ms).or_default().insert(event.user);
            }
        }
    }
    windows.into_iter().map(|(end_ms, users)| (end_ms, users.len() as i64)).collect()
}

fn expected_funnel(events: &[Event]) -> [i64; 4] {
    let mut users = BTreeMap::<i64, [Option<i64>; 4]>::new();
    for event in events {
        let step = match event.event_type.as_str() {
            "product.viewed" => 0,
            "cart.updated" => 1,
            "order.placed" => 2,
            "payment.completed" => 3,
            _ => continue,
        };
        let first = &mut users.entry(event.user).or_default()[step];
        *first = Some(first.map_or(event.time_ms, |ms| ms.min(event.time_ms)));
    }
    let before = |a: Option<i64>, b: Option<i64>| matches!((a, b), (Some(a), Some(b)) if a < b);
    let mut funnel = [0; 4];
    for [viewed, carted, ordered, paid] in users.into_values() {
        let mut reached = viewed.is_some();
        for (count, passed) in
            funnel.iter_mut().zip([true, before(viewed, carted), before(carted, ordered), before(ordered, paid)])
        {
            reached &= passed;
            *count += i64::from(reached);
        }
    }
    funnel
}

#[test]
fn the_final_numbers_are_those_of_the_events() {
    let folder = fresh();
    let finished =
        Program::in_folder(folder.path()).run(&["demo", "--events", "5000", "--seed", "7", "--output", "json"]);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    let events = events();
    assert_eq!(events.len(), 5_000);
    let (minutes, late) = expected_revenue(&events);
    assert!(late > 5 && minutes.len() > 7, "{late} late, {} minutes", minutes.len());
    let revenue = rows_of(&finished.stdout, "revenue_per_minute");
    let given = revenue
        .iter()
        .map(|row| (time_ms(&row["window_end"]), (row["orders"].as_i64().unwrap(), cents(&row["revenue"]))));
    assert_eq!(given.collect::<BTreeMap<_, _>>(), minutes);
    let users = rows_of(&finished.stdout, "active_users");
    let given = users.iter().map(|row| (time_ms(&row["window_end"]), row["users"].as_i64().unwrap()));
    assert_eq!(given.collect::<BTreeMap<_, _>>(), expected_users(&events));
    let funnel = rows_of(&finished.stdout, "funnel");
    let steps = ["viewed", "carted", "ordered", "paid"].map(|step| funnel[0][step].as_i64().unwrap());
    assert_eq!((funnel.len(), steps), (1, expected_funnel(&events)));
    assert_reconciled(&finished.stdout, late, minutes.len());
}

fn assert_reconciled(stdout: &str, late: usize, minutes: usize) {
    let reconciled: Vec<Value> = stdout
        .lines()
        .filter(|line| line.starts_with("{\"reconciled\""))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(reconciled.len(), 4);
    assert!(reconciled.iter().all(|found| found["balanced"] == true), "{reconciled:?}");
    assert_eq!(reconciled[0]["late_rows"], late);
    assert_eq!(reconciled[0]["live_rows"], minutes);
}

#[test]
fn without_a_terminal_each_minute_is_a_plain_line() {
    let folder = fresh();
    let finished = Program::in_folder(folder.path()).run(&["demo", "--events", "3000", "--rate", "0"]);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    assert!(finished.stdout.contains("\n09:01  revenue"), "{}", finished.stdout);
    assert!(!finished.stdout.contains('\u{1b}'), "no colour and no cursor: {}", finished.stdout);
    let last = finished.stdout.lines().last().unwrap();
    assert!(last.starts_with("batch = final live + late, balanced: revenue "), "{last}");
    // What the minutes say is what was compared: no line was printed before its minute was complete.
    let cents = |amount: &str| amount.replace([',', '.'], "").parse::<i64>().unwrap();
    let minutes = finished.stdout.lines().filter_map(|line| line.split_once("revenue ")?.1.split_once(" in "));
    let sum: i64 = minutes.map(|(amount, _)| cents(amount.trim())).sum();
    let [batch, live, late] =
        [1, 3, 5].map(|word| cents(last.split_once("revenue").unwrap().1.split(' ').nth(word).unwrap()));
    assert_eq!((sum, live + late), (live, batch), "{}", finished.stdout);
}

#[test]
fn the_first_interrupt_closes_the_shop_and_the_batch_agrees() {
    let folder = fresh();
    let mut child = Program::in_folder(folder.path()).command(&["demo", "--rate", "5000"]).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert!(lines.next().unwrap().unwrap().contains("revenue"));
    signal(&child, libc::SIGINT);
    let lines: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{lines:?}");
    assert!(lines.last().unwrap().starts_with("batch = final live + late, balanced"), "{lines:?}");
}
