//! A run whose sinks show their rows when they are prepared, before the checkpoint is there: a commit that is not
//! atomic. The test starts itself again as this program, and must see that it is wrong.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_connectors::connectors;
use tidemill_core::{Epoch, Error, EventBatch, Result};
use tidemill_runtime::clock::SystemClock;
use tidemill_runtime::connector::{
    ChangelogMode, Commitment, Connector, OptionSpec, Sink, SinkFactory, Source, TableSpec, WriteMode,
};
use tidemill_runtime::job::{self, Durability, RunOptions};
use tidemill_sql::physical::{LateSink, Outputs, live};
use tidemill_sql::{LoadOptions, Pipeline, PlannedStatement, SqlText, Table, Target};
use tidemill_state::DataDir;
use tidemill_state::checkpoint::{Place, Retention};
use tokio::runtime::Runtime;

/// Says that the test is to be this program, with that parallelism.
const VARIABLE: &str = "TIDEMILL_TEST_BROKEN_COMMIT";

/// This program, ready to be started in a folder.
pub fn program_in(folder: &Path, parallelism: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.current_dir(folder).env(VARIABLE, parallelism);
    command
}

/// Runs `q.sql` of the working directory, where the test wants that.
pub fn program() -> Option<ExitCode> {
    let parallelism = env::var(VARIABLE).ok()?.parse().ok()?;
    let outcome = Runtime::new().unwrap().block_on(run(parallelism));
    Some(match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

async fn run(parallelism: usize) -> Result<()> {
    let all = connectors();
    let broken = |name| Ok::<_, Error>(Arc::new(BrokenConnector(Arc::clone(all.get(name)?))));
    let (files, delta) = (broken("filesystem")?, broken("delta")?);
    let broken = all.with(files).with(delta);
    let text = std::fs::read_to_string("q.sql").unwrap();
    let options = LoadOptions { folder: PathBuf::new(), parallelism: Some(parallelism), batch_rows: 8192, infer: None };
    let sql = SqlText::new(Arc::<str>::from("q.sql"), Arc::<str>::from(text));
    let pipeline = Pipeline::load(&sql, &broken, &options).await?;
    let graph = live::plan(&pipeline, &Tables)?;
    let _owned = DataDir::lock(Path::new("data"))?;
    let place = Place::Folder(DataDir::checkpoints(Path::new("data")));
    let durability = Durability::open(&graph, place, Retention(1), Duration::from_secs(600), false).await?;
    let options = RunOptions {
        batch_rows: pipeline.batch_rows,
        epoch_interval: pipeline.settings.checkpointing.interval,
        follow: true,
        idle_timeout: None,
        stalls: None,
        durability: Some(durability),
        savepoints: None,
        clock: Arc::new(SystemClock),
    };
    job::run(graph, options, std::future::pending()).await.map(drop)
}

/// Rows go to the tables that the file names.
struct Tables;

impl Outputs for Tables {
    fn rows(&self, statement: &PlannedStatement, _: &SchemaRef) -> Result<Arc<dyn SinkFactory>> {
        match &statement.target {
            Target::Table(table) => table.connector.sink(&table.spec, statement.mode),
            Target::Print => Err(Error::invalid("nothing is printed here")),
        }
    }

    fn late(&self, statement: &PlannedStatement) -> Result<Option<LateSink>> {
        let sink = |table: &Arc<Table>| {
            let sink = table.connector.sink(&table.spec, WriteMode::Append)?;
            Ok(LateSink { columns: Some(Arc::clone(table.stored())), sink })
        };
        statement.late_output.as_ref().map(sink).transpose()
    }

    fn rejected(&self, _: &Table) -> Result<Option<Arc<dyn SinkFactory>>> {
        Ok(None)
    }
}

struct BrokenConnector(Arc<dyn Connector>);

impl Connector for BrokenConnector {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn options(&self) -> &'static [OptionSpec] {
        self.0.options()
    }

    fn partitioned(&self) -> bool {
        self.0.partitioned()
    }

    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>> {
        self.0.source(table)
    }

    fn sink(&self, table: &TableSpec, mode: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Ok(Arc::new(BrokenFactory(self.0.sink(table, mode)?)))
    }
}

struct BrokenFactory(Arc<dyn SinkFactory>);

impl SinkFactory for BrokenFactory {
    fn changelog(&self) -> ChangelogMode {
        self.0.changelog()
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(BrokenSink(self.0.open()?)))
    }
}

/// Takes back no row that it has shown, and shows it too early.
struct BrokenSink(Box<dyn Sink>);

#[async_trait]
impl Sink for BrokenSink {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        self.0.write(batch).await
    }

    async fn prepare(&mut self, epoch: Epoch) -> Result<()> {
        self.0.prepare(epoch).await?;
        self.0.commit(epoch).await
    }

    fn commitment(&self) -> Commitment {
        Commitment::default()
    }

    async fn commit(&mut self, epoch: Epoch) -> Result<()> {
        self.0.commit(epoch).await
    }

    async fn recover(&mut self, _: &Commitment) -> Result<()> {
        Ok(())
    }

    async fn abort(&mut self) -> Result<()> {
        self.0.abort().await
    }
}
