//! Follows a folder: looks again and again for files that were not there before.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tidemill_core::Result;
use tidemill_runtime::connector::{Discovery, PartitionReader};
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use super::Opening;
use crate::blocking::blocking;
use crate::filesystem::store::{MayLack, Store};

/// Finds new files. As in Flink, a file is known by its path, and read once, whole, also where one run goes on behind
/// another: it must appear with all that it will have (written under a hidden name, then renamed).
pub(super) struct Monitor {
    store: Arc<dyn Store>,
    opening: Opening,
    ticks: Interval,
    /// The names of files that are read, or have been.
    seen: HashSet<Arc<str>>,
}

impl Monitor {
    pub(super) fn new(store: Arc<dyn Store>, opening: Opening, interval: Duration, seen: HashSet<Arc<str>>) -> Self {
        let mut ticks = interval_at(tokio::time::Instant::now() + interval, interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { store, opening, ticks, seen }
    }
}

#[async_trait]
impl Discovery for Monitor {
    async fn next(&mut self) -> Result<Vec<Box<dyn PartitionReader>>> {
        loop {
            self.ticks.tick().await;
            let mut found = blocking(|| self.store.files(MayLack::Files))?;
            found.retain(|file| self.seen.insert(Arc::clone(&file.name)));
            if !found.is_empty() {
                return self.opening.open(&found);
            }
        }
    }
}
