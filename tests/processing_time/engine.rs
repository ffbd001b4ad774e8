//! Runs arrivals through the engine, and reads what comes out.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use arrow::array::AsArray;
use arrow::datatypes::{Int64Type, SchemaRef, TimestampMillisecondType};
use async_trait::async_trait;
use tidemill_core::{Epoch, EventBatch, Result};
use tidemill_runtime::clock::Clock;
use tidemill_runtime::connector::{ChangelogMode, Connectors, Sink, SinkFactory};
use tidemill_runtime::job;
use tidemill_sql::physical::{LateSink, Outputs, live};
use tidemill_sql::{LoadOptions, Pipeline, PlannedStatement, SqlText, Table};
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::held::Paced;
use crate::naive::Window;

/// Longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// One row of the result.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Total {
    pub start_ms: i64,
    pub end_ms: i64,
    pub key: String,
    pub rows: i64,
}

/// In how many ways a file can say it.
pub const FORMS: usize = 4;

/// The statement, in one of its forms.
fn sql(window: Window, form: usize) -> String {
    let table = |name: &str, time: &str| format!("CREATE TABLE {name} (k STRING{time}) WITH ('connector' = 'paced');");
    let query = format!(
        "SELECT window_start, window_end, k, COUNT(*) AS n FROM {} GROUP BY window_start, window_end, k;",
        window.sql()
    );
    let view = |select: &str| format!("CREATE VIEW t AS {select} FROM given WHERE k <> 'z';{query}");
    match (form, window) {
        (0, _) => table("t", ", p AS PROCTIME()") + &query,
        (1, _) => table("given", "") + &view("SELECT *, PROCTIME() AS p"),
        (2, Window::Tumble { size }) => {
            let call = |suffix: &str| format!("TUMBLE{suffix}(PROCTIME(), INTERVAL '{}' SECOND)", size / 1_000);
            let (start, end, key) = (call("_START"), call("_END"), call(""));
            table("t", "") + &format!("SELECT {start} AS s, {end} AS e, k, COUNT(*) AS n FROM t GROUP BY {key}, k;")
        }
        _ => table("given", ", q AS PROCTIME()") + &view("SELECT k, q AS p"),
    }
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// The windows that are told, sorted.
pub fn run(paced: &Paced, window: Window, form: usize, parallelism: usize, batch_rows: usize) -> Vec<Total> {
    let captured = Captured { rows: Arc::default(), row_came: paced.row_came.clone() };
    let sql = SqlText::new("query.sql", sql(window, form).as_str());
    let clock = Arc::clone(&paced.clock) as Arc<dyn Clock>;
    RUNTIME.block_on(async {
        let options = LoadOptions { folder: PathBuf::new(), parallelism: Some(parallelism), batch_rows, infer: None };
        let connectors = Connectors::new(vec![Arc::new(paced.clone())]);
        let pipeline = Pipeline::load(&sql, &connectors, &options).await.unwrap();
        let graph = live::plan(&pipeline, &captured).unwrap();
        let options = job::RunOptions {
            batch_rows,
            epoch_interval: None,
            follow: false,
            idle_timeout: None,
            stalls: None,
            durability: None,
            savepoints: None,
            clock,
        };
        timeout(PATIENCE, job::run(graph, options, std::future::pending())).await.expect("the run ends").unwrap();
    });
    captured.totals()
}

/// The statement's rows, kept in memory.
#[derive(Clone)]
struct Captured {
    rows: Arc<Mutex<Vec<EventBatch>>>,
    row_came: Option<Arc<Notify>>,
}

impl Captured {
    fn totals(&self) -> Vec<Total> {
        let mut totals = vec![];
        for EventBatch { rows, kinds, .. } in self.rows.lock().unwrap().iter() {
            assert!(kinds.is_none(), "rows are only added");
            let time = |column: usize, row| rows.column(column).as_primitive::<TimestampMillisecondType>().value(row);
            totals.extend((0..rows.num_rows()).map(|row| Total {
                start_ms: time(0, row),
                end_ms: time(1, row),
                key: rows.column(2).as_string_view().value(row).to_owned(),
                rows: rows.column(3).as_primitive::<Int64Type>().value(row),
            }));
        }
        totals.sort();
        totals
    }
}

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
        ChangelogMode::Append
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait]
impl Sink for Captured {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        self.rows.lock().unwrap().push(batch.clone());
        if let Some(row_came) = &self.row_came {
            row_came.notify_one();
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
