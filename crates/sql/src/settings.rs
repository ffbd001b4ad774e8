//! `SET 'key' = 'value'`: the keys that are known, and what they mean.

mod checkpointing;
mod emit;
mod max_ahead;

use std::collections::BTreeMap;
use std::time::Duration;

use arrow::datatypes::DataType;
use tidemill_core::{Error, EventTimes, Excerpt, Result};
use tidemill_runtime::connector::{OptionSpec, Options, duration};
use tidemill_runtime::exchange::KEY_GROUPS;
use tidemill_runtime::time_zone::TimeZone;

pub use checkpointing::Checkpointing;
pub(crate) use emit::{ALLOW_LATENESS, EARLY_FIRE, Emit};
pub(crate) use max_ahead::MAX_AHEAD;
use max_ahead::MaxAhead;

/// The keys of `SET` that stand alone; those of one subject stand with it.
const SETTINGS: &[OptionSpec] = &[
    OptionSpec {
        key: "execution.runtime-mode",
        doc: "'streaming' (default): live, windows fire by watermark; 'batch': the input as bounded history",
    },
    OptionSpec { key: "parallelism.default", doc: "how many subtasks a task has; by default the number of cores" },
    OptionSpec {
        key: "table.exec.emit.allow-lateness",
        doc: "how long after its end a window still takes rows, and updates its result: '1 min'; by default not at all",
    },
    OptionSpec {
        key: "table.exec.emit.early-fire.enabled",
        doc: "'true': a window before a sink tells provisional results, and updates them; by default 'false'",
    },
    OptionSpec { key: "table.exec.emit.early-fire.delay", doc: "how often, by the machine's clock: '10 s'" },
    OptionSpec {
        key: "table.exec.emit.late-fire.enabled",
        doc: "'true': what rows within the allowed lateness change is told at the pace of the delay; by default \
              'false': at the next watermark",
    },
    OptionSpec { key: "table.exec.emit.late-fire.delay", doc: "how often, by the machine's clock: '10 s'" },
    OptionSpec {
        key: "table.local-time-zone",
        doc: "whose clocks TIMESTAMP_LTZ is converted and windowed by: 'Europe/Berlin', 'GMT+02:00'; by default UTC \
              (Flink's default is the machine's zone)",
    },
    OptionSpec {
        key: "table.exec.source.idle-timeout",
        doc: "how long a source must give nothing before a UNION goes on without it, e.g. '10 s'; by default ('0') it waits",
    },
    OptionSpec {
        key: MAX_AHEAD,
        doc: "the last moment that a row's event time can be: '2027-12-31 23:59:59'; a row after it is in no window, moves no \
              watermark and goes to the late output as 'future'; by default any",
    },
    OptionSpec {
        key: STALL_HINT,
        doc: "how long a watermark may stand still in a live run before it is said where and why, if windows wait for \
              it: by default '30 s'; '0' says nothing",
    },
];

/// Every key of `SET`, but for `tidemill.late-output.<target>` and `tidemill.dead-letter.<table>`.
pub fn settings() -> impl Iterator<Item = &'static OptionSpec> + Clone {
    SETTINGS.iter().chain(&checkpointing::SPECS)
}

/// Whether a key of `SET` is about what a query gives, and not about how a job is run.
pub(crate) fn is_of_query(key: &str) -> bool {
    key == "table.local-time-zone" || key == MAX_AHEAD || key.starts_with("table.exec.emit.")
}

/// Far from where the arithmetic of times would overflow.
const MAX_DELAY: Duration = Duration::from_secs(1_000 * 86_400);

const STALL_HINT: &str = "tidemill.watermark.stall-hint";
const DEFAULT_STALL_HINT: Duration = Duration::from_secs(30);

const LATE_OUTPUT: &str = "tidemill.late-output.";
const DEAD_LETTER: &str = "tidemill.dead-letter.";

/// How a pipeline is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuntimeMode {
    /// By arrival: windows fire when the watermark passes their end.
    Live,
    /// Over history: nothing is late.
    Batch,
}

