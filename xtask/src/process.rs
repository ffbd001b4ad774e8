//! Runs other programs, saying what is run.

use std::process::Command;

use crate::Outcome;
use crate::checkout::Checkout;

/// Runs cargo at the root of the checkout, its output passed through.
pub(crate) fn cargo(checkout: &Checkout, arguments: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let set: String = environment.iter().map(|(key, value)| format!("{key}={value} ")).collect();
    let line = format!("{set}cargo {}", arguments.join(" "));
    println!("$ {line}");
    let status = Command::new("cargo")
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(checkout.root())
        .status()
        .map_err(|e| format!("cargo could not be started: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("failed: {line}")) }
}

/// Builds what the tests run: the binary, which a test runner does not build by itself, and with all
/// targets the features that the libraries have in the tests, so that they are not built anew.
pub(crate) fn build(checkout: &Checkout) -> Outcome {
    cargo(checkout, &["build", "--quiet", "--workspace", "--all-targets", "--all-features"], &[])
}

/// Runs a program to its end.
pub(crate) fn succeeds(command: &mut Command) -> Outcome {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|e| format!("{program} could not be started: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{program} failed: {status}")) }
}
