//! `tidemill query`: SQL over files that nobody has declared, as a batch.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use clap::{Args, ValueEnum};
use tidemill_connectors::filesystem::{FileInference, InferredFormat};
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::SinkFactory;
use tidemill_sql::physical::batch;
use tidemill_sql::{Pipeline, RuntimeMode, SqlText};

use super::{Sizes, read, runtime};
use crate::answers;
use crate::interrupt::interrupted;
use crate::outputs::Declared;
use crate::report;
use crate::stdout::{CsvRows, JsonRows, RowKinds};
use crate::table::TableRows;

/// Query files without declaring them: a path in quotes is a table, whose columns are inferred
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidemill query \"SELECT event_type, COUNT(*) FROM 'events.jsonl.gz' GROUP BY 1 ORDER BY 2 DESC\"
  tidemill query \"SELECT * FROM 'logs/**/*.parquet' LIMIT 10\" --output csv
  tidemill query \"DESCRIBE 'orders.csv'\"                  the columns that are inferred
  tidemill query \"SHOW CREATE TABLE 'orders.csv'\"         a CREATE TABLE to begin a file for tidemill run with
  tidemill query - < report.sql                           several statements, CREATE TABLE among them

A path names a file, a folder or a pattern; relative ones start at the current folder. The format is told by the
names: .json, .jsonl and .ndjson (one object a line), .csv and .tsv, .parquet, and behind the first two .gz or .zst.
The first record of a CSV file is a header if all of its fields are text and no two the same.

Exit codes: 0 well; 1 the run failed; 2 usage, configuration or SQL; 130 interrupted.")]
pub(crate) struct Arguments {
    /// The SQL; - reads it from standard input
    #[arg(value_name = "SQL")]
    sql: String,

    /// How rows are printed [default: table in a terminal, json elsewhere]
    #[arg(long, value_enum)]
    output: Option<Output>,

    /// How many rows the columns are inferred from
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,

    /// The format of the files, where their names do not tell it
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Whether the first record of a CSV file is a header [default: by its fields]
    #[arg(long, value_name = "true|false")]
    header: Option<bool>,

    #[command(flatten)]
    sizes: Sizes,
}

/// The form of printed rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Columns under their names
    Table,
    /// One JSON object a line
    Json,
    /// CSV with a header
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Json,
    Csv,
    Parquet,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let runtime = runtime()?;
    let code = runtime.block_on(execute(arguments));
    runtime.shutdown_background();
    code
}

async fn execute(arguments: &Arguments) -> Result<ExitCode> {
    let pipeline = load(arguments).await?;
    if pipeline.settings.runtime_mode == Some(RuntimeMode::Live) {
        return Err(Error::invalid("tidemill query runs as a batch, and 'execution.runtime-mode' is 'streaming'")
            .hint("leave out the SET, or put the SQL into a file for tidemill run"));
    }
    let output = arguments.output.unwrap_or(match std::io::stdout().is_terminal() {
        true => Output::Table,
        false => Output::Json,
    });
    // A declaration is to be copied, wherever it is printed to.
    answers::print(&pipeline, arguments.output == Some(Output::Json)).await?;
    let outputs = Declared::new(|schema| printed(output, schema));
    let outcome = batch::run(&pipeline, &outputs, &HashMap::new(), None, interrupted()).await?;
    report::rejected(&pipeline, |table| outcome.rejected.get(table).copied());
    Ok(if outcome.stopped { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

async fn load(arguments: &Arguments) -> Result<Pipeline> {
    let sql = match arguments.sql.as_str() {
        "-" => read(Path::new("-"))?,
        sql => SqlText::new("<command line>", sql),
    };
    let inference = FileInference {
        sample_rows: arguments.sample as usize,
        format: arguments.format.map(|format| match format {
            Format::Json => InferredFormat::Json,
            Format::Csv => InferredFormat::Csv,
            Format::Parquet => InferredFormat::Parquet,
        }),
        header: arguments.header,
    };
    let mut options = arguments.sizes.options(PathBuf::new());
    options.infer = Some(Arc::new(inference));
    Pipeline::load(&sql, &tidemill_connectors::connectors(), &options).await
}

fn printed(output: Output, schema: &SchemaRef) -> Result<Arc<dyn SinkFactory>> {
    Ok(match output {
        Output::Table => Arc::new(TableRows::new(Arc::clone(schema))),
        Output::Json => Arc::new(JsonRows::new(Arc::clone(schema), RowKinds::Hidden)?),
        Output::Csv => Arc::new(CsvRows::new(Arc::clone(schema))?),
    })
}
