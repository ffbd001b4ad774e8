//! A source as streams of batches, without tasks: how the batch driver reads.
//!
//! It is the live driver's reader and decoder: one file keeps every core busy, rows have the same
//! identity, and the same watermark, as they have live.

use std::sync::Arc;

use futures::Stream;
use futures::stream::unfold;
use tidemill_core::{Epoch, EventBatch, Result};
use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;

use crate::clock::SystemClock;
use crate::connector::ScanRequest;
use crate::graph::SourceSpec;
use crate::metrics::SourceMetrics;
use crate::task::source::{Position, Resumed, SourcePlan, Step, decode, read};

/// One reading of a source by several streams, which share its chunks.
///
/// Every stream must be polled until it ends or dropped: a chunk may wait for the one before it.
pub struct Scan {
    spec: SourceSpec,
    plan: Arc<SourcePlan>,
    metrics: Arc<SourceMetrics>,
    reader: Arc<Reader>,
    rejected: Option<Sender<EventBatch>>,
}

/// Stops reading when the last stream is gone.
struct Reader(tokio::sync::Mutex<Option<JoinHandle<Result<()>>>>, tokio::task::AbortHandle);

impl Drop for Reader {
    fn drop(&mut self) {
        self.1.abort();
    }
}

impl Scan {
    /// Begins to read. Call it inside a tokio runtime. What can't be decoded, where `spec` keeps it,
    /// goes to `rejected`, or nowhere.
    #[must_use]
    pub fn start(
        spec: SourceSpec,
        streams: usize,
        batch_rows: usize,
        metrics: Arc<SourceMetrics>,
        rejected: Option<Sender<EventBatch>>,
    ) -> Self {
        let plan =
            Arc::new(SourcePlan::new(streams, !spec.has_event_time(), None, Resumed::default(), Epoch::default()));
        let request = ScanRequest {
            columns: Arc::clone(&spec.decoded),
            batch_rows,
            keep_rejected: spec.keep_rejected,
            follow: false,
            resume: Arc::new([]),
        };
        let (source, reading) = (Arc::clone(&spec.source), Arc::clone(&plan));
        let handle = tokio::spawn(async move {
            let outcome = read(source.as_ref(), &request, &reading, None).await;
            if outcome.is_err() {
                reading.stop();
            }
            outcome
        });
        let abort = handle.abort_handle();
        let reader = Arc::new(Reader(tokio::sync::Mutex::new(Some(handle)), abort));
        Self { spec, plan, metrics, reader, rejected }
    }

    /// One of the streams. An error of the reader comes out of the first that ends.
    pub fn stream(&self) -> impl Stream<Item = Result<EventBatch>> + Send + use<> {
        let state = Streaming {
            spec: self.spec.clone(),
            plan: Arc::clone(&self.plan),
            metrics: Arc::clone(&self.metrics),
            reader: Arc::clone(&self.reader),
            rejected: self.rejected.clone(),
            position: Position::after(Epoch::default()),
        };
        unfold(Some(state), |state| async move {
            let mut state = state?;
            match state.next().await {
                Ok(Some(batch)) => Some((Ok(batch), Some(state))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}

struct Streaming {
    spec: SourceSpec,
    plan: Arc<SourcePlan>,
    metrics: Arc<SourceMetrics>,
    reader: Arc<Reader>,
    rejected: Option<Sender<EventBatch>>,
    position: Position,
}

impl Streaming {
    async fn next(&mut self) -> Result<Option<EventBatch>> {
        loop {
            match self.plan.next_step(&mut self.position).await {
                Step::Decode(work) => {
                    let decoded = decode(work, &self.spec, &self.plan, &self.metrics, &SystemClock).await?;
                    if let (Some(outlet), Some(rejected)) = (&self.rejected, decoded.rejected) {
                        // Nobody takes it any more where the run has failed.
                        let _ = outlet.send(rejected).await;
                    }
                    if decoded.rows.num_rows() > 0 {
                        return Ok(Some(decoded.rows));
                    }
                }
                // No epoch begins in a scan, and its reader needs no watermark.
                Step::Watermark(_) | Step::Barrier(_) => {}
                Step::End { .. } => return self.reader_outcome().await.map(|()| None),
            }
        }
    }

    async fn reader_outcome(&self) -> Result<()> {
        match self.reader.0.lock().await.take() {
            Some(handle) => match handle.await {
                Ok(outcome) => outcome,
                Err(_) => Err(tidemill_core::Error::internal("the reader of a source panicked")),
            },
            None => Ok(()),
        }
    }
}
