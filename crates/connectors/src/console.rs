//! Standard output and standard error as a place for rows.
//!
//! Everything that prints rows goes through here, so that one write is never cut by another and a
//! closed pipe is told apart from a failure. Once the program is asked to stop, a write that nobody reads is given up.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tidemill_core::{Error, Result};

use crate::blocking::blocking;

/// Whether the program is asked to stop.
static STOPPING: AtomicBool = AtomicBool::new(false);

/// How much a pipe that is ready takes at once without blocking, by POSIX.
const PIPE_BYTES: usize = 4_096;

/// How often a write that waits for a reader looks whether it shall be given up.
const LOOK: Duration = Duration::from_millis(100);

/// How long a reader may take for the next bytes once the program is asked to stop.
const PATIENCE: Duration = Duration::from_secs(2);

/// One of the two streams of the process that rows can be printed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Console {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

impl Console {
    /// From now on, a write of rows that nobody reads fails as if the reader was gone: it would hold up the end.
    pub fn stop_waiting() {
        STOPPING.store(true, Ordering::Relaxed);
    }

    /// Whether [`Console::stop_waiting`] was called.
    #[must_use]
    pub fn is_stopping() -> bool {
        STOPPING.load(Ordering::Relaxed)
    }

    /// Writes all of `bytes` and flushes.
    ///
    /// # Errors
    /// `Closed` if the reader of the pipe is gone (`tidemill ... | head`): a reason to end quietly.
    /// `Unavailable` for everything else, such as a full disk behind a redirection.
    pub fn write(self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        blocking(|| match self {
            Self::Output => write_whole(&mut io::stdout().lock(), bytes),
            Self::Error => write_whole(&mut io::stderr().lock(), bytes),
        })
        .map_err(|e| self.failed(e))
    }

    fn failed(self, e: io::Error) -> Error {
        let name = match self {
            Self::Output => "standard output",
            Self::Error => "standard error",
        };
        match e.kind() {
            ErrorKind::BrokenPipe => Error::closed(format!("{name} was closed by its reader")).because(e),
            ErrorKind::StorageFull => Error::unavailable(format!("cannot write to {name}: {e}"))
                .because(e)
                .hint("make room on the disk that it is redirected to, then run again"),
            _ => Error::unavailable(format!("cannot write to {name}: {e}")).because(e),
        }
    }
}

fn write_whole(stream: &mut (impl Write + AsFd), bytes: &[u8]) -> io::Result<()> {
    if waits_for_a_reader(stream)? {
        for part in bytes.chunks(PIPE_BYTES) {
            wait_until_ready(stream)?;
            stream.write_all(part)?;
            stream.flush()?;
        }
        return Ok(());
    }
    stream.write_all(bytes)?;
    stream.flush()
}

/// Whether a write may block until somebody reads: all but files do.
fn waits_for_a_reader(stream: &impl AsFd) -> io::Result<bool> {
    Ok(!File::from(stream.as_fd().try_clone_to_owned()?).metadata()?.is_file())
}

/// Waits until the stream takes [`PIPE_BYTES`].
fn wait_until_ready(stream: &impl AsFd) -> io::Result<()> {
    let mut unread_since = None;
    while !ready_within(stream, LOOK)? {
        if Console::is_stopping() && unread_since.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            return Err(ErrorKind::BrokenPipe.into());
        }
    }
    Ok(())
}

/// Whether the stream can be written to, or says at once that it can't.
fn ready_within(stream: &impl AsFd, timeout: Duration) -> io::Result<bool> {
    let mut asked = libc::pollfd { fd: stream.as_fd().as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    let timeout_ms = libc::c_int::try_from(timeout.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: the call is given one entry, which lives until it returns, and an open descriptor.
    match unsafe { libc::poll(&raw mut asked, 1, timeout_ms) } {
        -1 => match io::Error::last_os_error() {
            e if e.kind() == ErrorKind::Interrupted => Ok(false),
            e => Err(e),
        },
        ready => Ok(ready > 0),
    }
}

#[cfg(test)]
mod tests;
