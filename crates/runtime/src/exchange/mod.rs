//! Edges between tasks: which subtask a row goes to, and the bounded channels that carry it.

mod channel;
mod gate;
mod sender;

use std::fmt;
use std::sync::Arc;

use tidemill_core::{Elements, Result};

pub use channel::Message;
pub(crate) use channel::{Inbox, Outbox, channel};
pub(crate) use gate::{Gate, Received};
pub(crate) use sender::EdgeSender;
pub use tidemill_state::key_group::{KEY_GROUPS, key_groups, owner};

/// How an edge deals rows out to the subtasks at its end.
#[derive(Debug, Clone)]
pub enum Partitioning {
    /// All rows to the one subtask there is.
    Gather,
    /// By the key group of these columns.
    KeyGroups(Vec<usize>),
    /// By the key group of keys that a program makes of its elements.
    Elements(Arc<dyn ElementKeys>),
    /// All rows to each subtask.
    Broadcast,
}

/// The keys of elements of a program's own type.
///
/// # Contract
/// - Equal keys are of one key group, and nothing but the key decides.
pub trait ElementKeys: fmt::Debug + Send + Sync {
    /// Each element's key group.
    ///
    /// # Errors
    /// `Invalid` if a key can't be written.
    fn key_groups(&self, elements: &Elements) -> Result<Vec<u8>>;

    /// Takes elements apart: `parts` has the part of each, of which there are so many. Each part is in the order of the elements.
    ///
    /// # Errors
    /// `Internal` if elements are of another type.
    fn deal(&self, elements: Elements, parts: &[usize], count: usize) -> Result<Vec<Elements>>;
}
