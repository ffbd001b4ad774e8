//! `tidemill run`: a file as one job, live or as a batch.

mod durable;

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tidemill_connectors::console::Console;
use tidemill_connectors::print::PrintSinkFactory;
use tidemill_core::Result;
use tidemill_runtime::clock::SystemClock;
use tidemill_runtime::job;
use tidemill_runtime::metrics::count;
use tidemill_sql::physical::{Outputs, batch, live, nothing_visible};
use tidemill_sql::{Pipeline, RuntimeMode};
use tidemill_state::DataDir;

use super::{FileArguments, runtime, savepoint};
use crate::answers;
use crate::interrupt::interrupted;
use crate::memory;
use crate::outputs::Declared;
use crate::report;
use crate::stdout::{JsonRows, RowKinds};

/// Run a Flink SQL file: live (windows fire by watermark), or with --batch over its input as history
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidemill run examples/orders/pipeline.sql
  tidemill run examples/orders/pipeline.sql --batch
  cat events.jsonl | tidemill run query.sql --output json     ('connector' = 'stdio')

Exit codes: 0 well; 1 the run failed; 2 usage, configuration or SQL; 130 interrupted.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    file: FileArguments,

    /// Run over the input as bounded history: nothing is late, rows come once, final
    #[arg(long)]
    batch: bool,

    #[command(flatten)]
    durable: durable::DurableArguments,

    /// How much memory to take: state beyond it goes to disk, such as 4GB
    #[arg(long, value_name = "SIZE", value_parser = memory::parse)]
    memory_limit: Option<u64>,

    /// How the rows of a bare SELECT are printed
    #[arg(long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

/// The form of printed rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// One line a row: +I[value, ...]
    Text,
    /// One JSON object a line: {"op":"+I","column":value,...}
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let runtime = runtime()?;
    let code = runtime.block_on(execute(arguments));
    // A thread that still waits for standard input must not keep the program.
    runtime.shutdown_background();
    code
}

async fn execute(arguments: &Arguments) -> Result<ExitCode> {
    let pipeline = arguments.file.load().await?;
    let mode = match (arguments.batch, pipeline.settings.runtime_mode) {
        (true, _) => RuntimeMode::Batch,
        (false, mode) => mode.unwrap_or(RuntimeMode::Live),
    };
    answers::print(&pipeline, arguments.output == Output::Json).await?;
    if pipeline.statements.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let output = arguments.output;
    let outputs = Declared::new(move |schema| match output {
        Output::Text => Ok(Arc::new(PrintSinkFactory::new(Console::Output, String::new(), schema)?) as _),
        Output::Json => Ok(Arc::new(JsonRows::new(Arc::clone(schema), RowKinds::Shown)?) as _),
    });
    let stopped = match mode {
        RuntimeMode::Live => run_live(&pipeline, &outputs, arguments).await?,
        RuntimeMode::Batch => {
            arguments.durable.refuse_batch()?;
            run_batch(&pipeline, &outputs, arguments).await?
        }
    };
    Ok(if stopped { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

async fn run_live(pipeline: &Pipeline, outputs: &impl Outputs, arguments: &Arguments) -> Result<bool> {
    let durable = &arguments.durable;
    let mut graph = live::plan(pipeline, outputs)?;
    let owned = durable.lock()?;
    graph.spill = memory::spill(arguments.memory_limit, owned.as_ref().map(DataDir::path))?;
    // Before the state is read, which may take long: whoever asks meanwhile waits.
    let savepoints = owned.as_ref().map(|data_dir| savepoint::serving(data_dir.path())).transpose()?;
    let durability = durable.open(&graph, &pipeline.settings.checkpointing).await?;
    for (statement, finding) in nothing_visible(pipeline, outputs)? {
        report::warning(&statement, &finding);
    }
    let options = job::RunOptions {
        batch_rows: pipeline.batch_rows,
        epoch_interval: durable.interval(&pipeline.settings.checkpointing),
        follow: true,
        idle_timeout: pipeline.settings.idle_timeout,
        stalls: pipeline.settings.stall_hint.map(|after| job::StallListener { after, tell: Arc::new(report::stall) }),
        durability,
        savepoints,
        clock: Arc::new(SystemClock),
    };
    let outcome = job::run(graph, options, interrupted()).await?;
    if outcome.was_finished {
        report::was_finished();
    }
    report::late_rows(pipeline, &outcome.metrics);
    report::rejected(pipeline, |table| outcome.metrics.sources.get(table).map(|source| count(&source.rejected)));
    Ok(outcome.stopped)
}

async fn run_batch(pipeline: &Pipeline, outputs: &impl Outputs, arguments: &Arguments) -> Result<bool> {
    let spill = memory::spill(arguments.memory_limit, None)?;
    let outcome = batch::run(pipeline, outputs, &HashMap::new(), spill.as_ref(), interrupted()).await?;
    report::rejected(pipeline, |table| outcome.rejected.get(table).copied());
    Ok(outcome.stopped)
}
