//! The files that the workloads read: made once, and found again by later runs.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::events::Events;
use crate::checkout::Checkout;
use crate::process::succeeds;
use crate::{Outcome, cache};

/// Events are dealt out to so many files in turn, as to the partitions of a topic.
const FILES: usize = 2;
/// Rows of the smallest input.
const FEW: u64 = 10;
/// Of the files: one more where [`Events`] or `bench/parquet.sql` change what they make.
const VERSION: u32 = 1;
/// What a file's writer takes at once.
const BUFFER_BYTES: usize = 1 << 20;

/// The folder with `json/`, `parquet/` and `few.json`; `tidemill` turns the lines into Parquet.
pub(super) fn ready(checkout: &Checkout, tidemill: &Path, events: u64) -> Result<PathBuf, String> {
    let all = cache::folder()?.join("bench");
    let folder = all.join(format!("events-{events}-v{VERSION}"));
    if folder.is_dir() {
        return Ok(folder);
    }
    println!("Making {events} events in {} ...", folder.display());
    // Made whole under another name: what is there under its own is complete.
    let making = all.join("making");
    if making.exists() {
        fs::remove_dir_all(&making).map_err(|e| format!("cannot remove {}: {e}", making.display()))?;
    }
    let json = making.join("json");
    fs::create_dir_all(&json).map_err(|e| format!("cannot create {}: {e}", json.display()))?;
    let files: Vec<PathBuf> = (0..FILES).map(|file| json.join(format!("events-{file}.json"))).collect();
    write(&files, events)?;
    write(&[making.join("few.json")], FEW)?;
    to_parquet(checkout, tidemill, &making)?;
    fs::rename(&making, &folder).map_err(|e| format!("cannot rename {}: {e}", making.display()))?;
    Ok(folder)
}

/// Writes the first `events` events to `files`, in turn.
fn write(files: &[PathBuf], events: u64) -> Outcome {
    let create = |path: &PathBuf| File::create(path).map_err(|e| format!("cannot create {}: {e}", path.display()));
    let mut writers = vec![];
    for file in files {
        writers.push(BufWriter::with_capacity(BUFFER_BYTES, create(file)?));
    }
    let failed = |e| format!("cannot write events: {e}");
    let (mut made, mut line) = (Events::new(), String::new());
    for writer in (0..files.len()).cycle().take(usize::try_from(events).map_err(|e| e.to_string())?) {
        line.clear();
        made.write(&mut line);
        writers[writer].write_all(line.as_bytes()).map_err(failed)?;
    }
    writers.iter_mut().try_for_each(|writer| writer.flush().map_err(failed))
}

fn to_parquet(checkout: &Checkout, tidemill: &Path, making: &Path) -> Outcome {
    let sql = making.join("parquet.sql");
    fs::write(&sql, checkout.read("bench/parquet.sql")?).map_err(|e| format!("cannot write {}: {e}", sql.display()))?;
    // One subtask keeps the order of the rows.
    succeeds(Command::new(tidemill).arg("run").arg(&sql).args(["--batch", "--parallelism", "1"]))
}