/// What the file's `SET` statements say.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Live or batch, if the file says so.
    pub runtime_mode: Option<RuntimeMode>,
    /// Subtasks a task, if the file says so.
    pub parallelism: Option<usize>,
    /// When windows tell their results.
    pub(crate) emit: Emit,
    /// Whose clocks instants are converted and windowed by.
    pub(crate) local_time_zone: TimeZone,
    /// How long a source must give nothing before those that it meets go on without it.
    pub idle_timeout: Option<Duration>,
    /// How far ahead a row's event time can be.
    pub(crate) max_ahead: Option<MaxAhead>,
    /// How long a watermark may stand still before that is told; `None`: it is not.
    pub stall_hint: Option<Duration>,
    /// When checkpoints are made, and where they are kept.
    pub checkpointing: Checkpointing,
    /// By target table: the table that gets its late rows, and where that was said.
    pub(crate) late_outputs: BTreeMap<String, (String, Excerpt)>,
    /// By source table: the table that gets what can't be decoded, and where that was said.
    pub(crate) dead_letters: BTreeMap<String, (String, Excerpt)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_ahead: None,
            runtime_mode: None,
            parallelism: None,
            emit: Emit::default(),
            local_time_zone: TimeZone::default(),
            idle_timeout: None,
            stall_hint: Some(DEFAULT_STALL_HINT),
            checkpointing: Checkpointing::default(),
            late_outputs: BTreeMap::new(),
            dead_letters: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// Checks what is known only when every `SET` has been applied.
    pub(crate) fn check(&self) -> Result<()> {
        self.emit.check()
    }

    /// The event times that rows can have in a column of this type.
    pub(crate) fn event_times(&self, time: &DataType) -> EventTimes {
        self.max_ahead.map_or(EventTimes::ALL, |max_ahead| max_ahead.range(time, self.local_time_zone))
    }

    /// Applies one `SET`.
    pub(crate) fn set(&mut self, key: &str, value: &str, place: &Excerpt) -> Result<()> {
        if let Some(target) = key.strip_prefix(LATE_OUTPUT) {
            self.late_outputs.insert(target.to_owned(), (value.to_owned(), place.clone()));
            return Ok(());
        }
        if let Some(table) = key.strip_prefix(DEAD_LETTER) {
            self.dead_letters.insert(table.to_owned(), (value.to_owned(), place.clone()));
            return Ok(());
        }
        let mut options = Options::default();
        options.set(key, value, Some(place.clone()));
        if self.checkpointing.set(key, value, &options)? {
            return Ok(());
        }
        match key {
            "execution.runtime-mode" => {
                let words = [("streaming", RuntimeMode::Live), ("batch", RuntimeMode::Batch)];
                self.runtime_mode = Some(options.one_of(key, &words, RuntimeMode::Live)?);
            }
            "parallelism.default" => {
                let parallelism = value.parse().ok().filter(|p| (1..=KEY_GROUPS).contains(p));
                self.parallelism = Some(parallelism.ok_or_else(|| {
                    options
                        .refuse(key, format!("'{value}' is not a parallelism"))
                        .hint(format!("give a number from 1 to {KEY_GROUPS}"))
                })?);
            }
            ALLOW_LATENESS => self.emit.allowed_lateness = bounded(&options, key, value)?,
            EARLY_FIRE => self.emit.early.enabled = options.boolean(key, false)?.then(|| place.clone()),
            "table.exec.emit.early-fire.delay" => self.emit.early.delay = Some(bounded(&options, key, value)?),
            "table.exec.emit.late-fire.enabled" => {
                self.emit.late.enabled = options.boolean(key, false)?.then(|| place.clone());
            }
            "table.exec.emit.late-fire.delay" => self.emit.late.delay = Some(bounded(&options, key, value)?),
            "table.local-time-zone" => {
                self.local_time_zone = value.parse().map_err(|e: Error| e.at(place.clone()))?;
            }
            "table.exec.source.idle-timeout" => {
                self.idle_timeout = Some(bounded(&options, key, value)?).filter(|timeout| !timeout.is_zero());
            }
            MAX_AHEAD => {
                self.max_ahead = Some(MaxAhead::parse(value).ok_or_else(|| {
                    options
                        .refuse(key, format!("'{value}' is not a moment"))
                        .hint("write '2027-12-31 23:59:59': rows of a file have no time of their append to measure a duration from")
                })?);
            }
            STALL_HINT => self.stall_hint = Some(bounded(&options, key, value)?).filter(|after| !after.is_zero()),
            _ => {
                let known =
                    settings().map(|s| s.key).chain(["tidemill.late-output.<target>", "tidemill.dead-letter.<table>"]);
                options.check_known("Tidemill", known, &[])?;
            }
        }
        Ok(())
    }
}

fn bounded(options: &Options, key: &str, value: &str) -> Result<Duration> {
    duration(value).filter(|d| *d <= MAX_DELAY).ok_or_else(|| {
        options
            .refuse(key, format!("'{value}' is not a duration of at most 1,000 days"))
            .hint("write '500 ms', '10 s', '1 min', '1 h' or '1 d'")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(key: &str, value: &str) -> Result<Settings> {
        let place = Excerpt { origin: "q.sql".into(), text: "".into(), span: 0..0 };
        let mut settings = Settings::default();
        settings.set(key, value, &place).map(|()| settings)
    }

    #[test]
    fn wrong_values_and_unknown_keys_are_refused() {
        assert!(set("parallelism.default", "0").is_err());
        assert!(set("execution.checkpointing.interval", "0 s").is_err());
        assert_eq!(set("execution.runtime-mode", "BATCH").unwrap().runtime_mode, Some(RuntimeMode::Batch));
        assert!(set("table.local-time-zone", "Asia/Tokyo").is_ok());
        assert!(set("table.local-time-zone", "Asia/Tokio").is_err());
        let error = set("paralelism.default", "2").unwrap_err();
        assert_eq!(error.hint_text(), Some("did you mean 'parallelism.default'?"));
    }
}
