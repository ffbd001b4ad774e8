//! Runs an asynchronous step in one subtask: the queue decides, the task polls.

use std::sync::{Arc, Mutex, PoisonError};

use tidemill_core::{EventBatch, Result, Watermark};
use tidemill_runtime::graph::MakeOperator;
use tidemill_runtime::operator::{Operator, Output, Port, Request, Requests};

use super::options::AsyncOptions;
use super::queue::{Place, Queue, Stamp};
use super::request::Asks;
use crate::collector::Collector;
use crate::timed::{Batch, Element, Timed};

/// Where requests leave what they have come to.
type Answers<U> = Arc<Mutex<Vec<(Place, Vec<U>)>>>;

struct AsyncOperator<T, U> {
    asks: Arc<Asks<T, U>>,
    queue: Queue<T, Vec<U>>,
    answers: Answers<U>,
    out: Collector<U>,
}

pub(super) fn make<T, U, I, F>(
    name: &str,
    options: AsyncOptions<T, U>,
    f: impl Fn(T) -> F + Send + Sync + 'static,
) -> MakeOperator
where
    T: Element,
    U: Element,
    I: IntoIterator<Item = U>,
    F: Future<Output = Result<I>> + Send + 'static,
{
    let asks = Arc::new(Asks::new(name, &options, f));
    let (order, capacity) = (options.order, options.capacity);
    Arc::new(move || {
        Ok(Box::new(AsyncOperator {
            asks: Arc::clone(&asks),
            queue: Queue::new(order, capacity),
            answers: Arc::default(),
            out: Collector::default(),
        }))
    })
}

impl<T: Element, U: Element> Operator for AsyncOperator<T, U> {
    fn describe(&self) -> String {
        format!("async '{}'", self.asks.name)
    }

    fn on_batch(&mut self, batch: EventBatch, _: &mut Output) -> Result<()> {
        let Batch { elements: Timed { values, times }, watermarks } = Batch::<T>::of(batch)?;
        for (index, value) in values.into_iter().enumerate() {
            let of = |all: &[i64]| all.get(index).copied().unwrap_or(i64::MIN);
            self.queue.push(value, Stamp { time: of(&times), watermark: of(&watermarks) });
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, _: &mut Output) -> Result<()> {
        self.queue.push_watermark(watermark);
        Ok(())
    }

    fn reached(&self, _: Watermark) -> Watermark {
        self.queue.reached()
    }

    fn requests(&mut self) -> Option<&mut dyn Requests> {
        Some(self)
    }
}

impl<T: Element, U: Element> Requests for AsyncOperator<T, U> {
    fn begin(&mut self) -> Result<Option<Request>> {
        let Some((place, element)) = self.queue.begin() else { return Ok(None) };
        let results = self.asks.begin(element)?;
        let answers = Arc::clone(&self.answers);
        Ok(Some(Box::pin(async move {
            let results = results.await?;
            // What holds the lock adds to the list, or takes it.
            answers.lock().unwrap_or_else(PoisonError::into_inner).push((place, results));
            Ok(())
        })))
    }

    fn waiting(&self) -> bool {
        self.queue.waiting()
    }

    fn open(&self) -> bool {
        self.queue.open()
    }

    fn on_answers(&mut self, out: &mut Output) -> Result<bool> {
        let answers = std::mem::take(&mut *self.answers.lock().unwrap_or_else(PoisonError::into_inner));
        for (place, results) in answers {
            self.queue.done(place, results);
        }
        let Self { queue, out: collector, .. } = self;
        let reached = queue.leave(|Stamp { time, watermark }, results| {
            collector.at(time, watermark);
            results.into_iter().for_each(|result| collector.collect(result));
        });
        collector.emit_to(Port::MAIN, out);
        Ok(reached)
    }

    fn give_up(&mut self) {
        self.queue.give_up();
    }
}
