//! Asks Tidemill for the type and the value of an expression.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_core::{Epoch, Error, EventBatch, Result};
use tidemill_runtime::connector::{ChangelogMode, Connectors, Sink, SinkFactory};
use tidemill_sql::physical::{LateSink, Outputs, batch};
use tidemill_sql::types::flink_type_name;
use tidemill_sql::{LoadOptions, Pipeline, PlannedStatement, SqlText, Table};
use tokio::runtime::Runtime;

use super::answer::Answer;
use super::value::value;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// Tidemill with the settings so far.
#[derive(Default)]
pub struct Engine {
    settings: String,
}

impl Engine {
    /// Takes a line that is a setting.
    pub fn set(&mut self, line: &str) -> bool {
        let setting = line.starts_with("SET '");
        if setting {
            self.settings += &format!("{line};\n");
        }
        setting
    }

    /// The answer, or the error of planning or of running.
    pub fn answer(&self, expression: &str) -> Answer {
        let sql = SqlText::new("query.sql", format!("{}SELECT {expression}", self.settings));
        RUNTIME.block_on(answer(&sql)).unwrap_or_else(|error: Error| Answer::error(error.message()))
    }
}

async fn answer(sql: &SqlText) -> Result<Answer> {
    let options = LoadOptions { folder: PathBuf::new(), parallelism: Some(1), batch_rows: 8192, infer: None };
    let pipeline = Pipeline::load(sql, &Connectors::new(vec![]), &options).await?;
    let rows = Captured::default();
    batch::run(&pipeline, &rows, &HashMap::new(), None, std::future::pending()).await?;
    let sql_type = flink_type_name(pipeline.statements[0].schema().field(0).data_type());
    let batches = rows.0.lock().unwrap();
    let first = batches.iter().find(|batch| batch.rows.num_rows() > 0).expect("an expression gives a row");
    assert_eq!(flink_type_name(first.rows.column(0).data_type()), sql_type, "the rows have the plan's type");
    Ok(Answer { sql_type, value: value(first.rows.column(0), 0) })
}

/// The statement's rows, kept in memory.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<EventBatch>>>);

impl Outputs for Captured {
    fn rows(&self, _: &PlannedStatement, _: &SchemaRef) -> Result<Arc<dyn SinkFactory>> {
        Ok(Arc::new(self.clone()))
    }

    fn late(&self, _: &PlannedStatement) -> Result<Option<LateSink>> {
        Ok(None)
    }

    fn rejected(&self, _: &Table) -> Result<Option<Arc<dyn SinkFactory>>> {
        Ok(None)
    }
}

impl SinkFactory for Captured {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Retract
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait]
impl Sink for Captured {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        self.0.lock().unwrap().push(batch.clone());
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
