//! Processes of the job: one that is killed when nobody needs it any more, and one that is asked for something.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where a process puts what it says on standard error, in its folder.
const LOG: &str = "log";

/// A process that goes on until it is killed, which happens at the latest when this is dropped.
pub(super) struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    pub(super) fn start(program: &Path, arguments: &[&str], folder: &Path, output: Stdio) -> Result<Self, String> {
        let log = folder.join(LOG);
        let errors = File::create(&log).map_err(|e| format!("cannot create {}: {e}", log.display()))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(output).stderr(errors);
        Ok(Self { child: command.spawn().map_err(|e| not_started(program, &e))?, log })
    }

    /// # Errors
    /// If it has ended, with what it said.
    pub(super) fn check(&mut self) -> Result<(), String> {
        match self.child.try_wait().map_err(|e| format!("cannot wait for a process: {e}"))? {
            None => Ok(()),
            Some(status) => {
                let said = fs::read_to_string(&self.log).unwrap_or_else(|e| format!("what it said can't be read: {e}"));
                Err(format!("the job has ended ({status}):\n{said}"))
            }
        }
    }

    /// Waits for a line of its output, which is a pipe.
    pub(super) fn first_line(&mut self) -> Result<(), String> {
        let output = self.child.stdout.as_mut().ok_or("standard output is no pipe")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).map_err(|e| format!("cannot read what the job gives: {e}"))?;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended by itself can't be killed, and that is as well.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What a process says; nothing if it has nothing to tell yet.
pub(super) fn output(program: &Path, arguments: &[&str], folder: &Path) -> Result<String, String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|e| not_started(program, &e))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn not_started(program: &Path, e: &std::io::Error) -> String {
    format!("{} could not be started: {e}", program.display())
}
