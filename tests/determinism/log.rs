//! Random logs: partitions of rows in the order of arrival, out of order in event time.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
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
    /// The session's time zone; then event time is a `TIMESTAMP_LTZ`.
    pub zone: Option<Tz>,
    /// `SET 'tidemill.watermark.max-ahead'`: the last moment that a time can be.
    pub latest_ms: Option<i64>,
    /// By partition, in the order of arrival.
    pub partitions: Vec<Vec<Row>>,
}

impl Log {
    /// The row's time, if it can be one.
    pub fn usable(&self, row: &Row) -> Option<i64> {
        row.time_ms.filter(|&time_ms| self.latest_ms.is_none_or(|latest_ms| time_ms <= latest_ms))
    }

    /// The same log with its times in another place: minutes for seconds, around a moment.
    pub fn around(mut self, zone: Tz, moment_ms: i64) -> Self {
        self.zone = Some(zone);
        self.delay_ms *= MINUTE_FOR_SECOND;
        self.lateness_ms *= MINUTE_FOR_SECOND;
        for row in self.partitions.iter_mut().flatten() {
            row.time_ms = row.time_ms.map(|time_ms| moment_ms + time_ms * MINUTE_FOR_SECOND);
        }
        self
    }
}

/// By how much times and lengths are stretched, so that a few minutes become a few hours.
pub const MINUTE_FOR_SECOND: i64 = 60;

/// One event.
#[derive(Debug, Clone)]
pub struct Row {
    pub key: Option<char>,
    pub cents: Option<i64>,
    pub time_ms: Option<i64>,
}

impl Row {
    /// The row as a line of JSON; an instant ends with `Z`.
    pub fn line(&self, instant: bool) -> String {
        let key = self.key.map_or("null".into(), |key| format!("\"{key}\""));
        let amount = self.cents.map_or("null".into(), |cents| {
            let sign = if cents < 0 { "-" } else { "" };
            format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
        });
        let zulu = if instant { "Z" } else { "" };
        let time = self.time_ms.map_or("null".into(), |ms| format!("\"{}{zulu}\"", timestamp(ms)));
        format!("{{\"k\": {key}, \"amount\": {amount}, \"ts\": {time}}}\n")
    }
}

pub fn timestamp(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms).unwrap().format("%Y-%m-%d %H:%M:%S%.3f").to_string()
}

/// Moments at which a zone's clocks were changed: forward and back, by an hour, half an hour and a day.
pub fn clock_changes() -> impl Strategy<Value = (Tz, i64)> {
    let changes = [
        (Tz::Europe__Berlin, "2026-03-29T01:00:00Z"),
        (Tz::Europe__Berlin, "2026-10-25T01:00:00Z"),
        (Tz::America__New_York, "2026-11-01T06:00:00Z"),
        (Tz::Australia__Lord_Howe, "2026-04-04T15:00:00Z"),
        (Tz::Australia__Lord_Howe, "2026-10-03T15:30:00Z"),
        (Tz::Pacific__Apia, "2011-12-30T10:00:00Z"),
        (Tz::Asia__Tokyo, "1970-01-01T00:00:00Z"),
    ];
    let changes = changes.map(|(zone, at)| (zone, at.parse::<DateTime<Utc>>().unwrap().timestamp_millis()));
    prop::sample::select(changes.to_vec())
}

pub fn logs() -> impl Strategy<Value = Log> {
    let delay_ms = prop_oneof![Just(0), (0..=10i64).prop_map(|n| n * 1000), 0..10_000i64];
    let lateness_ms = prop_oneof![2 => Just(0), 1 => (1..=40i64).prop_map(|n| n * 1000), 1 => 1..40_000i64];
    let log =
        |(delay_ms, lateness_ms, partitions)| Log { delay_ms, lateness_ms, zone: None, latest_ms: None, partitions };
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
