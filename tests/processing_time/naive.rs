//! The answers, recomputed from the definitions alone: every row against every window. It shares no code with the
//! engine, and must not.

use std::collections::BTreeMap;

use crate::engine::Total;
use crate::held::{Arrival, START_MS};

/// The windows that are tried; lengths in milliseconds.
#[derive(Debug, Clone, Copy)]
pub enum Window {
    Tumble { size: i64 },
    Hop { slide: i64, size: i64 },
    Cumulate { step: i64, size: i64 },
    Session { gap: i64 },
}

impl Window {
    /// The call over the table `t` with the time `p`.
    pub fn sql(self) -> String {
        let seconds = |ms: i64| format!("INTERVAL '{}' SECOND", ms / 1_000);
        match self {
            Self::Tumble { size } => format!("TUMBLE(TABLE t, DESCRIPTOR(p), {})", seconds(size)),
            Self::Hop { slide, size } => {
                format!("HOP(TABLE t, DESCRIPTOR(p), {}, {})", seconds(slide), seconds(size))
            }
            Self::Cumulate { step, size } => {
                format!("CUMULATE(TABLE t, DESCRIPTOR(p), {}, {})", seconds(step), seconds(size))
            }
            Self::Session { gap } => format!("SESSION(TABLE t PARTITION BY k, DESCRIPTOR(p), {})", seconds(gap)),
        }
    }

    /// Those that hold a moment, found by trying all that start near it.
    fn around(self, time_ms: i64) -> Vec<(i64, i64)> {
        let (period, lengths): (i64, Vec<i64>) = match self {
            Self::Tumble { size } => (size, vec![size]),
            Self::Hop { slide, size } => (slide, vec![size]),
            Self::Cumulate { step, size } => (size, (1..=size / step).map(|n| n * step).collect()),
            Self::Session { .. } => unreachable!("a session is not known from one row"),
        };
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let starts = (time_ms - longest) / period..=time_ms / period + 1;
        let windows = starts.flat_map(|n| lengths.iter().map(move |length| (n * period, n * period + length)));
        windows.filter(|(start_ms, end_ms)| (*start_ms..*end_ms).contains(&time_ms)).collect()
    }
}

/// What must come out; sorted.
pub fn totals(window: Window, arrivals: &[Arrival]) -> Vec<Total> {
    let mut now_ms = START_MS;
    let mut rows: Vec<(char, i64)> = vec![];
    for arrival in arrivals {
        rows.extend(arrival.keys.iter().map(|key| (*key, now_ms)));
        now_ms += arrival.step_ms;
    }
    let mut counts: BTreeMap<(i64, i64, char), i64> = BTreeMap::new();
    match window {
        Window::Session { gap } => {
            let mut last: BTreeMap<char, (i64, i64, i64)> = BTreeMap::new();
            for (key, time_ms) in rows {
                let session = last.entry(key).or_insert((time_ms, time_ms + gap, 0));
                if time_ms > session.1 {
                    counts.insert((session.0, session.1, key), session.2);
                    *session = (time_ms, time_ms + gap, 0);
                }
                *session = (session.0, time_ms + gap, session.2 + 1);
            }
            counts.extend(last.into_iter().map(|(key, (start_ms, end_ms, rows))| ((start_ms, end_ms, key), rows)));
        }
        aligned => {
            for (key, time_ms) in rows {
                for (start_ms, end_ms) in aligned.around(time_ms) {
                    *counts.entry((start_ms, end_ms, key)).or_default() += 1;
                }
            }
        }
    }
    let total = |((start_ms, end_ms, key), rows): ((i64, i64, char), i64)| Total {
        start_ms,
        end_ms,
        key: key.to_string(),
        rows,
    };
    counts.into_iter().map(total).collect()
}
