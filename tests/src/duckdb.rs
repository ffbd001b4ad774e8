//! DuckDB as an oracle: it shares no code with the engine, and reads the same files.
//!
//! It runs in Python, from the environment that `scripts/test` makes.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, thread};

use serde_json::Value;

/// The rows of the last statement of `sql`, one object each, in the order and with the names of its columns.
///
/// Decimals are numbers with all their digits; dates and times are text as DuckDB writes it, and
/// `TIMESTAMPTZ` in UTC. JSON has no NaN and no bytes: cast those in the query. Relative paths start
/// at the folder of the test.
///
/// # Panics
/// If DuckDB is not installed, or refuses the SQL.
#[must_use]
pub fn duckdb(sql: &str) -> Vec<Value> {
    ask("ask.py", sql)
}

/// The rows that a script of `oracle/` gives for the SQL.
pub(crate) fn ask(script: &str, sql: &str) -> Vec<Value> {
    let python = python();
    assert!(
        python.exists(),
        "{} is not there: run scripts/test once, which installs DuckDB for the tests",
        python.display()
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle").join(script);
    let mut command = Command::new(&python);
    // Isolated from the user's environment and packages.
    command.arg("-I").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("Python starts");
    let mut input = child.stdin.take().expect("standard input is a pipe");
    let output = thread::scope(|scope| {
        // Beside the reading, so that neither side waits for the other with a full pipe. What is
        // wrong with a pipe that Python closed early, it says itself.
        scope.spawn(move || drop(input.write_all(sql.as_bytes())));
        child.wait_with_output().expect("Python ends")
    });
    assert!(output.status.success(), "DuckDB refuses\n{sql}\n{}", String::from_utf8_lossy(&output.stderr));
    let rows = String::from_utf8(output.stdout).expect("DuckDB writes UTF-8");
    rows.lines().map(|row| serde_json::from_str(row).expect("DuckDB writes JSON")).collect()
}

/// The interpreter that has the module; `scripts/lib/setup.sh` knows the same place.
pub(crate) fn python() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let home = || PathBuf::from(set("HOME").unwrap_or_else(|| OsString::from("/")));
    let cache = set("XDG_CACHE_HOME").map_or_else(|| home().join(".cache"), PathBuf::from);
    cache.join("tidemill/oracle/bin/python")
}
