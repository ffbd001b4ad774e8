//! One subtask of a source: decodes chunks, stitches them, and runs the operators chained to it.

use std::sync::Arc;

use tidemill_core::{Epoch, EventBatch, Result, Watermark};

use super::decode::decode;
use super::plan::{Position, SourcePlan, Step};
use crate::graph::{SourceSpec, source_slot};
use crate::metrics::SourceMetrics;
use crate::operator::Port;
use crate::task::chain::Chain;
use crate::task::{Reporter, before};

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
}

pub(crate) async fn work(mut worker: Worker) -> Result<()> {
    let mut position = Position::after(worker.first);
    loop {
        match before(worker.chain.timer(), worker.plan.next_step(&mut position)).await {
            None => {}
            Some(Step::Decode(work)) => {
                let decoded = decode(work, &worker.spec, &worker.plan, &worker.metrics).await?;
                worker.pass_on(&decoded.rows).await?;
                if let Some(rejected) = decoded.rejected {
                    worker.chain.data(source_slot(Port::REJECTED), rejected)?;
                }
            }
            Some(Step::Watermark(watermark)) => worker.chain.watermark(0, watermark).await?,
            Some(Step::Barrier(epoch)) => {
                let changes = worker.chain.barrier(epoch)?;
                worker.reporter.passed(epoch, changes);
            }
            Some(Step::End { complete }) => {
                if complete {
                    worker.chain.watermark(0, Watermark::MAX).await?;
                }
                let changes = worker.chain.end()?;
                worker.chain.send().await?;
                worker.reporter.ended(changes);
                return Ok(());
            }
        }
        worker.chain.on_timer()?;
        worker.chain.send().await?;
    }
}

impl Worker {
    async fn pass_on(&mut self, batch: &EventBatch) -> Result<()> {
        for offset in (0..batch.num_rows()).step_by(self.batch_rows) {
            let rows = self.batch_rows.min(batch.num_rows() - offset);
            self.chain.data(0, batch.slice(offset, rows))?;
            self.chain.send().await?;
        }
        Ok(())
    }
}
