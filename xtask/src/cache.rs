//! The folder of what developer commands install and generate: outside the checkout, for all checkouts.

use std::env;
use std::path::{Path, PathBuf};

/// `~/.cache/tidemill`, or where `XDG_CACHE_HOME` says.
pub(crate) fn folder() -> Result<PathBuf, String> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    if let Some(cache) = set("XDG_CACHE_HOME") {
        return Ok(Path::new(&cache).join("tidemill"));
    }
    let home = set("HOME").ok_or("neither XDG_CACHE_HOME nor HOME is set")?;
    Ok(Path::new(&home).join(".cache/tidemill"))
}
