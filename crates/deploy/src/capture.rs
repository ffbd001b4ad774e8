//! A run with its sinks replaced by memory: what came out, statement by statement.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_core::{Epoch, EventBatch, Result};
use tidemill_runtime::clock::SystemClock;
use tidemill_runtime::connector::{ChangelogMode, Sink, SinkFactory};
use tidemill_runtime::job;
use tidemill_sql::physical::batch::LateRows;
use tidemill_sql::physical::{LateSink, Outputs, batch, live};
use tidemill_sql::{Pipeline, PlannedStatement, Table};

/// What a run gave, by the name of the statement.
#[derive(Debug, Clone, Default)]
pub struct Capture {
    /// In the order in which rows came.
    pub statements: HashMap<Arc<str>, StatementCapture>,
}

/// What one statement gave.
#[derive(Debug, Clone, Default)]
pub struct StatementCapture {
    /// Its changes.
    pub rows: Vec<EventBatch>,
    /// Its late rows: the source's columns, and [`tidemill_runtime::window::LATE_COLUMNS`].
    pub late: Vec<RecordBatch>,
}

/// Runs the pipeline live; `None` if it was stopped.
pub async fn run_live(pipeline: &Pipeline, stop: impl Future<Output = ()>) -> Result<Option<Capture>> {
    let memory = Memory::default();
    let graph = live::plan(pipeline, &memory)?;
    let options = job::RunOptions {
        batch_rows: pipeline.batch_rows,
        epoch_interval: None,
        follow: false,
        idle_timeout: None,
        stalls: None,
        durability: None,
        savepoints: None,
        clock: Arc::new(SystemClock),
    };
    let outcome = job::run(graph, options, stop).await?;
    Ok((!outcome.stopped).then(|| memory.into_capture()))
}

/// Runs the pipeline as a batch, without the given late rows; `None` if it was stopped.
pub(crate) async fn run_batch(
    pipeline: &Pipeline,
    late: &HashMap<Arc<str>, Arc<LateRows>>,
    stop: impl Future<Output = ()>,
) -> Result<Option<Capture>> {
    let memory = Memory::default();
    let outcome = batch::run(pipeline, &memory, late, None, stop).await?;
    Ok((!outcome.stopped).then(|| memory.into_capture()))
}

#[derive(Debug, Clone, Default)]
struct Memory {
    captured: Arc<Mutex<Capture>>,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Capture> {
        self.captured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn into_capture(self) -> Capture {
        std::mem::take(&mut *self.lock())
    }

    fn part(&self, statement: &PlannedStatement, late: bool) -> Arc<dyn SinkFactory> {
        Arc::new(MemoryPart { memory: self.clone(), statement: Arc::clone(&statement.name), late })
    }
}

impl Outputs for Memory {
    fn rows(&self, statement: &PlannedStatement, _schema: &SchemaRef) -> Result<Arc<dyn SinkFactory>> {
        Ok(self.part(statement, false))
    }

    fn late(&self, statement: &PlannedStatement) -> Result<Option<LateSink>> {
        Ok(Some(LateSink { columns: None, sink: self.part(statement, true) }))
    }

    // What can't be decoded is no row of either driver.
    fn rejected(&self, _: &Table) -> Result<Option<Arc<dyn SinkFactory>>> {
        Ok(None)
    }
}

#[derive(Debug, Clone)]
struct MemoryPart {
    memory: Memory,
    statement: Arc<str>,
    late: bool,
}

impl SinkFactory for MemoryPart {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Retract
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait]
impl Sink for MemoryPart {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        let mut capture = self.memory.lock();
        let statement = capture.statements.entry(Arc::clone(&self.statement)).or_default();
        if self.late {
            statement.late.push(batch.rows.clone());
        } else {
            statement.rows.push(batch.clone());
        }
        Ok(())
    }

    async fn prepare(&mut self, _: Epoch) -> Result<()> {
        Ok(())
    }

    async fn commit(&mut self, _: Epoch) -> Result<()> {
        Ok(())
    }

    async fn abort(&mut self) -> Result<()> {
        Ok(())
    }
}
