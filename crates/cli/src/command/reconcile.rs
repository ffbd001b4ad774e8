//! `tidemill reconcile`: proves that live and batch agree, late rows accounted for.

mod saved;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use tidemill_connectors::console::Console;
use tidemill_core::Result;
use tidemill_deploy::reconcile::{Report, reconcile, run_live};
use tidemill_sql::physical::batch::check_bounded;
use tidemill_sql::physical::check_deterministic;

use super::{FileArguments, runtime};
use crate::interrupt::interrupted;

/// Prove that the batch equals what a live run makes final plus its late rows, or name the rows that differ
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidemill reconcile examples/orders/pipeline.sql
  tidemill reconcile pipeline.sql --save-live before/    keeps what the live run gave
  tidemill reconcile pipeline.sql --live before/         compares that instead of a new live run

The input is read several times and must not change meanwhile. Nothing is written to the file's sinks.
A file with functions whose value is another each time, such as NOW(), is refused: no two runs agree.
Exit codes: 0 the two agree; 3 they differ; 1 the run failed; 2 usage, configuration or SQL.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    file: FileArguments,

    /// Write what the live run gives to this folder, as JSON lines
    #[arg(long, value_name = "DIR")]
    save_live: Option<PathBuf>,

    /// Compare a live run that was saved in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "save_live")]
    live: Option<PathBuf>,
}

/// How many differences are printed for a statement.
const SHOWN: usize = 20;

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let runtime = runtime()?;
    let code = runtime.block_on(execute(arguments));
    runtime.shutdown_background();
    code
}

async fn execute(arguments: &Arguments) -> Result<ExitCode> {
    let pipeline = arguments.file.load().await?;
    pipeline.statements.iter().try_for_each(check_bounded)?;
    check_deterministic(&pipeline)?;
    let live = match &arguments.live {
        Some(folder) => Some(saved::load(folder, &pipeline)?),
        None => run_live(&pipeline, interrupted()).await?,
    };
    let Some(live) = live else { return Ok(ExitCode::from(130)) };
    if let Some(folder) = &arguments.save_live {
        saved::save(folder, &live)?;
    }
    let Some(report) = reconcile(&pipeline, &live, interrupted).await? else { return Ok(ExitCode::from(130)) };
    Console::Output.write(text(&report).as_bytes())?;
    for table in pipeline.dead_letters.keys() {
        let note = format!(
            "{table}: rows that can't be decoded are in neither answer: 'tidemill.dead-letter.{table}' is set\n"
        );
        Console::Output.write(note.as_bytes())?;
    }
    Ok(exit_code(&report))
}

/// What was found: a line a statement, and the rows that differ.
pub(super) fn text(report: &Report) -> String {
    let mut text = String::new();
    for statement in &report.statements {
        let verdict = if statement.differences.is_empty() { "balanced" } else { "DIFFERENT" };
        text.push_str(&format!(
            "{}: {verdict}: {} rows live, {} in the batch, {} of them moved by {} late rows\n",
            statement.name,
            statement.live_rows,
            statement.batch_rows,
            statement.moved_by_late_rows,
            statement.late_rows
        ));
        for difference in statement.differences.iter().take(SHOWN) {
            text.push_str(&format!("  {difference}\n"));
        }
        if statement.differences.len() > SHOWN {
            text.push_str(&format!("  and {} more\n", statement.differences.len() - SHOWN));
        }
    }
    text
}

/// The exit code that says what was found.
pub(super) fn exit_code(report: &Report) -> ExitCode {
    if report.balanced() { ExitCode::SUCCESS } else { ExitCode::from(3) }
}
