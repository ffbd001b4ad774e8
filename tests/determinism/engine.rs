//! Runs a log through the engine, and reads what comes out into the oracle's types.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{ArrowPrimitiveType, Decimal128Type, Int64Type, SchemaRef, TimestampMillisecondType};
use async_trait::async_trait;
use proptest::collection::vec;
use proptest::prelude::*;
use tidemill_core::{Epoch, EventBatch, Result};
use tidemill_runtime::clock::SystemClock;
use tidemill_runtime::connector::{ChangelogMode, Connectors, Sink, SinkFactory};
use tidemill_runtime::job;
use tidemill_sql::physical::{LateSink, Outputs, batch, live};
use tidemill_sql::{LoadOptions, Pipeline, PlannedStatement, SqlText, Table};
use tokio::runtime::Runtime;

use crate::given::{Given, GivenChunk};
use crate::log::{Log, timestamp};
use crate::naive::{Late, Total};
use crate::window::{Window, interval};

/// Everything that must not matter.
#[derive(Debug, Clone)]
pub struct Setting {
    parallelism: usize,
    batch_rows: usize,
    /// How many lines each chunk has, and how long it waits; begins again when the list ends.
    chunks: Vec<(usize, u8)>,
    epoch_interval: Option<Duration>,
    /// How often open windows tell provisional results, and fired ones what late rows change, in milliseconds.
    early_fire_ms: Option<u8>,
    late_fire_ms: Option<u8>,
}

pub fn settings() -> impl Strategy<Value = Setting> {
    let batch_rows = prop_oneof![Just(1), 2..8usize, Just(8192)];
    let chunks = vec((prop_oneof![1..4usize, 1..100usize], 0..3u8), 1..6);
    let epoch_interval = proptest::option::of(Just(Duration::from_millis(1)));
    let firing = || proptest::option::of(0..2u8);
    (1..=4usize, batch_rows, chunks, epoch_interval, firing(), firing()).prop_map(
        |(parallelism, batch_rows, chunks, epoch_interval, early_fire_ms, late_fire_ms)| Setting {
            parallelism,
            batch_rows,
            chunks,
            epoch_interval,
            early_fire_ms,
            late_fire_ms,
        },
    )
}

/// Final rows and late rows; sorted.
pub fn run_live(window: Window, log: &Log, setting: &Setting) -> (Vec<Total>, Vec<Late>) {
    let captured = Captured::default();
    RUNTIME.block_on(async {
        let pipeline = load(window, log, setting).await;
        let graph = live::plan(&pipeline, &captured).unwrap();
        let options = job::RunOptions {
            batch_rows: setting.batch_rows,
            epoch_interval: setting.epoch_interval,
            follow: false,
            idle_timeout: None,
            stalls: None,
            durability: None,
            savepoints: None,
            clock: Arc::new(SystemClock),
        };
        job::run(graph, options, std::future::pending()).await.unwrap();
    });
    (captured.totals(alike(window, log)), captured.late())
}

/// The batch's rows; sorted.
pub fn run_batch(window: Window, log: &Log, setting: &Setting) -> Vec<Total> {
    let captured = Captured::default();
    RUNTIME.block_on(async {
        let pipeline = load(window, log, setting).await;
        batch::run(&pipeline, &captured, &HashMap::new(), None, std::future::pending()).await.unwrap();
    });
    captured.totals(alike(window, log))
}

/// How many windows of a key may be told alike: sessions, where a clock is put back.
fn alike(window: Window, log: &Log) -> i64 {
    if matches!(window, Window::Session { .. }) && log.zone.is_some() { 2 } else { 1 }
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

async fn load(window: Window, log: &Log, setting: &Setting) -> Pipeline {
    let lateness = match log.lateness_ms {
        0 => String::new(),
        ms => format!("SET 'table.exec.emit.allow-lateness' = '{ms} ms';"),
    };
    let firing = firing(log, setting);
    let latest = log.latest_ms.map(|ms| format!("SET 'tidemill.watermark.max-ahead' = '{}';", timestamp(ms)));
    let latest = latest.unwrap_or_default();
    let (zone, time) = match log.zone {
        None => (String::new(), "TIMESTAMP"),
        Some(zone) => (format!("SET 'table.local-time-zone' = '{}';", zone.name()), "TIMESTAMP_LTZ"),
    };
    let sql = format!(
        "{}{zone}{firing}{latest}
         CREATE TABLE events (k STRING, amount DECIMAL(10, 2), ts {time}(3), WATERMARK FOR ts AS ts - {})
         WITH ('connector' = 'given');
         SELECT window_start, window_end, k, COUNT(*) AS n, COUNT(amount) AS amounts, SUM(amount) AS total,
           MIN(amount) AS least, MAX(amount) AS most
         FROM {} GROUP BY window_start, window_end, k;",
        lateness,
        interval(log.delay_ms),
        window.sql(),
    );
    let given = Given {
        partitions: log.partitions.iter().map(|rows| chunks(rows, log.zone.is_some(), &setting.chunks)).collect(),
    };
    let options = LoadOptions {
        folder: PathBuf::new(),
        parallelism: Some(setting.parallelism),
        batch_rows: setting.batch_rows,
        infer: None,
    };
    let sql = SqlText::new("query.sql", sql.as_str());
    Pipeline::load(&sql, &Connectors::new(vec![Arc::new(given)]), &options).await.unwrap()
}

/// What must not matter to the final rows; late firing wants late rows.
fn firing(log: &Log, setting: &Setting) -> String {
    let set = |sort: &str, ms: u8| {
        format!(
            "SET 'table.exec.emit.{sort}-fire.enabled' = 'true'; SET 'table.exec.emit.{sort}-fire.delay' = '{ms} ms';"
        )
    };
    let early = setting.early_fire_ms;
    let late = setting.late_fire_ms.filter(|_| log.lateness_ms > 0);
    [early.map(|ms| set("early", ms)), late.map(|ms| set("late", ms))].into_iter().flatten().collect()
}

fn chunks(rows: &[crate::log::Row], instants: bool, cuts: &[(usize, u8)]) -> Vec<GivenChunk> {
    let mut chunks = vec![];
    let mut rest = rows;
    for &(count, pauses) in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (head, tail) = rest.split_at(count.min(rest.len()));
        chunks.push(GivenChunk { lines: head.iter().map(|row| row.line(instants)).collect(), pauses });
        rest = tail;
    }
    chunks
}

