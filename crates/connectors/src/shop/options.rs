//! The options of a `shop` table. Where Flink's `datagen` has one of the same meaning, it has that name.

use std::ops::RangeInclusive;

use arrow::compute::kernels::cast_utils::string_to_timestamp_nanos;
use tidemill_core::Result;
use tidemill_runtime::connector::{OptionSpec, Options};

/// More events would leave the years that SQL can write.
pub const MAX_EVENTS: u64 = 1_000_000_000_000;

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec { key: EVENTS, doc: "How many events there are: 20000 by default." },
    OptionSpec {
        key: PACE,
        doc: "How many events arrive in a second of a live run; by default as fast as they are read.",
    },
    OptionSpec { key: SEED, doc: "Another number gives other events: 1 by default." },
    OptionSpec { key: START, doc: "When the first event arrives: '2026-11-02 09:00:00' by default." },
];

const EVENTS: &str = "number-of-rows";
const PACE: &str = "rows-per-second";
const SEED: &str = "seed";
const START: &str = "start";

/// What traffic a shop has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traffic {
    /// How many events, at most [`MAX_EVENTS`].
    pub events: u64,
    /// How many of them arrive in a second of a live run; `None`: as fast as they are read.
    pub events_per_second: Option<u64>,
    /// Which events.
    pub seed: u64,
    /// When the first one arrives, in milliseconds since 1970.
    pub start_ms: i64,
}

impl Default for Traffic {
    fn default() -> Self {
        // 2026-11-02 09:00:00
        Self { events: 20_000, events_per_second: None, seed: 1, start_ms: 1_793_610_000_000 }
    }
}

/// The traffic that `options` ask for; `defaults` where they are silent.
///
/// # Errors
/// A value that is no number, or no time, or out of its range, with its place.
pub(super) fn traffic(options: &Options, defaults: &Traffic) -> Result<Traffic> {
    Ok(Traffic {
        events: number(options, EVENTS, 0..=MAX_EVENTS)?.unwrap_or(defaults.events),
        events_per_second: number(options, PACE, 1..=1_000_000_000)?.or(defaults.events_per_second),
        seed: number(options, SEED, 0..=u64::MAX)?.unwrap_or(defaults.seed),
        start_ms: start(options)?.unwrap_or(defaults.start_ms),
    })
}

fn number(options: &Options, key: &str, range: RangeInclusive<u64>) -> Result<Option<u64>> {
    let Some(text) = options.get(key) else { return Ok(None) };
    match text.parse().ok().filter(|number| range.contains(number)) {
        Some(number) => Ok(Some(number)),
        None => Err(options.refuse(key, format!("'{text}' is not a value of '{key}'")).hint(format!(
            "write a whole number from {} to {}",
            range.start(),
            range.end()
        ))),
    }
}

fn start(options: &Options) -> Result<Option<i64>> {
    let Some(text) = options.get(START) else { return Ok(None) };
    match string_to_timestamp_nanos(text) {
        Ok(nanos) => Ok(Some(nanos.div_euclid(1_000_000))),
        Err(_) => Err(options
            .refuse(START, format!("'{text}' is not a value of '{START}'"))
            .hint("write a time from 1678 to 2261, such as '2026-11-02 09:00:00'")),
    }
}
