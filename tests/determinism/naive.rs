//! The answers, recomputed from the definitions alone, as simply as can be: every row against every
//! window. It shares no code with the engine, and must not.

use std::collections::BTreeMap;

use chrono_tz::Tz;

use crate::log::{Log, Row};
use crate::window::Window;
use crate::zone::{local, passed};

/// One row of the result.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Total {
    pub start_ms: i64,
    pub end_ms: i64,
    pub key: Option<String>,
    pub rows: i64,
    pub amounts: i64,
    /// In cents, as the two below.
    pub sum: Option<i128>,
    pub least: Option<i128>,
    pub most: Option<i128>,
}

/// One late row, for one window that it missed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Late {
    pub partition: String,
    pub offset: i64,
    pub window: Option<(i64, i64)>,
    pub reason: String,
    pub watermark: Option<i64>,
}

/// A session's bounds and its rows.
type Session<'a> = ((i64, i64), Vec<&'a Row>);

/// A row with what the definition of lateness needs.
struct Known<'a> {
    row: &'a Row,
    partition: String,
    offset: i64,
    /// The maximum of time - delay over the rows before it in its partition.
    watermark: Option<i64>,
    lateness_ms: i64,
    zone: Option<Tz>,
}

impl Known<'_> {
    /// Late for what is complete at an instant: w >= end - 1 ms + the allowed lateness.
    fn late_for(&self, end_ms: i64) -> bool {
        self.watermark.is_some_and(|watermark| watermark >= end_ms - 1 + self.lateness_ms)
    }

    fn late(&self, window: Option<(i64, i64)>, reason: &str) -> Late {
        let (partition, reason) = (self.partition.clone(), reason.to_owned());
        Late { partition, offset: self.offset, window, reason, watermark: self.watermark }
    }
}

fn known(log: &Log) -> Vec<Known<'_>> {
    let mut known = vec![];
    for (number, rows) in log.partitions.iter().enumerate() {
        let mut watermark: Option<i64> = None;
        for (row, offset) in rows.iter().zip(0..) {
            let (partition, lateness_ms, zone) = (format!("p{number}"), log.lateness_ms, log.zone);
            known.push(Known { row, partition, offset, watermark, lateness_ms, zone });
            watermark = watermark.max(log.usable(row).map(|time_ms| time_ms - log.delay_ms));
        }
    }
    known
}

