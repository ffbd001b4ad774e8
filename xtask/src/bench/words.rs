//! Word count: `examples/rust/word_count` over a gigabyte of text, and the same loop by hand on one core.
//!
//! What counts is the time of all cores together: what a pipeline takes beside the work itself.

mod texts;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::measure::{self, Cost};
use super::options::Options;
use super::report::{Verdict, median, print_verdicts};
use super::{release_folder, work};
use crate::checkout::Checkout;
use crate::process;

pub(super) const NAME: &str = "typed_words";

/// What is to be reached: the CPU time of the loop.
const TIMES: f64 = 1.5;

const PIPELINE: &str = "word-count";
const BY_HAND: &str = "word-count-by-hand";

/// Runs both, prints what they take, and returns the reach if it is missed.
pub(super) fn run(options: &Options, checkout: &Checkout) -> Result<Vec<String>, String> {
    let programs = build(checkout)?;
    let texts = texts::ready()?;
    println!("\n{NAME}: words of a gigabyte of text, typed");
    let folder = work::empty("typed")?;
    let logs = [folder.join(PIPELINE), folder.join(BY_HAND)];
    let mut costs: [Vec<Cost>; 2] = Default::default();
    for _ in 0..options.runs {
        for ((name, log), costs) in [PIPELINE, BY_HAND].iter().zip(&logs).zip(&mut costs) {
            costs.push(measure::run(Command::new(programs.join(name)).arg(&texts), log)?);
        }
    }
    let said = |log: &PathBuf| fs::read_to_string(log).map_err(|e| format!("cannot read {}: {e}", log.display()));
    if said(&logs[0])? != said(&logs[1])? {
        return Err(format!("{PIPELINE} and {BY_HAND} count other words: see {}", folder.display()));
    }
    let [pipeline, by_hand] = costs.map(|costs| told(&costs));
    println!("  {PIPELINE:<20}{pipeline}\n  {BY_HAND:<20}{by_hand}");
    let ratio = pipeline.cpu.as_secs_f64() / by_hand.cpu.as_secs_f64();
    Ok(print_verdicts(NAME, [Verdict::at_most_times("the CPU time by hand", ratio, TIMES)]))
}

fn build(checkout: &Checkout) -> Result<PathBuf, String> {
    let programs = ["--package", "tidemill-examples", "--bin", PIPELINE, "--bin", BY_HAND];
    // With the binary: so the libraries have one set of features.
    let both = ["build", "--release", "--locked", "--package", "tidemill-cli", "--bin", "tidemill"];
    process::cargo(checkout, &[&both[..], &programs[..]].concat(), &[])?;
    release_folder()
}

/// The medians of some runs.
struct Medians {
    wall: Duration,
    cpu: Duration,
    peak_bytes: u64,
}

fn told(costs: &[Cost]) -> Medians {
    Medians {
        wall: median(costs.iter().map(|cost| cost.wall)),
        cpu: median(costs.iter().map(|cost| cost.cpu)),
        peak_bytes: median(costs.iter().map(|cost| cost.peak_bytes)),
    }
}

impl std::fmt::Display for Medians {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (wall, cpu) = (self.wall.as_secs_f64(), self.cpu.as_secs_f64());
        write!(f, "{wall:>8.3} s {cpu:>8.3} s cpu {:>6.0} MB", self.peak_bytes as f64 / 1e6)
    }
}
