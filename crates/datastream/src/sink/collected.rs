//! Elements that a program takes when it has run.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tidemill_core::{Epoch, Error, EventBatch, Result};
use tidemill_runtime::connector::{ChangelogMode, Guarantee, Sink, SinkFactory};

use crate::timed::{Element, Timed};

/// What a stream has come to.
pub struct Collected<T>(Arc<Mutex<Vec<T>>>);

impl<T> Collected<T> {
    /// Takes the elements that are there: all, once the program has run.
    #[must_use]
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        // Elements are added in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sink(&self) -> CollectSink<T> {
        CollectSink { collected: Self(Arc::clone(&self.0)) }
    }
}

impl<T> Default for Collected<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> fmt::Debug for Collected<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collected({} elements)", self.lock().len())
    }
}

pub(super) struct CollectSink<T> {
    collected: Collected<T>,
}

impl<T: Element> SinkFactory for CollectSink<T> {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Append
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::ExactlyOnce
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(Collecting {
            collected: self.collected.sink().collected,
            written: vec![],
            prepared: BTreeMap::new(),
        }))
    }
}

struct Collecting<T> {
    collected: Collected<T>,
    written: Vec<T>,
    prepared: BTreeMap<Epoch, Vec<T>>,
}

#[async_trait]
impl<T: Element> Sink for Collecting<T> {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        let elements =
            batch.elements.as_ref().ok_or_else(|| Error::internal("rows have come to a sink of elements"))?;
        self.written.extend_from_slice(&elements.downcast_ref::<Timed<T>>()?.values);
        Ok(())
    }

    async fn prepare(&mut self, epoch: Epoch) -> Result<()> {
        self.prepared.entry(epoch).or_default().append(&mut self.written);
        Ok(())
    }

    async fn commit(&mut self, epoch: Epoch) -> Result<()> {
        let later = self.prepared.split_off(&epoch.next());
        let committed = std::mem::replace(&mut self.prepared, later);
        self.collected.lock().extend(committed.into_values().flatten());
        Ok(())
    }

    async fn abort(&mut self) -> Result<()> {
        Ok(())
    }
}
