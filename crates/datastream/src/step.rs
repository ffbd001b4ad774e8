//! Steps without state: each element by itself.

use std::sync::Arc;

use tidemill_core::{EventBatch, Result};
use tidemill_runtime::graph::MakeOperator;
use tidemill_runtime::operator::{Operator, Output};

use crate::guard::in_step;
use crate::timed::{Batch, Element, Timed};

/// What becomes of a batch.
pub(crate) type Step<T, U> = Arc<dyn Fn(Batch<T>) -> Result<Batch<U>> + Send + Sync>;

pub(crate) fn map<T: Element, U: Element>(f: impl Fn(T) -> U + Send + Sync + 'static) -> Step<T, U> {
    Arc::new(move |Batch { elements: Timed { values, times }, watermarks }| {
        let values = values.into_iter().map(&f).collect();
        Ok(Batch { elements: Timed { values, times }, watermarks })
    })
}

pub(crate) fn try_map<T: Element, U: Element>(f: impl Fn(T) -> Result<U> + Send + Sync + 'static) -> Step<T, U> {
    Arc::new(move |Batch { elements: Timed { values, times }, watermarks }| {
        let values = values.into_iter().map(&f).collect::<Result<_>>()?;
        Ok(Batch { elements: Timed { values, times }, watermarks })
    })
}

pub(crate) fn filter<T: Element>(keep: impl Fn(&T) -> bool + Send + Sync + 'static) -> Step<T, T> {
    Arc::new(move |batch: Batch<T>| {
        let kept: Vec<bool> = batch.elements.values.iter().map(&keep).collect();
        Ok(filtered(batch, &kept))
    })
}

pub(crate) fn try_filter<T: Element>(keep: impl Fn(&T) -> Result<bool> + Send + Sync + 'static) -> Step<T, T> {
    Arc::new(move |batch: Batch<T>| {
        let kept = batch.elements.values.iter().map(&keep).collect::<Result<Vec<bool>>>()?;
        Ok(filtered(batch, &kept))
    })
}

/// The elements that are kept.
fn filtered<T>(Batch { elements: Timed { values, times }, watermarks }: Batch<T>, kept: &[bool]) -> Batch<T> {
    Batch {
        elements: Timed { values: chosen(values, kept), times: chosen(times, kept) },
        watermarks: chosen(watermarks, kept),
    }
}

/// Those that are kept, of as many as `kept` has, or of none.
fn chosen<V>(all: Vec<V>, kept: &[bool]) -> Vec<V> {
    all.into_iter().zip(kept).filter(|(_, kept)| **kept).map(|(value, _)| value).collect()
}

pub(crate) fn flat_map<T: Element, U: Element, I: IntoIterator<Item = U>>(
    f: impl Fn(T) -> I + Send + Sync + 'static,
) -> Step<T, U> {
    try_flat_map(move |value| Ok(f(value)))
}

pub(crate) fn try_flat_map<T: Element, U: Element, I: IntoIterator<Item = U>>(
    f: impl Fn(T) -> Result<I> + Send + Sync + 'static,
) -> Step<T, U> {
    Arc::new(move |Batch { elements: Timed { values, times }, watermarks }| {
        let mut made = Batch { elements: Timed::new(), watermarks: vec![] };
        for (index, value) in values.into_iter().enumerate() {
            made.elements.values.extend(f(value)?);
            let count = made.elements.values.len();
            if let Some(time) = times.get(index) {
                made.elements.times.resize(count, *time);
            }
            if let Some(watermark) = watermarks.get(index) {
                made.watermarks.resize(count, *watermark);
            }
        }
        Ok(made)
    })
}

/// A step as an operator.
struct StepOperator<T, U> {
    name: &'static str,
    step: Step<T, U>,
}

pub(crate) fn operator<T: Element, U: Element>(name: &'static str, step: Step<T, U>) -> MakeOperator {
    Arc::new(move || Ok(Box::new(StepOperator { name, step: Arc::clone(&step) })))
}

impl<T: Element, U: Element> Operator for StepOperator<T, U> {
    fn describe(&self) -> String {
        self.name.to_owned()
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let batch = Batch::of(batch)?;
        out.emit(in_step(self.name, || (self.step)(batch))?.into_event_batch());
        Ok(())
    }
}
