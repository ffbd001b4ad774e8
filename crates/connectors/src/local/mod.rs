//! What systems have in common that keep files on this machine: names, folders, and errors that say what to do.

mod folders;

use std::fmt::{self, Write};
use std::io;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tidemill_core::Error;

pub use self::folders::{Folders, sync_folder};

/// The error of a file or folder that can't be dealt with as `what` says, with the remedy if there is one.
pub fn failed(what: &str, path: &Path, e: io::Error) -> Error {
    let hint = match e.kind() {
        io::ErrorKind::StorageFull => Some("make room on the disk, then run again"),
        io::ErrorKind::QuotaExceeded => Some("the user's disk quota is used up: make room, then run again"),
        io::ErrorKind::FileTooLarge => Some("raise the limit of a file's size (ulimit -f), then run again"),
        io::ErrorKind::PermissionDenied => Some("give the user who runs tidemill the right to write to the folder"),
        _ => None,
    };
    let error = Error::unavailable(format!("cannot {what} '{}': {e}", path.display())).because(e);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// A short name that no other run of this machine has: the time, the process, and a count within
/// the process. Names sort by the time of the run.
pub fn run_id() -> String {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    // A clock before 1970 only costs the order of the names.
    let micros = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_micros());
    let count = u128::from(RUNS.fetch_add(1, Ordering::Relaxed));
    format!("{}{:0>5}{:0>2}", base36(micros), base36(u128::from(process::id())), base36(count))
}

fn base36(mut number: u128) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = (number % 36) as u32;
        digits.push(char::from_digit(digit, 36).expect("a remainder of 36 is a digit"));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// A name or value of a partition's column as the name of a folder has it, as Flink and Hive escape it.
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let special = |c: char| c.is_ascii_control() || "\"#%'*/:=?\\{[]^".contains(c);
        for c in self.0.chars() {
            match special(c) {
                true => write!(f, "%{:02X}", u32::from(c))?,
                false => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
