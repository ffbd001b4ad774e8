//! For tests: a run that is stopped when it has read so many elements, as long as it has a data directory to go on from.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tidemill::{DataStream, Element, Environment, Result};

/// Counts what is read of some streams.
#[derive(Clone, Default)]
pub struct Read(Arc<AtomicUsize>);

impl Read {
    /// The same stream, read so slowly that there is time for checkpoints, and to stop.
    pub fn counting<T: Element>(&self, stream: DataStream<T>) -> DataStream<T> {
        let read = Arc::clone(&self.0);
        stream.filter(move |_| {
            if read.fetch_add(1, Ordering::Relaxed).is_multiple_of(10) {
                std::thread::sleep(Duration::from_millis(1));
            }
            true
        })
    }

    /// Runs the program until so many elements have been read, or to its end; says whether it was stopped.
    pub fn run_until(&self, limit: usize, env: &Environment) -> Result<bool> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads can be started");
        let executed = runtime.block_on(env.run_live(async {
            while self.0.load(Ordering::Relaxed) < limit {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }))?;
        Ok(executed.stopped)
    }
}
