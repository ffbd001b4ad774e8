//! `cargo xtask nightly`: what finds rare mistakes by trying more than a change has time for.
//!
//! The property tests run with many cases and one seed, which is printed: the same seed gives the
//! same cases again.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::checkout::Checkout;
use crate::{Outcome, process};

/// Twice as many as most properties have otherwise, and eight times as many as the slow ones.
const CASES: u32 = 512;
const CRASH_ROUNDS: &str = "200";
const USAGE: &str = "usage: cargo xtask nightly [--cases N] [--seed N]";

struct Options {
    cases: u32,
    seed: u64,
}

pub(crate) fn run(checkout: &Checkout, arguments: &[&str]) -> Outcome {
    let options = options(arguments)?;
    let (cases, seed) = (options.cases.to_string(), options.seed.to_string());
    let environment = [
        ("PROPTEST_CASES", &*cases),
        ("PROPTEST_RNG_SEED", &*seed),
        ("TIDEMILL_CRASH_SEED", &*seed),
        ("TIDEMILL_CRASH_ROUNDS", CRASH_ROUNDS),
    ];
    process::build(checkout)?;
    let started = Instant::now();
    let outcome = process::cargo(
        checkout,
        &["nextest", "run", "--workspace", "--all-features", "--profile", "nightly"],
        &environment,
    );
    let verdict = if outcome.is_ok() { "passed" } else { "FAILED" };
    println!("nightly: {verdict}: {cases} cases a property, seed {seed}, {} s", started.elapsed().as_secs());
    println!("again with: cargo xtask nightly --cases {cases} --seed {seed}");
    outcome
}

fn options(arguments: &[&str]) -> Result<Options, String> {
    // A clock before 1970 costs the variety of the seeds, nothing else.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let mut options = Options { cases: CASES, seed: now };
    for pair in arguments.chunks(2) {
        match *pair {
            ["--cases", number] => options.cases = number.parse().map_err(|_| USAGE.to_owned())?,
            ["--seed", number] => options.seed = number.parse().map_err(|_| USAGE.to_owned())?,
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(options)
}
