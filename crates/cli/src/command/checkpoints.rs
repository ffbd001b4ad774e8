//! `tidemill checkpoints`: what a job can go on from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use chrono::DateTime;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use tidemill_connectors::console::Console;
use tidemill_core::{Error, Result};
use tidemill_state::DataDir;
use tidemill_state::checkpoint::{CheckpointStore, Manifest, Place, Summary};

use super::runtime;

/// Look at the checkpoints of a job
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidemill checkpoints ls --data-dir state
  tidemill checkpoints ls --data-dir state --output json  for scripts
  tidemill checkpoints show --data-dir state              the last one
  tidemill checkpoints show 12 --from s3://bucket/jobs/a

Exit codes: 0 well; 1 they can't be read, or are damaged; 2 usage.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// One line a checkpoint: number, time, bytes of state, bytes that were written, the longest pause of a task at its
    /// barrier, and whether the job had come to its end
    Ls {
        #[command(flatten)]
        place: PlaceArguments,

        /// Lines for people, or one JSON object a checkpoint
        #[arg(long, value_enum, default_value_t = Output::Text)]
        output: Output,
    },
    /// What one checkpoint holds: the job's plan, and the bytes of each task's state
    Show {
        /// Its number [default: the last]
        epoch: Option<u64>,
        #[command(flatten)]
        place: PlaceArguments,
    },
}

/// The form of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
}

/// Where the checkpoints are.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct PlaceArguments {
    /// The data directory of the job
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// Where 'execution.checkpointing.dir' puts them: a folder or a URL
    #[arg(long, value_name = "DIR|URL")]
    from: Option<String>,
}

impl PlaceArguments {
    fn place(&self) -> Result<Place> {
        match (&self.data_dir, &self.from) {
            (Some(data_dir), _) => Ok(Place::Folder(DataDir::checkpoints(data_dir))),
            (None, Some(from)) => Place::parse(from, &PathBuf::new()),
            (None, None) => Err(Error::invalid("where are the checkpoints?").hint("give --data-dir or --from")),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let runtime = runtime()?;
    match &arguments.command {
        Command::Ls { place, output } => runtime.block_on(list(&place.place()?, *output)),
        Command::Show { epoch, place } => runtime.block_on(show(&place.place()?, *epoch)),
    }
}

async fn list(place: &Place, output: Output) -> Result<ExitCode> {
    let found = found(place).await?;
    let mut text = String::new();
    for summary in &found {
        let _ = match output {
            Output::Text => writeln!(text, "{}  {}", summary.epoch, line(summary)),
            Output::Json => writeln!(text, "{}", object(summary)),
        };
    }
    Console::Output.write(text.as_bytes())?;
    let damaged = found.iter().any(|summary| summary.manifest.is_err());
    Ok(if damaged { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn line(Summary { manifest, written_bytes, .. }: &Summary) -> String {
    let manifest = match manifest {
        Ok(manifest) => manifest,
        Err(error) => return error.message().to_owned(),
    };
    let (time, bytes, pause) = (time(manifest), state_bytes(manifest), pause_ms(manifest));
    let finished = if manifest.finished() { "  finished" } else { "" };
    format!("{time}  {bytes} bytes, {written_bytes} written, longest pause {pause} ms{finished}")
}

fn object(Summary { epoch, manifest, written_bytes }: &Summary) -> Value {
    match manifest {
        Ok(manifest) => json!({
            "checkpoint": epoch.0,
            "time": time(manifest),
            "state_bytes": state_bytes(manifest),
            "written_bytes": written_bytes,
            "longest_pause_ms": pause_ms(manifest),
            "finished": manifest.finished(),
        }),
        Err(error) => json!({ "checkpoint": epoch.0, "error": error.message() }),
    }
}

fn state_bytes(manifest: &Manifest) -> u64 {
    manifest.bytes().values().sum()
}

fn pause_ms(manifest: &Manifest) -> f64 {
    manifest.longest_pause().as_micros() as f64 / 1e3
}

async fn show(place: &Place, epoch: Option<u64>) -> Result<ExitCode> {
    let mut found = found(place).await?;
    let numbers: Vec<String> = found.iter().map(|summary| summary.epoch.to_string()).collect();
    let wanted = match epoch {
        Some(wanted) => found.into_iter().find(|summary| summary.epoch.0 == wanted),
        None => found.pop(),
    };
    let Some(Summary { epoch, manifest, written_bytes }) = wanted else {
        return Err(Error::invalid(format!("there is no checkpoint {} in '{place}'", epoch.unwrap_or_default()))
            .hint(format!("there are: {}", numbers.join(", "))));
    };
    let manifest = manifest.map_err(|e| e.context(format!("checkpoint {epoch} in '{place}'")))?;
    let (time, pause) = (time(&manifest), pause_ms(&manifest));
    let mut text =
        format!("checkpoint {epoch}, {time}: {written_bytes} bytes written, longest pause of a task {pause} ms\n");
    if manifest.finished() {
        text += "the job had come to its end\n";
    }
    let _ = writeln!(text, "\nthe job\n{}", manifest.plan());
    text += "bytes of state by task\n";
    for (task, bytes) in by_task(&manifest) {
        let _ = writeln!(text, "{task}: {bytes}");
    }
    Console::Output.write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

async fn found(place: &Place) -> Result<Vec<Summary>> {
    let found = CheckpointStore::list(place).await?;
    match found.is_empty() {
        true => Err(Error::unavailable(format!("there are no checkpoints in '{place}'"))
            .hint("give the --data-dir of a live run: it has one from its start on")),
        false => Ok(found),
    }
}

/// The numbers of tasks are those of the plan.
fn by_task(manifest: &Manifest) -> BTreeMap<u64, u64> {
    let mut tasks = BTreeMap::new();
    for (owner, bytes) in manifest.bytes() {
        let task = owner.split('.').next().and_then(|task| task.parse().ok());
        *tasks.entry(task.unwrap_or_default()).or_default() += bytes;
    }
    tasks
}

fn time(manifest: &Manifest) -> String {
    DateTime::from_timestamp_millis(manifest.created_ms())
        .map_or_else(|| format!("{} ms", manifest.created_ms()), |time| time.format("%Y-%m-%d %H:%M:%SZ").to_string())
}
