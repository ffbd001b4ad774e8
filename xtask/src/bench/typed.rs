//! Typed programs over a source in the process, on one core: how many events a second pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure;
use super::options::Options;
use super::report::{Verdict, median, print_verdicts};
use super::{release_folder, work};
use crate::checkout::Checkout;
use crate::process;

/// A program of `crates/datastream/examples/speed.rs`.
pub(super) struct TypedWorkload {
    pub(super) name: &'static str,
    is: &'static str,
    program: &'static str,
    /// So many keys, and how many million events a second are to be reached.
    reaches: &'static [(u64, f64)],
}

pub(super) const WORKLOADS: &[TypedWorkload] = &[
    TypedWorkload {
        name: "typed_process",
        is: "a process function with value state, typed, one core",
        program: "process",
        reaches: &[(10_000, 5.0), (1_000_000, 2.0)],
    },
    TypedWorkload {
        name: "typed_rocksdb",
        is: "the same with its state in RocksDB",
        program: ROCKSDB,
        reaches: &[(10_000, 0.3), (1_000_000, 0.3)],
    },
    TypedWorkload {
        name: "typed_window",
        is: "a tumbling count by key, typed, one core",
        program: "window",
        reaches: &[(10_000, 10.0), (1_000_000, 3.0)],
    },
    TypedWorkload {
        name: "typed_join",
        is: "an interval join of two streams, typed, one core",
        program: "join",
        reaches: &[(100_000, 1.5)],
    },
];

/// The program that is only there with that build flag.
const ROCKSDB: &str = "rocksdb";

/// Builds the programs for these workloads, optimised.
pub(super) fn build(checkout: &Checkout, workloads: &[&TypedWorkload]) -> Result<PathBuf, String> {
    let with_rocksdb = workloads.iter().any(|workload| workload.program == ROCKSDB);
    let mut program = vec!["--package", "tidemill-datastream", "--example", "speed"];
    if with_rocksdb {
        program.extend(["--features", "tidemill-datastream/rocksdb"]);
    }
    // With the binary: so the libraries have one set of features.
    let both = ["build", "--release", "--locked", "--package", "tidemill-cli", "--bin", "tidemill"];
    process::cargo(checkout, &[&both[..], &program[..]].concat(), &[])?;
    Ok(release_folder()?.join("examples/speed"))
}

/// Runs one program with each number of keys, prints what it takes, and returns the reaches that are missed.
pub(super) fn run(workload: &TypedWorkload, options: &Options, speed: &Path) -> Result<Vec<String>, String> {
    println!("\n{}: {}; {} events", workload.name, workload.is, options.events);
    let log = work::empty("typed")?.join("log");
    let mut verdicts = vec![];
    for (keys, least) in workload.reaches {
        let (mut rates, mut peak_bytes) = (vec![], 0);
        for _ in 0..options.runs {
            let mut command = Command::new("taskset");
            command.args(["-c", "0"]).arg(speed).arg(workload.program);
            command.args([options.events.to_string(), keys.to_string()]);
            peak_bytes = measure::run(&mut command, &log)?.peak_bytes.max(peak_bytes);
            let said = fs::read_to_string(&log).map_err(|e| format!("cannot read {}: {e}", log.display()))?;
            let rate = said.strip_suffix(" events/s\n").and_then(|rate| rate.parse::<u64>().ok());
            rates.push(rate.ok_or_else(|| format!("the program says no rate: {said}"))?);
        }
        let rate = median(rates.into_iter()) as f64 / 1e6;
        println!("  {keys:>9} keys {rate:>8.2} M events/s {:>6.0} MB", peak_bytes as f64 / 1e6);
        verdicts.push(Verdict::at_least(&format!("with {keys} keys"), rate, *least, "M events/s"));
    }
    Ok(print_verdicts(workload.name, verdicts))
}
