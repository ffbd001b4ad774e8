//! Where keyed state is while a program runs.

use std::fmt;
use std::sync::Arc;

use tidemill_core::Result;
use tidemill_state::backend::{Backend, MemoryBackend};

/// Makes the backend of one subtask.
type Make = Arc<dyn Fn() -> Result<Box<dyn Backend>> + Send + Sync>;

/// Where keyed state is while a program runs. What counts is the checkpoint; this is its working copy.
#[derive(Clone, Default)]
pub enum StateBackend {
    /// In memory: fastest, as long as it fits.
    #[default]
    Memory,
    /// In what the function makes, called once for each subtask of each step.
    Custom(Make),
}

impl StateBackend {
    pub(crate) fn make(&self) -> Result<Box<dyn Backend>> {
        match self {
            Self::Memory => Ok(Box::new(MemoryBackend::new())),
            Self::Custom(make) => make(),
        }
    }
}

impl fmt::Debug for StateBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "Memory",
            Self::Custom(_) => "Custom",
        })
    }
}
