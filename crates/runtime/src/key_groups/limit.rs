//! How much memory there is.

use std::fmt;
use std::sync::Arc;

use tidemill_state::SpillFolder;

/// How much memory a job may take, and how it learns what it does take.
#[derive(Clone)]
pub struct MemoryLimit {
    bytes: u64,
    used: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl fmt::Debug for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryLimit({} bytes)", self.bytes)
    }
}

impl MemoryLimit {
    /// A limit in bytes. `used` tells how many the process has now; it is asked once a batch or so.
    pub fn new(bytes: u64, used: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { bytes, used: Arc::new(used) }
    }

    /// The limit.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many bytes more there is memory for.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.bytes.saturating_sub((self.used)())
    }

    /// Whether more is taken than may be.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        (self.used)() > self.bytes
    }
}

/// What a job does with state for which there is no memory.
#[derive(Debug, Clone)]
pub struct Spill {
    /// How much memory there is.
    pub limit: MemoryLimit,
    /// Where the rest goes.
    pub folder: SpillFolder,
}