/// What a live run makes final, and what it calls late; sorted.
pub fn live_rows(window: Window, log: &Log) -> (Vec<Total>, Vec<Late>) {
    let known = known(log);
    let mut late: Vec<Late> =
        known.iter().filter(|k| k.row.time_ms.is_none()).map(|k| k.late(None, "no-event-time")).collect();
    let (known, future): (Vec<Known<'_>>, Vec<_>) =
        known.into_iter().filter(|k| k.row.time_ms.is_some()).partition(|k| log.usable(k.row).is_some());
    late.extend(future.iter().map(|k| k.late(None, "future")));
    let mut members: Vec<((i64, i64), &Row)> = vec![];
    if let Window::Session { gap } = window {
        judge_sessions(gap, known, &mut members, &mut late);
    } else {
        for k in &known {
            for (start_ms, end_ms) in k.row.time_ms.into_iter().flat_map(|ms| windows_of(window, local(k.zone, ms))) {
                match k.late_for(passed(k.zone, end_ms)) {
                    true => late.push(k.late(Some((start_ms, end_ms)), "late")),
                    false => members.push(((start_ms, end_ms), k.row)),
                }
            }
        }
    }
    late.sort();
    (told_totals(window, log.zone, &members), late)
}

/// What a batch gives: nothing is late; sorted.
pub fn batch_rows(window: Window, log: &Log) -> Vec<Total> {
    let rows = log.partitions.iter().flatten();
    let mut timed: Vec<(i64, &Row)> = rows.filter_map(|row| log.usable(row).map(|time_ms| (time_ms, row))).collect();
    let mut members = vec![];
    if let Window::Session { gap } = window {
        timed.sort_by_key(|(time_ms, _)| *time_ms);
        let mut sessions: BTreeMap<Option<char>, Vec<Session<'_>>> = BTreeMap::new();
        for (time_ms, row) in timed {
            let of_key = sessions.entry(row.key).or_default();
            match of_key.last_mut() {
                Some(((_, end_ms), rows)) if time_ms <= *end_ms => {
                    *end_ms = time_ms + gap;
                    rows.push(row);
                }
                _ => of_key.push(((time_ms, time_ms + gap), vec![row])),
            }
        }
        for (bounds, rows) in sessions.into_values().flatten() {
            members.extend(rows.into_iter().map(|row| (bounds, row)));
        }
    } else {
        for (time_ms, row) in timed {
            members.extend(windows_of(window, local(log.zone, time_ms)).into_iter().map(|window| (window, row)));
        }
    }
    told_totals(window, log.zone, &members)
}

/// Every window [start, end) that holds the time, found by trying all that start near it.
fn windows_of(window: Window, time_ms: i64) -> Vec<(i64, i64)> {
    let (period, size, offset) = match window {
        Window::Tumble { size, offset } | Window::Cumulate { size, offset, .. } => (size, size, offset),
        Window::Hop { slide, size, offset } => (slide, size, offset),
        Window::Session { .. } => unreachable!("a session is not known from one row"),
    };
    let lengths: Vec<i64> = match window {
        Window::Cumulate { step, .. } => (1..=size / step).map(|n| n * step).collect(),
        _ => vec![size],
    };
    let near = (time_ms - offset) / period;
    let starts = (near - size / period - 2..near + 2).map(|n| n * period + offset);
    let windows = starts.flat_map(|start_ms| lengths.iter().map(move |length| (start_ms, start_ms + length)));
    windows.filter(|(start_ms, end_ms)| (start_ms..end_ms).contains(&&time_ms)).collect()
}

/// Flink's rule over each key's rows in the order (watermark, partition, offset), with the row's
/// watermark as the clock. A row that touches a session which that clock has closed is late.
fn judge_sessions<'a>(
    gap: i64,
    mut known: Vec<Known<'a>>,
    members: &mut Vec<((i64, i64), &'a Row)>,
    late: &mut Vec<Late>,
) {
    let zone = known.first().and_then(|k| k.zone);
    known.sort_by(|a, b| (a.watermark, &a.partition, a.offset).cmp(&(b.watermark, &b.partition, b.offset)));
    let mut sessions: BTreeMap<Option<char>, Vec<Session<'_>>> = BTreeMap::new();
    for k in known {
        let Some(time_ms) = k.row.time_ms else { continue };
        // Further behind than 16 gaps a row joins no session, not even one that others keep open.
        if k.late_for(time_ms + gap + 16 * gap) {
            late.push(k.late(Some(told(zone, (time_ms, time_ms + gap))), "late"));
            continue;
        }
        let of_key = sessions.entry(k.row.key).or_default();
        let touches = |(start_ms, end_ms): (i64, i64)| start_ms <= time_ms + gap && time_ms <= end_ms;
        let closed = of_key.iter().map(|(bounds, _)| *bounds).filter(|&bounds| touches(bounds) && k.late_for(bounds.1));
        if let Some(first) = closed.min() {
            late.push(k.late(Some(told(zone, first)), "session-closed"));
            continue;
        }
        let (touched, mut others): (Vec<_>, Vec<_>) = of_key.drain(..).partition(|(bounds, _)| touches(*bounds));
        if touched.is_empty() && k.late_for(time_ms + gap) {
            late.push(k.late(Some(told(zone, (time_ms, time_ms + gap))), "late"));
        } else {
            let start_ms = touched.iter().map(|(bounds, _)| bounds.0).fold(time_ms, i64::min);
            let end_ms = touched.iter().map(|(bounds, _)| bounds.1).fold(time_ms + gap, i64::max);
            let mut rows: Vec<&Row> = touched.into_iter().flat_map(|(_, rows)| rows).collect();
            rows.push(k.row);
            others.push(((start_ms, end_ms), rows));
        }
        *of_key = others;
    }
    for (bounds, rows) in sessions.into_values().flatten() {
        members.extend(rows.into_iter().map(|row| (bounds, row)));
    }
}

/// What clocks show at both ends.
fn told(zone: Option<Tz>, (start_ms, end_ms): (i64, i64)) -> (i64, i64) {
    (local(zone, start_ms), local(zone, end_ms))
}

/// The bounds of sessions are instants until here: two can be told alike, and are two all the same.
fn told_totals(window: Window, zone: Option<Tz>, members: &[((i64, i64), &Row)]) -> Vec<Total> {
    let mut totals = totals(members);
    if let Window::Session { .. } = window {
        for total in &mut totals {
            (total.start_ms, total.end_ms) = told(zone, (total.start_ms, total.end_ms));
        }
        totals.sort();
    }
    totals
}

/// Groups by window and key.
fn totals(members: &[((i64, i64), &Row)]) -> Vec<Total> {
    let mut groups: BTreeMap<(i64, i64, Option<char>), Vec<Option<i64>>> = BTreeMap::new();
    for ((start_ms, end_ms), row) in members {
        groups.entry((*start_ms, *end_ms, row.key)).or_default().push(row.cents);
    }
    let total = |((start_ms, end_ms, key), cents): ((i64, i64, Option<char>), Vec<Option<i64>>)| {
        let amounts: Vec<i128> = cents.iter().flatten().map(|&cents| i128::from(cents)).collect();
        Total {
            start_ms,
            end_ms,
            key: key.map(String::from),
            rows: cents.len() as i64,
            amounts: amounts.len() as i64,
            sum: (!amounts.is_empty()).then(|| amounts.iter().sum()),
            least: amounts.iter().copied().min(),
            most: amounts.iter().copied().max(),
        }
    };
    groups.into_iter().map(total).collect()
}
