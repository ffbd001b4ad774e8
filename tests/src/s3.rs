//! A service that speaks as S3 does, on this machine: moto, which shares no code with the engine.
//!
//! It runs in Python, from the environment that `scripts/test` makes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::duckdb::python;

/// The bucket that there is.
pub const BUCKET: &str = "shop";

/// A running service; it ends with the test.
pub struct S3 {
    server: Child,
    said: BufReader<ChildStdout>,
    port: u16,
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is answered with an error that repeating it would not mend.
    Refuse,
    /// It is never answered.
    Hang,
}

impl S3 {
    /// With an empty bucket.
    ///
    /// # Panics
    /// If it is not installed, or does not start.
    #[must_use]
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// One that refuses all that is asked of it.
    ///
    /// # Panics
    /// If it is not installed, or does not start.
    #[must_use]
    pub fn that_refuses() -> Self {
        Self::with(&["refuse"])
    }

    fn with(arguments: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/s3.py");
        let mut command = Command::new(python());
        command.arg("-I").arg(script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("run scripts/test once, which installs moto for the tests");
        let mut port = String::new();
        let mut said = BufReader::new(server.stdout.take().expect("standard output is a pipe"));
        said.read_line(&mut port).expect("the service tells its port");
        Self { server, said, port: port.trim().parse().expect("the service tells its port") }
    }

    /// From now on requests go wrong that have all the `words` in their method, path, query or body.
    ///
    /// # Panics
    /// If the service has ended.
    pub fn fault(&mut self, fault: Fault, words: &[&str]) {
        let fault = match fault {
            Fault::Refuse => "refuse",
            Fault::Hang => "hang",
        };
        self.tell(&format!("{fault} {}", words.join(" ")));
    }

    /// From now on all is well again, but for requests that hang.
    ///
    /// # Panics
    /// If the service has ended.
    pub fn mend(&mut self) {
        self.tell("mend");
    }

    fn tell(&mut self, line: &str) {
        let stdin = self.server.stdin.as_mut().expect("standard input is a pipe");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("the service listens");
        let mut heard = String::new();
        self.said.read_line(&mut heard).expect("the service answers");
        assert_eq!(heard, "ok\n");
    }

    /// Where it is.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What a program must have in its environment to use it.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        environment(&self.endpoint())
    }
}

/// What a program must have in its environment to use the service at `endpoint`.
#[must_use]
pub fn environment(endpoint: &str) -> Vec<(&'static str, String)> {
    let set = |name, value: &str| (name, value.to_owned());
    vec![
        set("AWS_ENDPOINT_URL", endpoint),
        set("AWS_ACCESS_KEY_ID", "test"),
        set("AWS_SECRET_ACCESS_KEY", "test"),
        set("AWS_REGION", "us-east-1"),
    ]
}

impl Drop for S3 {
    fn drop(&mut self) {
        // It ends when its standard input does; what is left to do is not to leave it behind.
        drop(self.server.stdin.take());
        drop(self.server.wait());
    }
}
