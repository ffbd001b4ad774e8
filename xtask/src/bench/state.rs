//! What a large state costs a job with checkpoints: the longest pause at a barrier, what is written where little has
//! changed, and how long a new process takes to its first row.
//!
//! A job is filled with keys; then one in a hundred of them changes from each checkpoint to the next. What its checkpoints
//! have cost `tidemill checkpoints ls` tells. The job is killed, and started again.

mod process;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use self::process::Running;
use super::options::Options;
use super::report::{Verdict, median, print_verdicts};
use super::work;
use crate::checkout::Checkout;

/// A state that is measured: a folder of `bench/`.
pub(super) struct StateWorkload {
    pub(super) name: &'static str,
    is: &'static str,
    /// So many keys have a gigabyte of state.
    keys: u64,
}

pub(super) const WORKLOADS: &[StateWorkload] = &[
    StateWorkload { name: "state_groups", is: "1 GB of groups that are updated", keys: 10_000_000 },
    StateWorkload { name: "state_sessions", is: "1 GB of open sessions", keys: 16_000_000 },
];

/// What is to be reached.
const PAUSE_MS: f64 = 50.0;
const WRITTEN_PERCENT: f64 = 5.0;
const RECOVERY_MS: f64 = 3_000.0;

/// Between two checkpoints.
const INTERVAL_SECONDS: u64 = 5;

/// So many checkpoints of the whole state are measured, behind the first of them.
const CHECKPOINTS: usize = 6;

/// Longer than any machine needs for that.
const PATIENCE: Duration = Duration::from_secs(600);

const DATA_DIR: &str = "data";

/// What a checkpoint says of itself.
#[derive(Debug, Clone, Copy)]
struct Checkpoint {
    state_bytes: u64,
    written_bytes: u64,
    pause_ms: f64,
}

impl Checkpoint {
    fn of(line: &str) -> Result<Self, String> {
        let said: serde_json::Value = serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))?;
        let number = |name: &str| said[name].as_f64().ok_or_else(|| format!("a checkpoint has no {name}: {line}"));
        Ok(Self {
            state_bytes: number("state_bytes")? as u64,
            written_bytes: number("written_bytes")? as u64,
            pause_ms: number("longest_pause_ms")?,
        })
    }

    /// What was written for it, of what it has.
    fn written_percent(&self) -> f64 {
        self.written_bytes as f64 / self.state_bytes as f64 * 100.0
    }
}

/// Measures a state, prints what it costs, and returns the reaches that are missed.
pub(super) fn run(
    workload: &StateWorkload,
    options: &Options,
    tidemill: &Path,
    checkout: &Checkout,
) -> Result<Vec<String>, String> {
    println!("\n{}: {}", workload.name, workload.is);
    let job = Job::new(workload, tidemill, checkout)?;
    let (filling, whole) = job.filled()?;
    let recoveries = (0..options.runs).map(|_| job.recovers()).collect::<Result<Vec<_>, _>>()?;
    let gigabytes = whole.last().map_or(0.0, |last| last.state_bytes as f64 / 1e9);
    let longest = |of: &[Checkpoint]| of.iter().map(|checkpoint| checkpoint.pause_ms).fold(0.0, f64::max);
    println!("  {gigabytes:.2} GB of state; the longest pause while it was filled: {:.2} ms", longest(&filling));
    for checkpoint in &whole {
        let (pause_ms, percent) = (checkpoint.pause_ms, checkpoint.written_percent());
        println!("  a checkpoint: a pause of {pause_ms:.2} ms, {percent:.2} % of the state written");
    }
    // All bytes of all checkpoints count: one that rewrites much is made up for by none.
    let written: f64 = whole.iter().map(Checkpoint::written_percent).sum::<f64>() / whole.len() as f64;
    let recovery_ms = median(recoveries.iter().map(Duration::as_millis)) as f64;
    let verdicts = [
        Verdict::at_most("the longest pause at a barrier", longest(&whole), PAUSE_MS, "ms"),
        Verdict::at_most("a checkpoint writes after 1 % has changed", written, WRITTEN_PERCENT, "% of the state"),
        Verdict::at_most("recovery to the first row", recovery_ms, RECOVERY_MS, "ms"),
    ];
    Ok(print_verdicts(workload.name, verdicts))
}

/// The job in a folder of its own.
struct Job {
    tidemill: PathBuf,
    folder: PathBuf,
}

impl Job {
    fn new(workload: &StateWorkload, tidemill: &Path, checkout: &Checkout) -> Result<Self, String> {
        let values = [
            ("$keys", workload.keys),
            ("$last", workload.keys - 1),
            ("$interval", INTERVAL_SECONDS),
            ("$rate", workload.keys / 100 / INTERVAL_SECONDS),
        ];
        let folder = work::fresh(checkout, workload.name, &values)?;
        Ok(Self { tidemill: tidemill.to_owned(), folder })
    }

    fn start(&self, output: Stdio) -> Result<Running, String> {
        Running::start(&self.tidemill, &["run", work::SQL, "--data-dir", DATA_DIR], &self.folder, output)
    }

    /// Runs the job until there are enough checkpoints of the whole state: those before the first of these, and those
    /// behind it.
    fn filled(&self) -> Result<(Vec<Checkpoint>, Vec<Checkpoint>), String> {
        let mut running = self.start(Stdio::null())?;
        let begun = Instant::now();
        loop {
            sleep(Duration::from_secs(1));
            running.check()?;
            let mut checkpoints = self.checkpoints()?;
            let most = checkpoints.iter().map(|checkpoint| checkpoint.state_bytes).max().unwrap_or(0);
            // Until all keys are there each is larger than the one before.
            let first = checkpoints.iter().position(|checkpoint| checkpoint.state_bytes * 10 > most * 9).unwrap_or(0);
            let behind = checkpoints.split_off(checkpoints.len().min(first + 1));
            if behind.len() >= CHECKPOINTS {
                return Ok((checkpoints, behind));
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("the job has made only {} checkpoints of its whole state", behind.len()));
            }
        }
    }

    fn checkpoints(&self) -> Result<Vec<Checkpoint>, String> {
        let arguments = ["checkpoints", "ls", "--data-dir", DATA_DIR, "--output", "json"];
        let text = process::output(&self.tidemill, &arguments, &self.folder)?;
        text.lines().map(Checkpoint::of).collect()
    }

    /// How long a new process takes to its first row.
    fn recovers(&self) -> Result<Duration, String> {
        let begun = Instant::now();
        let mut running = self.start(Stdio::piped())?;
        running.first_line()?;
        let took = begun.elapsed();
        running.check()?;
        Ok(took)
    }
}

#[cfg(test)]
mod tests;
