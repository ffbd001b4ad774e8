//! `tidemill savepoint`: what a job has come to, for another job to begin from.

mod requests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use tidemill_connectors::console::Console;
use tidemill_core::{Error, ErrorKind, Result};
use tidemill_state::DataDir;
use tidemill_state::checkpoint::{Place, SavepointWriter};
use tokio::time::sleep;

pub(crate) use requests::serving;
use requests::{Made, ask};

use super::runtime;
use crate::report;

/// How long a run may take from its beginning until it takes requests.
const PATIENCE: Duration = Duration::from_secs(5);

/// Make a savepoint of a job: a changed pipeline, or one with another parallelism, can begin from it
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidemill savepoint --data-dir state savepoints/before-the-change
  tidemill run changed.sql --data-dir state-2 --from-savepoint savepoints/before-the-change

A job that runs makes it at a cut of its own, and goes on. To hand over without a row twice or lost,
stop the job first (Ctrl-C), and make the savepoint then.

Exit codes: 0 it is there; 1 it can't be made; 2 usage; 130 interrupted.")]
pub(crate) struct Arguments {
    /// The data directory of the job
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,

    /// Where 'execution.checkpointing.dir' puts its checkpoints, of a job that does not run: a folder or a URL
    #[arg(long, value_name = "DIR|URL")]
    from: Option<String>,

    /// Where the savepoint is to be: a folder that is not there yet, or a URL
    #[arg(value_name = "TO")]
    to: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    runtime()?.block_on(async {
        let made = make(arguments).await?;
        let text = format!("{} is a savepoint of epoch {}, {} bytes\n", arguments.to, made.epoch, made.bytes);
        Console::Output.write(text.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    })
}

async fn make(arguments: &Arguments) -> Result<Made> {
    if !arguments.data_dir.is_dir() {
        return Err(Error::invalid(format!("there is no data directory '{}'", arguments.data_dir.display()))
            .hint("give the --data-dir of the job"));
    }
    let to = absolute(&arguments.to)?;
    refuse_within(&arguments.data_dir, &to)?;
    let begun = Instant::now();
    loop {
        match DataDir::lock(&arguments.data_dir) {
            // Nobody begins to run the job while the savepoint is made.
            Ok(owned) => return of_last(arguments, owned.path()).await,
            Err(e) if e.kind() == ErrorKind::Invalid => {}
            Err(e) => return Err(e),
        }
        if requests::are_served(&arguments.data_dir) {
            report::asks_the_run(&arguments.data_dir);
            // It may end before it hears.
            if let Some(made) = ask(&arguments.data_dir, &to).await? {
                return Ok(made);
            }
        } else if begun.elapsed() > PATIENCE {
            let data_dir = arguments.data_dir.display();
            return Err(Error::unavailable(format!("the job of '{data_dir}' is running, and takes no requests"))
                .hint("a Rust program makes no savepoint while it runs: stop it, then ask again"));
        } else {
            sleep(requests::LOOK).await;
        }
    }
}

/// Of a job that does not run.
async fn of_last(arguments: &Arguments, data_dir: &Path) -> Result<Made> {
    let from = match &arguments.from {
        Some(from) => Place::parse(from, Path::new(""))?,
        None => Place::Folder(DataDir::checkpoints(data_dir)),
    };
    let writer = SavepointWriter::of_last(from).await?;
    let epoch = writer.epoch();
    let written = writer.write(&Place::parse(&arguments.to, Path::new(""))?).await?;
    Ok(Made { epoch: epoch.0, bytes: written.bytes })
}

/// The data directory is the job's own: a later run may clean it up.
fn refuse_within(data_dir: &Path, to: &str) -> Result<()> {
    let place = Place::parse(to, Path::new(""))?;
    let Place::Folder(folder) = place else { return Ok(()) };
    let data_dir = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
    // The folder itself need not be there yet.
    let there = folder.ancestors().find_map(|folder| folder.canonicalize().ok());
    match there.is_some_and(|there| there.starts_with(&data_dir)) {
        true => Err(Error::invalid(format!("'{}' is in the data directory of the job", folder.display()))
            .hint("name a folder outside of it: a savepoint is yours, and stays")),
        false => Ok(()),
    }
}

/// The place, for a process with another working directory.
fn absolute(to: &str) -> Result<String> {
    if to.is_empty() {
        return Err(
            Error::invalid("the place of the savepoint has no name").hint("name a folder that is not there yet")
        );
    }
    if to.contains("://") {
        return Ok(to.to_owned());
    }
    let path = std::path::absolute(to)
        .map_err(|e| Error::invalid(format!("'{to}' is no place for a savepoint: {e}")).because(e))?;
    path.into_os_string().into_string().map_err(|path| {
        Error::invalid(format!("'{}' is not UTF-8", path.display())).hint("give the folder another name")
    })
}
