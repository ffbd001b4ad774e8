//! What a window aggregate computes, and when it tells: both of its phases are made from this.

use std::time::Duration;

use tidemill_core::EventTimes;

use super::WindowAssigner;
use crate::aggregate::Aggregation;

/// The event time that rows are windowed by.
#[derive(Debug, Clone, Copy)]
pub struct TimeColumn {
    /// Which column of the input it is: `TIMESTAMP(3)` or `TIMESTAMP_LTZ(3)`.
    pub index: usize,
    /// The times that rows can have: one with another, or with none, is in no window.
    pub range: EventTimes,
}

/// A window aggregate.
#[derive(Debug, Clone)]
pub struct WindowSpec {
    /// Which windows a row is in.
    pub assigner: WindowAssigner,
    /// How long after its end a window takes rows.
    pub lateness_ms: i64,
    /// The groups within a window, and the aggregates.
    pub aggregation: Aggregation,
    /// How often, in processing time, a window tells provisional results before its end; `None`: never.
    pub early_fire: Option<Duration>,
    /// How often, in processing time, a window that has fired tells what later rows change; `None`: at
    /// the next watermark.
    pub late_fire: Option<Duration>,
}

/// How often windows tell their results, in words: what they have told depends on it.
pub(super) fn telling_words(lateness_ms: i64, early: bool, late: bool) -> String {
    let lateness = (lateness_ms > 0).then(|| format!(", with an allowed lateness of {lateness_ms} ms"));
    let early = early.then(|| ", told early".to_owned());
    let late = late.then(|| ", told anew at a pace".to_owned());
    lateness.into_iter().chain(early).chain(late).collect()
}
