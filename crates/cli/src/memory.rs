//! How much memory the program has taken, and how much it may.

use std::fs;
use std::path::{Path, PathBuf};

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::memory_size;
use tidemill_runtime::key_groups::{MemoryLimit, Spill};
use tidemill_state::SpillFolder;
use tikv_jemalloc_ctl::{Access, AsName, epoch, stats};

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
    be_frugal().map_err(unknown)?;
    let (clock, resident) = (epoch::mib().map_err(unknown)?, stats::resident::mib().map_err(unknown)?);
    let used = move || {
        // Both were there a moment ago; without them everything that can be spilled is.
        let allocated = clock.advance().and_then(|_| resident.read()).map_or(u64::MAX, |bytes| bytes as u64);
        allocated.saturating_add(own_bytes().min(bytes / OWN))
    };
    let parent: PathBuf = match data_dir {
        Some(data_dir) => own(data_dir.join("spill"))?,
        None => std::env::temp_dir(),
    };
    // What a step takes for itself comes on top.
    let limit = MemoryLimit::new(bytes / 10 * 9, used);
    Ok(Some(Spill { limit, folder: SpillFolder::within(&parent)? }))
}

/// The program's own pages count up to this part of a limit: the system can drop and read them again, and with the least limit
/// there would be nothing left.
const OWN: u64 = 4;

/// What is free goes back to the system at once, and pages are small: so what the system counts is what is in use.
fn be_frugal() -> tikv_jemalloc_ctl::Result<()> {
    const AT_ONCE: isize = 0;
    b"arenas.dirty_decay_ms\0".name().write(AT_ONCE)?;
    b"arenas.muzzy_decay_ms\0".name().write(AT_ONCE)?;
    for arena in 0..tikv_jemalloc_ctl::arenas::narenas::read()? {
        for kind in ["dirty", "muzzy"] {
            // One that has not been used is not there yet, and will be made as is said above.
            let _ = format!("arena.{arena}.{kind}_decay_ms\0").as_bytes().name().write(AT_ONCE);
        }
    }
    #[cfg(target_os = "linux")]
    // SAFETY: it takes no pointers. Where the system refuses, pages stay large: more memory is taken, and nothing is wrong.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
    Ok(())
}

/// How many bytes of the program's file are in memory; 0 where the system does not tell.
fn own_bytes() -> u64 {
    // SAFETY: it takes no pointers.
    let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(0);
    let shared = |text: String| text.split(' ').nth(2).and_then(|pages| pages.parse::<u64>().ok());
    fs::read_to_string("/proc/self/statm").ok().and_then(shared).map_or(0, |pages| pages * page)
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
