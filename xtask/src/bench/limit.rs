//! Jobs whose state is ten times the memory that they may take: they must keep to that, and give the right answer.
//!
//! Each is run without a limit first, which tells how much memory its state takes; then with a tenth of that. The answer
//! is known from how the rows are made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{self, Cost};
use super::options::Options;
use super::report::{Verdict, print_verdicts};
use super::work;
use crate::checkout::Checkout;

/// A state that is too large: a folder of `bench/`.
pub(super) struct LimitWorkload {
    pub(super) name: &'static str,
    is: &'static str,
    /// The right answer, for so many users.
    answer: fn(u64) -> [u64; 3],
}

pub(super) const WORKLOADS: &[LimitWorkload] = &[
    LimitWorkload {
        name: "limit_sessions",
        is: "sessions of each user, with a tenth of the memory",
        // Sessions, visits, and the sum of all users.
        answer: |users| [users, visits(users), users * (users - 1) / 2],
    },
    LimitWorkload {
        name: "limit_distinct",
        is: "distinct users of each page, with a tenth of the memory",
        // Pages, visits, and users, each of whom sees one page.
        answer: |users| [PAGES, visits(users), users],
    },
];

/// Of as many events as other workloads have.
const USERS_PER_EVENT: u64 = 5;

/// As `bench/` has it.
const PAGES: u64 = 100_000;

/// The state without a limit, of the limit.
const TIMES: u64 = 10;

/// The least limit that there may be.
const LEAST_BYTES: u64 = 64 << 20;

/// What is to be reached: the peak of memory, of the limit.
const PERCENT: f64 = 120.0;

/// Every other user comes twice.
const fn visits(users: u64) -> u64 {
    users + users / 2
}

/// Runs a job without and with a limit, live and as a batch; prints what it takes, and returns the reaches that are missed.
pub(super) fn run(
    workload: &LimitWorkload,
    options: &Options,
    tidemill: &Path,
    checkout: &Checkout,
) -> Result<Vec<String>, String> {
    let users = USERS_PER_EVENT * options.events;
    println!("\n{}: {}; {users} users", workload.name, workload.is);
    let rows = visits(users);
    let folder = work::fresh(checkout, workload.name, &[("$users", users), ("$rows", rows), ("$last", rows - 1)])?;
    let job = Job { tidemill, folder, answer: (workload.answer)(users) };
    let mut verdicts = vec![];
    for driver in [Driver::Live, Driver::Batch] {
        let without = job.run(driver, None)?;
        println!("  {:<6} without a limit {}", driver.name(), told(without));
        let limit_bytes = (without.peak_bytes / TIMES).max(LEAST_BYTES);
        let with = job.run(driver, Some(limit_bytes))?;
        let (limit, peak) = (limit_bytes as f64, with.peak_bytes as f64);
        println!("  {:<6} limit {:>6.0} MB {}", driver.name(), limit / 1e6, told(with));
        let what = format!("the peak of the {} run", driver.name());
        verdicts.push(Verdict::at_most(&what, peak / limit * 100.0, PERCENT, "% of the limit"));
    }
    Ok(print_verdicts(workload.name, verdicts))
}

fn told(cost: Cost) -> String {
    let (wall, cpu, megabytes) = (cost.wall.as_secs_f64(), cost.cpu.as_secs_f64(), cost.peak_bytes as f64 / 1e6);
    format!("{wall:>8.3} s {cpu:>8.3} s cpu {megabytes:>6.0} MB")
}

#[derive(Debug, Clone, Copy)]
enum Driver {
    Live,
    Batch,
}

impl Driver {
    fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Batch => "batch",
        }
    }
}

struct Job<'a> {
    tidemill: &'a Path,
    folder: PathBuf,
    answer: [u64; 3],
}

impl Job<'_> {
    /// # Errors
    /// If it fails, or its answer is wrong.
    fn run(&self, driver: Driver, limit_bytes: Option<u64>) -> Result<Cost, String> {
        let mut command = Command::new(self.tidemill);
        command.args(["run", work::SQL]).current_dir(&self.folder);
        if let Driver::Batch = driver {
            command.arg("--batch");
        }
        if let Some(bytes) = limit_bytes {
            // Where there is as much room as for the other benchmarks.
            command.arg("--memory-limit").arg(format!("{bytes}B")).env("TMPDIR", &self.folder);
        }
        let log = self.folder.join("log");
        let cost = measure::run(&mut command, &log)?;
        let text = fs::read_to_string(&log).map_err(|e| format!("cannot read {}: {e}", log.display()))?;
        let [first, second, third] = self.answer;
        // A live run tells its answer as often as it changes.
        let answer = text.lines().rfind(|line| line.starts_with("+I[") || line.starts_with("+U["));
        let right = format!("[{first}, {second}, {third}]");
        match answer {
            Some(answer) if answer.ends_with(&right) => Ok(cost),
            _ => Err(format!("the {} run gives {}, not {right}", driver.name(), answer.unwrap_or("nothing"))),
        }
    }
}
