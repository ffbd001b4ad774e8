//! Random logs: partitions of rows in the order of arrival, out of order in event time.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;

/// What the source holds.
#[derive(Debug, Clone)]
pub struct Log {
    /// `WATERMARK FOR ts AS ts - delay`, in milliseconds.
    pub delay_ms: i64,
    /// `SET 'table.exec.emit.allow-lateness'`, in milliseconds.
    pub lateness_ms: i64,
    /// By partition, in the order of arrival.
    pub partitions: Vec<Vec<Row>>,
}

/// One event.
#[derive(Debug, Clone)]
pub struct Row {
    pub key: Option<char>,
    pub cents: Option<i64>,
    pub time_ms: Option<i64>,
}

impl Row {
    /// The row as a line of JSON.
    pub fn line(&self) -> String {
        let key = self.key.map_or("null".into(), |key| format!("\"{key}\""));
        let amount = self.cents.map_or("null".into(), |cents| {
            let sign = if cents < 0 { "-" } else { "" };
            format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
        });
        let time = self.time_ms.map_or("null".into(), |ms| format!("\"{}\"", timestamp(ms)));
        format!("{{\"k\": {key}, \"amount\": {amount}, \"ts\": {time}}}\n")
    }
}

/// Times stay within a few minutes around the epoch, so that days need no calendar.
fn timestamp(ms: i64) -> String {
    let day = if ms < 0 { "1969-12-31" } else { "1970-01-01" };
    let ms = ms.rem_euclid(86_400_000);
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{day} {hours:02}:{minutes:02}:{seconds:02}.{:03}", ms % 1000)
}

pub fn logs() -> impl Strategy<Value = Log> {
    let delay_ms = prop_oneof![Just(0), (0..=10i64).prop_map(|n| n * 1000), 0..10_000i64];
    let lateness_ms = prop_oneof![2 => Just(0), 1 => (1..=40i64).prop_map(|n| n * 1000), 1 => 1..40_000i64];
    let log = |(delay_ms, lateness_ms, partitions)| Log { delay_ms, lateness_ms, partitions };
    (delay_ms, lateness_ms, vec(partition(), 1..=3)).prop_map(log)
}

/// Time mostly runs forward, with steps back and a few leaps.
fn partition() -> impl Strategy<Value = Vec<Row>> {
    let step = prop_oneof![12 => -3_000..5_000i64, 3 => -30_000..30_000i64, 1 => -60_000..90_000i64];
    // Just before an edge, on it, just after it, or anywhere.
    let edge = prop_oneof![Just(Some(-1)), Just(Some(0)), Just(Some(1)), Just(None)];
    let row = (step, edge, weighted(0.95, Just(())), weighted(0.9, prop::char::range('a', 'c')), cents());
    (-60_000..60_000i64, vec(row, 0..60)).prop_map(|(start_ms, rows)| {
        let mut now_ms = start_ms;
        let row = |(step, edge, timed, key, cents): (i64, Option<i64>, Option<()>, _, _)| {
            now_ms += step;
            let time_ms = edge.map_or(now_ms, |shift| now_ms.div_euclid(1000) * 1000 + shift);
            Row { key, cents, time_ms: timed.map(|()| time_ms) }
        };
        rows.into_iter().map(row).collect()
    })
}

fn cents() -> impl Strategy<Value = Option<i64>> {
    weighted(0.9, prop_oneof![-1_000..10_000i64, -9_999_999_999..=9_999_999_999i64])
}
