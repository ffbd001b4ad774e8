//! `cargo xtask peers`: installs what the benchmarks compare with: DuckDB, Polars and Flink, from their wheels.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::checkout::Checkout;
use crate::process::succeeds;
use crate::{Outcome, cache, flink};

const REQUIREMENTS: &str = "bench/requirements.txt";

pub(crate) fn run(checkout: &Checkout) -> Outcome {
    println!("DuckDB and Polars: {}", python(checkout)?.display());
    println!("Flink: {}", flink::installed(checkout)?.display());
    Ok(())
}

/// The interpreter that has DuckDB and Polars, in the versions that the requirements name.
pub(crate) fn python(checkout: &Checkout) -> Result<PathBuf, String> {
    let folder = cache::folder()?.join("peers");
    let (wanted, marker) = (checkout.read(REQUIREMENTS)?, folder.join("requirements.txt"));
    let python = folder.join("bin/python");
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    println!("Installing DuckDB and Polars into {} ...", folder.display());
    succeeds(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "-r"];
    succeeds(Command::new(&python).args(install).arg(checkout.path(REQUIREMENTS)))?;
    fs::write(&marker, wanted).map_err(|e| format!("cannot write {}: {e}", marker.display()))?;
    Ok(python)
}
