//! What can't be decoded, to the table that the file names for it: once, by the first scan of its table.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use tidemill_core::{Error, EventBatch, Result};
use tidemill_runtime::connector::Sink;
use tidemill_runtime::operator::{Calc, Operator, Output};
use tidemill_runtime::rejected_schema;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use super::source::SourceExec;
use crate::Pipeline;
use crate::physical::{Outputs, by_name};

/// How many batches wait for a sink.
const CAPACITY: usize = 4;

/// The outlets of a run, by source table.
pub(super) struct DeadLetters(BTreeMap<Arc<str>, DeadLetter>);

struct DeadLetter {
    /// Until the first scan takes it.
    outlet: Option<Sender<EventBatch>>,
    writing: JoinHandle<Written>,
}

/// What was written to a sink that waits for its end.
struct Written {
    sink: Box<dyn Sink>,
    rows: u64,
    outcome: Result<()>,
}

impl DeadLetters {
    pub(super) fn open(pipeline: &Pipeline, outputs: &dyn Outputs) -> Result<Self> {
        let mut planned = vec![];
        for (table, output) in &pipeline.dead_letters {
            let calc = by_name("bad rows", &rejected_schema(), output.stored());
            let calc = calc.map_err(|e| e.at(output.excerpt.clone()))?;
            planned.extend(outputs.rejected(output)?.map(|sink| (table, calc, sink)));
        }
        let mut all = BTreeMap::new();
        for (table, calc, sink) in planned {
            let (outlet, inbox) = channel(CAPACITY);
            let writing = tokio::spawn(write(sink.open()?, calc, inbox));
            all.insert(Arc::clone(table), DeadLetter { outlet: Some(outlet), writing });
        }
        Ok(Self(all))
    }

    /// Gives each outlet that is left to the first scan of its table in `plan`.
    pub(super) fn attach(&mut self, plan: &Arc<dyn ExecutionPlan>) {
        if let Some(scan) = (plan.as_ref() as &dyn Any).downcast_ref::<SourceExec>()
            && let Some(outlet) = self.0.get_mut(scan.table()).and_then(|letter| letter.outlet.take())
        {
            scan.send_rejected(outlet);
        }
        plan.children().into_iter().for_each(|child| self.attach(child));
    }

    /// Waits until all is written: the sinks, and how many rows each got, by table. The scans must be gone.
    pub(super) async fn finish(self) -> (Vec<Box<dyn Sink>>, Result<BTreeMap<Arc<str>, u64>>) {
        let mut sinks = vec![];
        let mut rows = Ok(BTreeMap::new());
        for (table, letter) in self.0 {
            drop(letter.outlet);
            let outcome = match letter.writing.await {
                Ok(written) => {
                    sinks.push(written.sink);
                    written.outcome.map(|()| written.rows)
                }
                Err(_) => Err(Error::internal("the writer of bad rows panicked")),
            };
            rows = match (rows, outcome) {
                (Ok(mut all), Ok(count)) => {
                    all.insert(table, count);
                    Ok(all)
                }
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
        }
        (sinks, rows)
    }
}

async fn write(mut sink: Box<dyn Sink>, mut calc: Calc, mut inbox: Receiver<EventBatch>) -> Written {
    let mut rows = 0;
    let mut outcome = Ok(());
    while let Some(batch) = inbox.recv().await {
        rows += batch.num_rows() as u64;
        outcome = write_batch(sink.as_mut(), &mut calc, batch).await;
        if outcome.is_err() {
            break;
        }
    }
    Written { sink, rows, outcome }
}

async fn write_batch(sink: &mut dyn Sink, calc: &mut Calc, batch: EventBatch) -> Result<()> {
    let mut out = Output::default();
    calc.on_batch(batch, &mut out)?;
    for (_, batch) in out.take() {
        sink.write(&batch).await?;
    }
    Ok(())
}
