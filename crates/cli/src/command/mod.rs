//! One file a verb, and what verbs share: loading a file, and the runtime.

pub(crate) mod check;
pub(crate) mod checkpoints;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod query;
pub(crate) mod reconcile;
pub(crate) mod run;
pub(crate) mod savepoint;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use tidemill_core::{Error, Result};
use tidemill_runtime::exchange::KEY_GROUPS;
use tidemill_sql::{LoadOptions, Pipeline, SqlText};

/// How to load and run a file.
#[derive(Debug, Clone, Args)]
pub(crate) struct FileArguments {
    /// The Flink SQL file; - reads it from standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    sizes: Sizes,
}

/// How a job is cut into pieces.
#[derive(Debug, Clone, Args)]
pub(crate) struct Sizes {
    /// Subtasks a task [default: parallelism.default of the file, or the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=KEY_GROUPS as i64))]
    parallelism: Option<u16>,

    /// How many rows an operator is given at once
    #[arg(long, value_name = "N", default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    batch_size: u32,
}

impl FileArguments {
    pub(crate) async fn load(&self) -> Result<Pipeline> {
        let sql = read(&self.file)?;
        let options = self.sizes.options(folder(&self.file));
        Pipeline::load(&sql, &tidemill_connectors::connectors(), &options).await
    }
}

impl Sizes {
    /// How to load SQL whose relative paths start at `folder`.
    pub(crate) fn options(&self, folder: PathBuf) -> LoadOptions {
        let parallelism = self.parallelism.map(usize::from);
        LoadOptions { folder, parallelism, batch_rows: self.batch_size as usize, infer: None }
    }
}

/// A runtime with as many workers as there are cores.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::unavailable(format!("the threads of the program could not be started: {e}")))
}

/// The text of a file; `-` is standard input.
pub(crate) fn read(file: &Path) -> Result<SqlText> {
    let (origin, text) = if file == Path::new("-") {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        ("<standard input>".into(), read.map(|_| text))
    } else {
        (file.display().to_string(), std::fs::read_to_string(file))
    };
    let text = text.map_err(|e| {
        Error::invalid(format!("the SQL file {origin} can't be read: {e}"))
            .hint("give the path of a text file with Flink SQL")
    })?;
    Ok(SqlText::new(Arc::<str>::from(origin), Arc::<str>::from(text)))
}

/// Where relative paths of the file start.
fn folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if file != Path::new("-") => parent.to_owned(),
        _ => PathBuf::new(),
    }
}
