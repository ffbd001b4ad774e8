//! A program with a workload of its own: its SQL or Python, filled in and ready to be run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::answer::Answer;
use super::measure::{self, Cost};
use super::work;
use super::workload::{Program, Workload};
use crate::checkout::Checkout;
use crate::{cache, flink, peers};

/// How a benchmark's files find their data: these stand in them as `$data`, `$events` and `$out`.
pub(super) struct Inputs {
    pub(super) tidemill: PathBuf,
    pub(super) data: PathBuf,
    pub(super) events: u64,
}

/// Where a run keeps its checkpoints.
const DATA_DIR: &str = "data";

/// Of a run whose state is to be on disk: the least that there may be, which decoding alone takes.
const MEMORY_LIMIT: &str = "64MB";

/// One program and its workload.
pub(super) struct Contender {
    pub(super) program: Program,
    command: Command,
    folder: PathBuf,
}

impl Contender {
    /// `None` if the program has no file for this workload.
    pub(super) fn of(
        program: Program,
        workload: &Workload,
        inputs: &Inputs,
        checkout: &Checkout,
    ) -> Result<Option<Self>, String> {
        let template = format!("bench/{}/{}", workload.name, program.file());
        if !checkout.path(&template).exists() || !workload.compares(program) {
            return Ok(None);
        }
        let folder = cache::folder()?.join("bench/work").join(workload.name).join(program.name());
        fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
        let file = folder.join(program.file());
        let text = checkout
            .read(&template)?
            .replace("$data", &inputs.data.to_string_lossy())
            .replace("$out", &folder.join("out").to_string_lossy())
            .replace("$events", &inputs.events.to_string());
        let text = match program.checkpoint_interval() {
            Some(interval) => format!("SET 'execution.checkpointing.interval' = '{interval}';\n{text}"),
            None => text,
        };
        fs::write(&file, text).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
        let mut command = command(program, workload, &file, inputs, checkout)?;
        command.current_dir(&folder);
        Ok(Some(Self { program, command, folder }))
    }

    /// One run, which begins with no answer there.
    pub(super) fn run(&mut self) -> Result<Cost, String> {
        let out = self.out();
        work::clear(&out)?;
        work::clear(&self.folder.join(DATA_DIR))?;
        fs::create_dir(&out).map_err(|e| format!("cannot create {}: {e}", out.display()))?;
        measure::run(&mut self.command, &self.folder.join("log"))
    }

    /// What the last run wrote.
    pub(super) fn answer(&self) -> Result<Answer, String> {
        Answer::under(&self.out())
    }

    fn out(&self) -> PathBuf {
        self.folder.join("out")
    }
}

fn command(
    program: Program,
    workload: &Workload,
    file: &Path,
    inputs: &Inputs,
    checkout: &Checkout,
) -> Result<Command, String> {
    let mut command;
    match program {
        Program::Tidemill => {
            command = Command::new(&inputs.tidemill);
            command.arg("run").arg(file).args(workload.batch.then_some("--batch"));
        }
        Program::Checkpointed => {
            command = Command::new(&inputs.tidemill);
            command.arg("run").arg(file).args(["--data-dir", DATA_DIR]);
        }
        Program::OnDisk => {
            command = Command::new(&inputs.tidemill);
            command.arg("run").arg(file).args(["--data-dir", DATA_DIR, "--memory-limit", MEMORY_LIMIT]);
        }
        Program::DuckDb => {
            command = Command::new(peers::python(checkout)?);
            command.arg("-I").arg(checkout.path("bench/duckdb.py")).arg(file);
        }
        Program::Polars => {
            command = Command::new(peers::python(checkout)?);
            command.arg("-I").arg(file);
        }
        Program::Flink => {
            command = Command::new("java");
            let mut classes = flink::installed(checkout)?.into_os_string();
            classes.push("/*");
            command.args(["-Dlog4j2.level=OFF", "-cp"]).arg(classes);
            command.arg(checkout.path("bench/FlinkSql.java")).arg(file);
        }
    }
    Ok(command)
}
