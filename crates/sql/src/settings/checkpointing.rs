//! When checkpoints are made, and where they are kept.

use std::time::Duration;

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{OptionSpec, Options};

use super::{bounded, duration};

const INTERVAL: &str = "execution.checkpointing.interval";
const TIMEOUT: &str = "execution.checkpointing.timeout";
const DIR: &str = "execution.checkpointing.dir";
const RETAINED: &str = "execution.checkpointing.num-retained";

/// Names that Flink had before, and still takes.
const OLD_DIR: &str = "state.checkpoints.dir";
const OLD_RETAINED: &str = "state.checkpoints.num-retained";

pub(super) static SPECS: [OptionSpec; 6] = [
    OptionSpec {
        key: INTERVAL,
        doc: "how often a live run makes a checkpoint (with --data-dir) and sinks commit, e.g. '10 s'; by default every \
              ten seconds with --data-dir, else once, at the end of the input",
    },
    OptionSpec {
        key: TIMEOUT,
        doc: "how long it may take to write a checkpoint before the run fails: by default '10 min'",
    },
    OptionSpec {
        key: DIR,
        doc: "where checkpoints are kept: a folder, file:///... or another URL of an object store; by default in --data-dir",
    },
    OptionSpec { key: RETAINED, doc: "how many checkpoints are kept: by default 1" },
    OptionSpec { key: OLD_DIR, doc: "the older name of 'execution.checkpointing.dir'" },
    OptionSpec { key: OLD_RETAINED, doc: "the older name of 'execution.checkpointing.num-retained'" },
];

/// What the file says of checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpointing {
    /// How often an epoch ends, if the file says so.
    pub interval: Option<Duration>,
    /// How long it may take to write a checkpoint.
    pub timeout: Duration,
    /// Where they are kept, if the file says so: a folder or a URL.
    pub dir: Option<String>,
    /// How many are kept.
    pub retained: usize,
}

impl Default for Checkpointing {
    fn default() -> Self {
        Self { interval: None, timeout: Duration::from_secs(600), dir: None, retained: 1 }
    }
}

impl Checkpointing {
    /// Applies one `SET`; false if the key is not of these.
    pub(super) fn set(&mut self, key: &str, value: &str, options: &Options) -> Result<bool> {
        match key {
            INTERVAL => {
                let interval = duration(value).filter(|d| !d.is_zero());
                self.interval = Some(interval.ok_or_else(|| {
                    options
                        .refuse(key, format!("'{value}' is not a duration"))
                        .hint("write '500 ms', '10 s' or '1 min'")
                })?);
            }
            TIMEOUT => self.timeout = bounded(options, key, value)?.max(Duration::from_millis(10)),
            DIR | OLD_DIR => self.dir = Some(value.to_owned()).filter(|dir| !dir.is_empty()),
            RETAINED | OLD_RETAINED => {
                let retained = value.parse().ok().filter(|&count| count > 0);
                self.retained = retained.ok_or_else(|| -> Error {
                    options.refuse(key, format!("'{value}' is not a number of checkpoints")).hint("give 1 or more")
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
