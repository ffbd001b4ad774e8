//! A golden case: a folder with a query, its input, and what must come out.
//!
//! ```text
//! query.sql            its first line may be `-- golden: no reconcile: why` (or `no batch`, `no live`)
//! *.jsonl              input, in the order of arrival
//! out/                 what the folders of sinks hold before the run, if anything
//! expected.changelog   final rows: those printed, then those of each sink's folder out/<name>
//! expected.batch       where the batch gives other rows, because some were late
//! expected.late        the rows of the folders out/late*
//! expected.stderr      `exit N`, then the messages of a live run, or of both runs in error_<case>
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::folder::{copy_of, names};
use crate::program::{Finished, Program};
use crate::rows::{final_rows, written_rows};

/// A folder with a query, its input, and what must come out.
#[derive(Debug, Clone)]
pub struct Case {
    /// The folder's name.
    pub name: String,
    folder: PathBuf,
    /// The modes that it opts out of.
    left_out: Vec<String>,
}

/// How a case is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Over the input as history.
    Batch,
    /// By arrival.
    Live {
        /// `--batch-size`
        batch_size: u32,
        /// `--parallelism`
        parallelism: u16,
    },
}

/// What a run left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Result {
    /// Final rows, in the form of `expected.changelog`.
    pub changelog: String,
    /// Late rows, in the form of `expected.late`.
    pub late: String,
    /// The exit code and the messages, in the form of `expected.stderr`.
    pub stderr: String,
}

impl Case {
    /// Every case under `folder`, by name.
    ///
    /// # Panics
    /// If a folder has no `query.sql`, or its first line opts out without saying why.
    #[must_use]
    pub fn all(folder: &Path) -> Vec<Self> {
        names(folder).into_iter().map(|name| Self::read(folder.join(&name), name)).collect()
    }

    fn read(folder: PathBuf, name: String) -> Self {
        let query = fs::read_to_string(folder.join("query.sql"));
        assert!(query.is_ok(), "{name}/query.sql can't be read: {query:?}");
        let query = query.unwrap_or_default();
        let first = query.lines().next().unwrap_or_default();
        let left_out = match first.strip_prefix("-- golden:") {
            Some(words) => {
                let (modes, why) = words.split_once(':').unwrap_or_default();
                assert!(!why.trim().is_empty(), "{name}: write -- golden: no <mode>, no <mode>: why");
                let mode = |words: &str| words.trim().strip_prefix("no ").expect("a mode follows no").to_owned();
                modes.split(',').map(mode).collect()
            }
            None => vec![],
        };
        Self { name, folder, left_out }
    }

    /// Whether the case is a refusal or a failure.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.name.starts_with("error_")
    }

    /// Whether the case is run in this mode: `batch`, `live` or `reconcile`.
    #[must_use]
    pub fn takes(&self, mode: &str) -> bool {
        !self.left_out.iter().any(|left_out| left_out == mode)
    }

    /// What the file of the case holds, `None` if there is none.
    #[must_use]
    pub fn expected(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(file)).ok()
    }

    /// Writes a file of the case, or removes it.
    ///
    /// # Panics
    /// If that fails.
    pub fn accept(&self, file: &str, text: Option<&str>) {
        let path = self.folder.join(file);
        match text {
            Some(text) => fs::write(path, text).expect("the case's folder can be written"),
            None if path.exists() => fs::remove_file(path).expect("the case's folder can be written"),
            None => {}
        }
    }

    /// Runs the case in a fresh copy of its folder.
    ///
    /// # Panics
    /// If it can't be started, or leaves files behind when it fails.
    #[must_use]
    pub fn run(&self, mode: Mode) -> Result {
        let (batch_size, parallelism);
        let arguments = match mode {
            Mode::Batch => vec!["run", "query.sql", "--output", "json", "--batch"],
            Mode::Live { batch_size: rows, parallelism: subtasks } => {
                (batch_size, parallelism) = (rows.to_string(), subtasks.to_string());
                let sizes = ["--batch-size", &batch_size, "--parallelism", &parallelism];
                [&["run", "query.sql", "--output", "json"][..], &sizes].concat()
            }
        };
        let (copy, finished) = self.start(&arguments);
        let out = copy.path().join("out");
        assert!(finished.code == Some(0) || names(&out).is_empty(), "a failed run left {:?} in out/", names(&out));
        let late = |name: &str| name.starts_with("late");
        Result {
            changelog: final_rows(&finished.stdout) + &written_rows(&out, |name| !late(name)),
            late: written_rows(&out, late),
            stderr: format!("exit {}\n{}", finished.code.unwrap_or(-1), finished.stderr),
        }
    }

    /// Reconciles the case in a fresh copy of its folder.
    #[must_use]
    pub fn reconcile(&self) -> Finished {
        self.start(&["reconcile", "query.sql"]).1
    }

    fn start(&self, arguments: &[&str]) -> (TempDir, Finished) {
        let copy = copy_of(&self.folder);
        let finished = Program::in_folder(copy.path()).run(arguments);
        (copy, finished)
    }
}
