//! Where keyed state is while a program runs.

use std::fmt;
use std::sync::Arc;

use tidemill_core::Result;
use tidemill_state::backend::{Backend, MemoryBackend};

const MEMORY: &str = "memory";

/// Makes the backend of one subtask.
type Make = Arc<dyn Fn() -> Result<Box<dyn Backend>> + Send + Sync>;

/// Where keyed state is while a program runs. What counts is the checkpoint; this is its working copy, and a job goes on from
/// its checkpoint whatever the backend was.
#[derive(Clone)]
pub struct StateBackend {
    name: &'static str,
    make: Make,
}

impl StateBackend {
    /// In memory: fastest, as long as it fits.
    #[must_use]
    pub fn memory() -> Self {
        Self { name: MEMORY, make: Arc::new(|| Ok(Box::new(MemoryBackend::new()))) }
    }

    /// In RocksDB, in folders that are made within this one, with so many bytes of memory for all: for state that is larger
    /// than memory. Whatever those folders have is deleted first.
    #[cfg(feature = "rocksdb")]
    #[must_use]
    pub fn rocksdb(folder: impl Into<std::path::PathBuf>, memory_bytes: usize) -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        use tidemill_state::backend::{RocksDbBackend, RocksDbMemory};

        let (folder, memory, made) = (folder.into(), RocksDbMemory::new(memory_bytes), AtomicUsize::new(0));
        let make = move || {
            let number = made.fetch_add(1, Ordering::Relaxed);
            let backend = RocksDbBackend::open(&folder.join(number.to_string()), &memory)?;
            Ok(Box::new(backend) as Box<dyn Backend>)
        };
        Self { name: "rocksdb", make: Arc::new(make) }
    }

    pub(crate) fn is_memory(&self) -> bool {
        self.name == MEMORY
    }

    pub(crate) fn make(&self) -> Result<Box<dyn Backend>> {
        (self.make)()
    }
}

impl Default for StateBackend {
    fn default() -> Self {
        Self::memory()
    }
}

impl fmt::Debug for StateBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateBackend({})", self.name)
    }
}
