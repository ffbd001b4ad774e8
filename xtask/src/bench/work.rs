//! The folder that a benchmark works in, and its SQL there, filled in.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache;
use crate::checkout::Checkout;

/// The name of the SQL file in the folder.
pub(super) const SQL: &str = "tidemill.sql";

/// An empty folder for the workload `name`, with the SQL that `bench/` has for it: each `$word` of `values` is replaced.
pub(super) fn fresh(checkout: &Checkout, name: &str, values: &[(&str, u64)]) -> Result<PathBuf, String> {
    let folder = empty(name)?;
    let mut sql = checkout.read(&format!("bench/{name}/{SQL}"))?;
    for (word, value) in values {
        sql = sql.replace(word, &value.to_string());
    }
    let file = folder.join(SQL);
    fs::write(&file, sql).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    Ok(folder)
}

/// An empty folder for the workload `name`.
pub(super) fn empty(name: &str) -> Result<PathBuf, String> {
    let folder = cache::folder()?.join("bench/work").join(name);
    clear(&folder)?;
    fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    Ok(folder)
}

/// Removes a folder, if it is there.
pub(super) fn clear(folder: &Path) -> Result<(), String> {
    match folder.exists() {
        true => fs::remove_dir_all(folder).map_err(|e| format!("cannot remove {}: {e}", folder.display())),
        false => Ok(()),
    }
}
