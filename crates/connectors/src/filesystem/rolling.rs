//! When a part is closed and the next one begun, so that no file grows without end.
//!
//! Flink's policy. Parts become visible at the commit of their epoch, whenever they were closed: the interval
//! needs no clock of its own and is looked at as rows come.

use std::time::{Duration, Instant};

use tidemill_core::Result;
use tidemill_runtime::connector::{OptionSpec, Options};

const FILE_SIZE: &str = "sink.rolling-policy.file-size";
const ROLLOVER_INTERVAL: &str = "sink.rolling-policy.rollover-interval";
const CHECK_INTERVAL: &str = "sink.rolling-policy.check-interval";

/// The options of the policy.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec { key: FILE_SIZE, doc: "How large a part may get before the next one is begun; by default '128MB'." },
    OptionSpec {
        key: ROLLOVER_INTERVAL,
        doc: "How long a part may stay open before the next one is begun; by default '30 min'.",
    },
    OptionSpec {
        key: CHECK_INTERVAL,
        doc: "How often parts are looked at that may have been open for too long; by default '1 min'.",
    },
];

/// When a part is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollingPolicy {
    file_bytes: u64,
    rollover_interval: Duration,
    check_interval: Duration,
}

impl RollingPolicy {
    /// The policy that a table's options ask for.
    ///
    /// # Errors
    /// A value that is no size or duration, or is zero.
    pub fn from_options(options: &Options) -> Result<Self> {
        let minutes = |count: u64| Duration::from_secs(60 * count);
        Ok(Self {
            file_bytes: options.memory_size(FILE_SIZE, 128 << 20)?,
            rollover_interval: options.duration(ROLLOVER_INTERVAL, minutes(30))?,
            check_interval: options.duration(CHECK_INTERVAL, minutes(1))?,
        })
    }

    /// Whether a part of so many bytes is large enough.
    pub fn full(&self, bytes: u64) -> bool {
        bytes >= self.file_bytes
    }

    /// Whether it is time to look for parts that are [`Self::aged`].
    pub fn due(&self, checked: Instant, now: Instant) -> bool {
        now.duration_since(checked) >= self.check_interval
    }

    /// Whether a part has been open for long enough.
    pub fn aged(&self, opened: Instant, now: Instant) -> bool {
        now.duration_since(opened) >= self.rollover_interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(pairs: &[(&str, &str)]) -> Result<RollingPolicy> {
        let mut options = Options::default();
        for (key, value) in pairs {
            options.set(*key, *value, None);
        }
        RollingPolicy::from_options(&options)
    }

    #[test]
    fn the_defaults_are_flinks() {
        let policy = policy(&[]).unwrap();
        assert!(policy.full(128 << 20) && !policy.full((128 << 20) - 1));
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(policy.due(start, after(60)) && !policy.due(start, after(59)));
        assert!(policy.aged(start, after(1800)) && !policy.aged(start, after(1799)));
    }

    #[test]
    fn a_value_that_is_none_is_refused_with_an_example() {
        for (key, value) in
            [(FILE_SIZE, "0"), (FILE_SIZE, "1 mib"), (ROLLOVER_INTERVAL, "0 s"), (CHECK_INTERVAL, "soon")]
        {
            let error = policy(&[(key, value)]).unwrap_err();
            assert_eq!(error.message(), format!("'{value}' is not a value of '{key}'"));
            assert!(error.hint_text().unwrap().contains("such as '"), "{error}");
        }
    }
}
