//! One subtask of a source: decodes chunks, stitches them, and runs the operators chained to it.

use std::sync::Arc;
use std::time::Instant;

use tidemill_core::{Epoch, EventBatch, Result, Watermark};

use super::decode::decode;
use super::plan::{Position, SourcePlan, Step};
use super::pulse::Pulse;
use crate::clock::JobClock;
use crate::graph::{SourceSpec, source_slot};
use crate::metrics::SourceMetrics;
use crate::operator::Port;
use crate::task::Reporter;
use crate::task::chain::Chain;

/// What a subtask of a source needs.
pub(crate) struct Worker {
    pub(crate) spec: SourceSpec,
    pub(crate) plan: Arc<SourcePlan>,
    pub(crate) chain: Chain,
    pub(crate) metrics: Arc<SourceMetrics>,
    pub(crate) batch_rows: usize,
    /// The last epoch of an earlier run.
    pub(crate) first: Epoch,
    pub(crate) reporter: Reporter,
    pub(crate) clock: Arc<JobClock>,
}

pub(crate) async fn work(mut worker: Worker) -> Result<()> {
    let mut position = Position::after(worker.first);
    let mut pulse = worker.spec.processing_time.then(Pulse::new);
    loop {
        let due = pulse.as_ref().map(Pulse::due);
        match worker.chain.next(due, worker.plan.next_step(&mut position)).await? {
            None => {}
            Some(Step::Decode(work)) => {
                let decoded = decode(work, &worker.spec, &worker.plan, &worker.metrics, &*worker.clock).await?;
                worker.pass_on(decoded.rows, decoded.moment_ms).await?;
                if let Some(rejected) = decoded.rejected {
                    worker.chain.data(source_slot(Port::REJECTED), rejected)?;
                }
            }
            Some(Step::Watermark(watermark)) => worker.chain.watermark(0, watermark).await?,
            Some(Step::Barrier(epoch)) => {
                let begun = Instant::now();
                let changes = worker.chain.barrier(epoch).await?;
                worker.reporter.passed(epoch, changes, begun);
            }
            Some(Step::End { complete }) => {
                if complete {
                    worker.chain.watermark(0, Watermark::MAX).await?;
                }
                let changes = worker.chain.end().await?;
                worker.chain.send().await?;
                worker.reporter.ended(changes);
                return Ok(());
            }
        }
        if pulse.as_mut().is_some_and(|pulse| pulse.take(Instant::now())) {
            worker.tell_the_clock(&mut position).await?;
        }
        worker.chain.on_timer()?;
        worker.chain.send().await?;
    }
}

impl Worker {
    /// What this subtask has passed on came before the present moment, and what it will pass on comes then or later.
    async fn tell_the_clock(&mut self, position: &mut Position) -> Result<()> {
        let watermark = self.clock.watermark();
        if self.plan.promise(position, watermark) { self.chain.watermark(0, watermark).await } else { Ok(()) }
    }

    /// What is computed of the rows on their way is of the moment at which they were decoded.
    async fn pass_on(&mut self, batch: EventBatch, moment_ms: i64) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        if batch.num_rows() <= self.batch_rows {
            self.chain.data_at(moment_ms, 0, batch)?;
            return self.chain.send().await;
        }
        for offset in (0..batch.num_rows()).step_by(self.batch_rows) {
            let rows = self.batch_rows.min(batch.num_rows() - offset);
            self.chain.data_at(moment_ms, 0, batch.slice(offset, rows))?;
            self.chain.send().await?;
        }
        Ok(())
    }
}
