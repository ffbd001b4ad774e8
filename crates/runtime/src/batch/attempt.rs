//! One attempt at a part: its rows go through the operators of the task, and what these send is kept.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::Int64Array;
use tidemill_core::{Error, ErrorKind, EventBatch, Lineage, Result, SourceRows, Watermark};
use tokio::sync::watch;

use super::Failure;
use super::shuffle::{Merge, PartWriter, Written};
use super::split::{Place, Split};
use crate::clock::{Clock, JobClock};
use crate::connector::DecodeError;
use crate::exchange::{EdgeSender, Keep};
use crate::graph::{Head, SourceSpec, TaskSpec, source_slot};
use crate::metrics::{SourceMetrics, add};
use crate::operator::Port;
use crate::task::chain::Chain;
use crate::task::ending::Ending;
use crate::task::source::{Made, locate, make, offsets, rejected_rows};

/// What the attempts of a run share.
#[derive(Clone)]
pub(super) struct Setting {
    pub(super) batch_rows: usize,
    pub(super) ending: watch::Receiver<Ending>,
    pub(super) clock: Arc<JobClock>,
}

/// Where an attempt's rows come from.
pub(super) enum Input {
    /// Chunks that have just been read.
    Read(Split),
    /// Chunks that were read before.
    ReadAgain(Place),
    /// What the stages before have left.
    Left(Box<dyn FnOnce() -> Result<Merge, Failure> + Send>),
}

/// Runs a part from its beginning to its end.
pub(super) async fn attempt(
    task: &TaskSpec,
    input: Input,
    writer: PartWriter,
    setting: &Setting,
) -> Result<Written, Failure> {
    let writer = Arc::new(Mutex::new(writer));
    let keeper = Arc::clone(&writer) as Arc<Mutex<dyn Keep>>;
    let edges = (0..task.edges.len()).map(|edge| EdgeSender::Keeper(Arc::clone(&keeper), edge)).collect();
    let chain = Chain::new(task, edges, setting.ending.clone(), None, Arc::clone(&setting.clock))?;
    let mut work = Work { chain, setting };
    let slots = match (input, &task.head) {
        (Input::Read(split), Head::Source(spec, metrics)) => {
            work.chunks(split, spec, metrics).await?;
            1
        }
        (Input::ReadAgain(place), Head::Source(spec, metrics)) => {
            let split = place.read(spec, setting.batch_rows).await?;
            work.chunks(split, spec, metrics).await?;
            1
        }
        (Input::Left(open), _) => {
            work.chain.in_order();
            work.merge(open()?, task.head_targets.len()).await?;
            task.head_targets.len()
        }
        _ => return Err(Error::internal("a task is given chunks that has no source").into()),
    };
    work.end(slots).await?;
    let written = writer.lock().unwrap_or_else(PoisonError::into_inner).finish();
    Ok(written?)
}

struct Work<'a> {
    chain: Chain,
    setting: &'a Setting,
}

impl Work<'_> {
    async fn chunks(&mut self, split: Split, spec: &SourceSpec, metrics: &SourceMetrics) -> Result<()> {
        let Split { place, chunks } = split;
        let mut offset = 0;
        for chunk in chunks {
            let (unit, moment_ms) = (chunk.unit(), self.setting.clock.now_ms());
            let Made { decoded, elements, .. } = make(chunk, spec, moment_ms)?;
            let decoded = match decoded {
                Ok(decoded) => decoded,
                Err(e) => return Err(self.located(e, offset, &place, spec, unit).await),
            };
            add(&metrics.rows, decoded.rows.num_rows());
            add(&metrics.rejected, decoded.rejected.len());
            if !decoded.rejected.is_empty() {
                let before = place.first_offset(spec, self.setting.batch_rows).await?;
                let rejected = rejected_rows(&decoded.rejected, &place.partition, before + offset)?;
                self.chain.data(source_slot(Port::REJECTED), rejected)?;
            }
            // Only their order counts, in which the places of the source are, too.
            let lineage = spec.lineage.then(|| Lineage {
                source: Arc::new(SourceRows {
                    offsets: offsets(&decoded, place.start + offset),
                    rows: decoded.rows.clone(),
                    partition: Arc::clone(&place.partition),
                }),
                indices: None,
            });
            offset += decoded.offset_count;
            let mut rows = elements.unwrap_or_else(|| EventBatch::append(decoded.rows));
            // Whoever asks for each row's own watermark learns that nothing is late.
            rows.watermarks = spec.row_watermarks.then(|| Int64Array::from_value(i64::MIN, rows.num_rows()));
            rows.lineage = lineage;
            self.rows(moment_ms, rows).await?;
        }
        Ok(())
    }

    /// The error of a row, with its place: how many rows come before the split nobody has counted yet.
    async fn located(&self, error: DecodeError, offset: u64, place: &Place, spec: &SourceSpec, unit: &str) -> Error {
        match place.first_offset(spec, self.setting.batch_rows).await {
            Ok(before) => locate(error, &spec.table, &place.partition, unit, before + offset),
            // What is wrong with the row is what counts.
            Err(_) => error.error.context(Arc::clone(&place.partition)),
        }
    }

    async fn merge(&mut self, mut merge: Merge, slots: usize) -> Result<(), Failure> {
        while let Some((batch, watermark)) = merge.next()? {
            self.rows(self.setting.clock.now_ms(), batch).await?;
            if let Some(watermark) = watermark {
                self.watermark(slots, watermark).await?;
            }
        }
        Ok(())
    }

    async fn rows(&mut self, moment_ms: i64, batch: EventBatch) -> Result<()> {
        for offset in (0..batch.num_rows()).step_by(self.setting.batch_rows) {
            let rows = self.setting.batch_rows.min(batch.num_rows() - offset);
            self.chain.data_at(moment_ms, 0, batch.slice(offset, rows))?;
            self.step().await?;
        }
        Ok(())
    }

    async fn watermark(&mut self, slots: usize, watermark: Watermark) -> Result<()> {
        for slot in 0..slots {
            self.chain.watermark(slot, watermark).await?;
        }
        self.step().await
    }

    /// Lets timers and other tasks have their turn.
    async fn step(&mut self) -> Result<()> {
        if *self.setting.ending.borrow() >= Ending::Stopped {
            return Err(Error::new(ErrorKind::Closed, "the run is stopped"));
        }
        self.chain.on_timer()?;
        self.chain.send().await?;
        tokio::task::yield_now().await;
        Ok(())
    }

    async fn end(mut self, slots: usize) -> Result<()> {
        self.watermark(slots, Watermark::MAX).await?;
        self.chain.end().await?;
        self.chain.send().await
    }
}