/// The one statement's output, kept in memory.
#[derive(Clone, Default)]
struct Captured {
    rows: Arc<Mutex<Vec<EventBatch>>>,
    late: Arc<Mutex<Vec<EventBatch>>>,
}

impl Captured {
    /// What is left once all is withdrawn that was; a group is in at most so many windows alike.
    fn totals(&self, alike: i64) -> Vec<Total> {
        let mut changes: BTreeMap<Total, i64> = BTreeMap::new();
        for EventBatch { rows: batch, kinds, .. } in self.rows.lock().unwrap().iter() {
            let key = batch.column(2).as_string_view();
            let total = |row| Total {
                start_ms: value::<TimestampMillisecondType>(batch, 0, row).unwrap(),
                end_ms: value::<TimestampMillisecondType>(batch, 1, row).unwrap(),
                key: key.is_valid(row).then(|| key.value(row).to_owned()),
                rows: value::<Int64Type>(batch, 3, row).unwrap(),
                amounts: value::<Int64Type>(batch, 4, row).unwrap(),
                sum: value::<Decimal128Type>(batch, 5, row),
                least: value::<Decimal128Type>(batch, 6, row),
                most: value::<Decimal128Type>(batch, 7, row),
            };
            for row in 0..batch.num_rows() {
                let adds = kinds.as_ref().is_none_or(|kinds| kinds[row].adds());
                let count = changes.entry(total(row)).or_default();
                *count += if adds { 1 } else { -1 };
                assert!((0..=alike).contains(count), "a row comes before it is withdrawn, and once: {:?}", total(row));
            }
        }
        changes
            .into_iter()
            .flat_map(|(total, count)| std::iter::repeat_n(total, count.unsigned_abs() as usize))
            .collect()
    }

    /// Reads the columns behind the source's three.
    fn late(&self) -> Vec<Late> {
        let mut late = vec![];
        for EventBatch { rows: batch, .. } in self.late.lock().unwrap().iter() {
            let time = |column, row| value::<TimestampMillisecondType>(batch, column, row);
            late.extend((0..batch.num_rows()).map(|row| Late {
                partition: batch.column(7).as_string_view().value(row).to_owned(),
                offset: value::<Int64Type>(batch, 8, row).unwrap(),
                window: time(3, row).zip(time(4, row)),
                reason: batch.column(5).as_string_view().value(row).to_owned(),
                watermark: time(6, row),
            }));
        }
        late.sort();
        late
    }
}

fn value<T: ArrowPrimitiveType>(batch: &RecordBatch, column: usize, row: usize) -> Option<T::Native> {
    let column = batch.column(column).as_primitive::<T>();
    column.is_valid(row).then(|| column.value(row))
}

impl Outputs for Captured {
    fn rows(&self, _: &PlannedStatement, _: &SchemaRef) -> Result<Arc<dyn SinkFactory>> {
        Ok(Arc::new(Memory(Arc::clone(&self.rows))))
    }

    fn late(&self, _: &PlannedStatement) -> Result<Option<LateSink>> {
        Ok(Some(LateSink { columns: None, sink: Arc::new(Memory(Arc::clone(&self.late))) }))
    }

    fn rejected(&self, _: &Table) -> Result<Option<Arc<dyn SinkFactory>>> {
        Ok(None)
    }
}

#[derive(Clone)]
struct Memory(Arc<Mutex<Vec<EventBatch>>>);

impl SinkFactory for Memory {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Retract
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait]
impl Sink for Memory {
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
