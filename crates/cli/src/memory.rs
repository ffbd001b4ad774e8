//! How much memory the program has taken, and how much it may.

use std::path::{Path, PathBuf};

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::memory_size;
use tidemill_runtime::key_groups::{MemoryLimit, Spill};
use tidemill_state::SpillFolder;
use tikv_jemalloc_ctl::{epoch, stats};

/// Gives memory back more evenly than the system's, and tells how much is taken.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// What the allocator reads when it starts: state by key is looked up all over memory, and a page of 2 MB has one entry in the
/// processor's table where 512 small ones would take turns. Sessions of a million keys take 0.94 of the time with them.
#[unsafe(export_name = "_rjem_malloc_conf")]
static SETTINGS: &[u8] = b"thp:always\0";

/// With less there would be no room for a batch of rows at each step.
const LEAST: u64 = 64 << 20;

/// The value of --memory-limit.
pub(crate) fn parse(text: &str) -> std::result::Result<u64, String> {
    match memory_size(text) {
        Some(bytes) if bytes >= LEAST => Ok(bytes),
        Some(_) => Err("at least 64 MB are needed".to_owned()),
        None => Err("write a number and a unit, such as 512MB or 4GB".to_owned()),
    }
}

/// What becomes of state that is more than `limit` bytes: it goes into a folder within the data directory, or else into one
/// within the system's for temporary files.
pub(crate) fn spill(limit: Option<u64>, data_dir: Option<&Path>) -> Result<Option<Spill>> {
    let Some(bytes) = limit else { return Ok(None) };
    let unknown = |e| Error::internal(format!("the allocator does not tell how much memory is taken: {e}"));
    let (clock, allocated) = (epoch::mib().map_err(unknown)?, stats::allocated::mib().map_err(unknown)?);
    let used = move || {
        // Both were there a moment ago; without them everything that can be spilled is.
        match clock.advance().and_then(|_| allocated.read()) {
            Ok(bytes) => bytes as u64,
            Err(_) => u64::MAX,
        }
    };
    let parent: PathBuf = match data_dir {
        Some(data_dir) => own(data_dir.join("spill"))?,
        None => std::env::temp_dir(),
    };
    // What the allocator keeps for itself counts too.
    let limit = MemoryLimit::new(bytes / 10 * 9, used);
    Ok(Some(Spill { limit, folder: SpillFolder::within(&parent)? }))
}

/// A folder of the job's own, without what a run that was killed has left in it.
fn own(folder: PathBuf) -> Result<PathBuf> {
    match std::fs::remove_dir_all(&folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::unavailable(format!("cannot empty '{}': {e}", folder.display()))
                .because(e)
                .hint("delete the folder: what is in it is of no use to a later run"))
        }
        _ => Ok(folder),
    }
}
