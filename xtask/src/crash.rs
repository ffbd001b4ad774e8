//! `cargo xtask crash`: kills jobs, as often as is wanted, and looks at what they have committed.

use crate::checkout::Checkout;
use crate::{Outcome, process};

const USAGE: &str = "usage: cargo xtask crash [--rounds N] [--seed N]";

pub(crate) fn run(checkout: &Checkout, arguments: &[&str]) -> Outcome {
    let mut environment = vec![];
    for pair in arguments.chunks(2) {
        match *pair {
            ["--rounds", number] if number.parse::<u64>().is_ok() => {
                environment.push(("TIDEMILL_CRASH_ROUNDS", number))
            }
            ["--seed", number] if number.parse::<u64>().is_ok() => environment.push(("TIDEMILL_CRASH_SEED", number)),
            _ => return Err(USAGE.to_owned()),
        }
    }
    process::build(checkout)?;
    let command = ["test", "--quiet", "--workspace", "--all-features", "--test", "crash", "--", "--nocapture"];
    process::cargo(checkout, &command, &environment)
}
