//! The `tidemill` binary of this build, run to its end.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Sends a signal, such as `libc::SIGINT`, to a process that has not been waited for.
///
/// # Panics
/// If it can't be sent.
pub fn signal(process: &Child, signal: libc::c_int) {
    let pid = libc::pid_t::try_from(process.id()).unwrap();
    // SAFETY: it only sends a signal, and the number is the child's until that is waited for.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

/// Ends a process by Ctrl-C.
///
/// # Panics
/// If it does not say that it was interrupted.
pub fn interrupt(mut process: Child) {
    signal(&process, libc::SIGINT);
    assert_eq!(process.wait().unwrap().code(), Some(130));
}

/// The program, started in a folder.
#[derive(Debug, Clone)]
pub struct Program {
    binary: PathBuf,
    folder: PathBuf,
}

impl Program {
    /// The binary that was built beside this test; relative paths start at `folder`.
    ///
    /// # Panics
    /// If it was not built.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        let test = std::env::current_exe().expect("a running test has a path");
        // target/debug/deps/golden-0123456789abcdef stands beside target/debug/tidemill.
        let built = test.ancestors().nth(2).expect("tests are built in target/<profile>/deps");
        let binary = built.join(format!("tidemill{}", std::env::consts::EXE_SUFFIX));
        assert!(
            binary.exists(),
            "{} is not there: build the whole workspace, with cargo build --workspace",
            binary.display()
        );
        Self { binary, folder: folder.to_owned() }
    }

    /// A command that is ready to be started: no input, output captured, no colour.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(&self.folder).env("NO_COLOR", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// If it can't be started.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Finished {
        let output = self.command(arguments).output().expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Finished { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}
