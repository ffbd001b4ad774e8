//! Edges between tasks: which subtask a row goes to, and the bounded channels that carry it.

mod channel;
mod deal;
mod elements;
mod gate;
mod sender;

use std::sync::Arc;

pub use channel::Message;
pub(crate) use channel::{Inbox, Outbox, channel};
pub(crate) use deal::deal;
pub use elements::{ElementCodec, ElementKeys};
pub(crate) use gate::{Gate, Received};
pub(crate) use sender::{EdgeSender, Keep};
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
