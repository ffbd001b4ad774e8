//! Standard output and standard error as a place for rows.
//!
//! Everything that prints rows goes through here, so that one write is never cut by another and a
//! closed pipe is told apart from a failure.

use std::io::{self, ErrorKind, Write};

use tidemill_core::{Error, Result};

use crate::blocking::blocking;

/// One of the two streams of the process that rows can be printed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Console {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

impl Console {
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

fn write_whole(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}

#[cfg(test)]
mod tests;
