//! Runs a program and tells what it took: the whole process, from its start to its exit.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What one run took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) wall: Duration,
    /// Of all cores together, in the program and in the system for it.
    pub(super) cpu: Duration,
    /// The most memory that was resident at once.
    pub(super) peak_bytes: u64,
}

/// Runs `command`, whose standard output and error go to `log`.
pub(super) fn run(command: &mut Command, log: &Path) -> Result<Cost, String> {
    let file = fs::File::create(log).map_err(|e| format!("cannot create {}: {e}", log.display()))?;
    let errors = file.try_clone().map_err(|e| format!("cannot share {}: {e}", log.display()))?;
    let program = command.get_program().to_string_lossy().into_owned();
    let started = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(file).stderr(errors).spawn();
    let (status, usage) = wait(&child.map_err(|e| format!("{program} could not be started: {e}"))?)?;
    let wall = started.elapsed();
    if status == 0 {
        // Linux tells kilobytes, macOS bytes.
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        let peak_bytes = usage.ru_maxrss.unsigned_abs() * unit;
        return Ok(Cost { wall, cpu: duration(usage.ru_utime) + duration(usage.ru_stime), peak_bytes });
    }
    let said = fs::read_to_string(log).unwrap_or_else(|e| format!("what it said can't be read: {e}"));
    Err(format!("{program} failed (wait status {status}):\n{said}"))
}

/// The status and the usage of a process that has ended. The standard library tells only the status.
fn wait(child: &Child) -> Result<(i32, libc::rusage), String> {
    let pid = libc::pid_t::try_from(child.id()).map_err(|e| format!("no process has such an id: {e}"))?;
    let mut status = 0;
    // SAFETY: a usage of zeros is valid: it holds nothing but numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both targets live until the call returns.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    if waited != pid {
        return Err(format!("cannot wait for a process: {}", std::io::Error::last_os_error()));
    }
    Ok((status, usage))
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_micros(time.tv_usec.unsigned_abs())
}
