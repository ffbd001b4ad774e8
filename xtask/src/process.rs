//! Runs other programs, saying what is run.

use std::env;
use std::process::Command;

use crate::Outcome;
use crate::checkout::Checkout;

/// Runs cargo at the root of the checkout, its output passed through.
pub(crate) fn cargo(checkout: &Checkout, arguments: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let set: String = environment.iter().map(|(key, value)| format!("{key}={value} ")).collect();
    let line = format!("{set}cargo {}", arguments.join(" "));
    println!("$ {line}");
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(checkout.root());
    // What cargo has told this program of its own package is not so of another's: build scripts that look at it (ring's)
    // would run anew, and half of what is built would be built again, here and when cargo is called without it.
    for (key, _) in env::vars_os().filter(|(key, _)| of_a_package(&key.to_string_lossy())) {
        command.env_remove(key);
    }
    command.envs(environment.iter().copied());
    let status = command.status().map_err(|e| format!("cargo could not be started: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("failed: {line}")) }
}

/// Whether cargo sets this variable for a program that it runs, after the package of that
/// (<https://doc.rust-lang.org/cargo/reference/environment-variables.html>).
fn of_a_package(key: &str) -> bool {
    key.starts_with("CARGO_PKG_") || key.starts_with("CARGO_MANIFEST_") || key == "OUT_DIR"
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
