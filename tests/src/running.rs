//! The `tidemill` binary while it runs: its input open, its lines as they come.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::program::{Program, signal};

/// Longer than any machine needs: a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long nothing must happen before it counts as not happening.
const SILENCE: Duration = Duration::from_millis(300);

/// The program with its input open, its lines on a channel.
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    messages: Receiver<String>,
}

impl Running {
    /// Starts `tidemill run` over `sql`, in `folder`.
    ///
    /// # Panics
    /// If the test can't go on.
    pub fn start(folder: &Path, sql: &str, arguments: &[&str]) -> Self {
        Self::start_with(folder, sql, arguments, &[])
    }

    /// The same, with variables in its environment.
    ///
    /// # Panics
    /// If the test can't go on.
    pub fn start_with(folder: &Path, sql: &str, arguments: &[&str], environment: &[(&str, String)]) -> Self {
        std::fs::write(folder.join("query.sql"), sql).unwrap();
        let mut command: Command = Program::in_folder(folder).command(&[&["run", "query.sql"], arguments].concat());
        let mut child =
            command.envs(environment.iter().map(|(name, value)| (name, value))).stdin(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let lines = lines_of(child.stdout.take().unwrap());
        let messages = lines_of(child.stderr.take().unwrap());
        Self { child, stdin, lines, messages }
    }

    /// Writes to the program's standard input.
    ///
    /// # Panics
    /// If the test can't go on.
    pub fn write(&mut self, rows: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(rows.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Closes the program's standard input.
    pub fn close_input(&mut self) {
        drop(self.stdin.take());
    }

    /// The next `count` lines, sorted.
    ///
    /// # Panics
    /// If they do not come.
    pub fn wait_for(&self, count: usize) -> Vec<String> {
        let next = || self.lines.recv_timeout(PATIENCE).expect("the rows come while the input is open");
        let mut lines: Vec<String> = (0..count).map(|_| next()).collect();
        lines.sort();
        lines
    }

    /// The next line on standard error.
    ///
    /// # Panics
    /// If it does not come.
    pub fn wait_for_message(&self) -> String {
        self.messages.recv_timeout(PATIENCE).expect("a message comes while the input is open")
    }

    /// No line comes for a while.
    ///
    /// # Panics
    /// If the test can't go on.
    pub fn assert_silent(&self) {
        assert_eq!(self.lines.recv_timeout(SILENCE), Err(RecvTimeoutError::Timeout), "a row came too early");
    }

    /// Presses Ctrl-C.
    ///
    /// # Panics
    /// If the test can't go on.
    pub fn interrupt(&self) {
        signal(&self.child, libc::SIGINT);
    }

    /// The exit code, the lines that were not read yet, and the messages. Closes the input.
    ///
    /// # Panics
    /// If the program does not end.
    pub fn end(mut self) -> (Option<i32>, Vec<String>, String) {
        self.close_input();
        self.end_by_itself()
    }

    /// The same, with the input left open.
    ///
    /// # Panics
    /// If the program does not end.
    pub fn end_by_itself(mut self) -> (Option<i32>, Vec<String>, String) {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > PATIENCE {
                self.child.kill().unwrap();
                panic!("the program does not end");
            }
            thread::sleep(Duration::from_millis(5));
        };
        let messages = self.messages.iter().map(|line| line + "\n").collect();
        (status.code(), self.lines.iter().collect(), messages)
    }
}

/// The lines of a pipe, as they come.
fn lines_of(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    let pipe = BufReader::new(pipe);
    thread::spawn(move || pipe.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    lines
}
