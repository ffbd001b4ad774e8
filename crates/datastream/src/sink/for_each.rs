//! A function of the program that is called for each element.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tidemill_core::{Epoch, Error, EventBatch, Result};
use tidemill_runtime::connector::{ChangelogMode, Sink, SinkFactory};

use crate::guard::guarded;
use crate::timed::{Element, Timed};

type Function<T> = Box<dyn FnMut(&T) + Send>;

pub(super) struct ForEach<T> {
    name: Arc<str>,
    /// Taken by the one sink that a run makes.
    function: Mutex<Option<Function<T>>>,
}

impl<T> ForEach<T> {
    pub(super) fn new(name: &str, function: impl FnMut(&T) + Send + 'static) -> Self {
        Self { name: name.into(), function: Mutex::new(Some(Box::new(function))) }
    }
}

impl<T: Element> SinkFactory for ForEach<T> {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Append
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        let function = self.function.lock().unwrap_or_else(PoisonError::into_inner).take();
        let function = function.ok_or_else(|| Error::internal("a sink is opened twice"))?;
        // A function that waits for nothing is called by one task at a time: the lock is for the compiler.
        Ok(Box::new(Calling { name: Arc::clone(&self.name), function: Mutex::new(function) }))
    }
}

struct Calling<T> {
    name: Arc<str>,
    function: Mutex<Function<T>>,
}

#[async_trait]
impl<T: Element> Sink for Calling<T> {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        let elements =
            batch.elements.as_ref().ok_or_else(|| Error::internal("rows have come to a sink of elements"))?;
        let elements: &Timed<T> = elements.downcast_ref()?;
        let function = self.function.get_mut().unwrap_or_else(PoisonError::into_inner);
        guarded(&self.name, || elements.values.iter().for_each(function))
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
