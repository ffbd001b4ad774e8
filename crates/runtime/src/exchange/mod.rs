//! Edges between tasks: which subtask a row goes to, and the bounded channels that carry it.

mod channel;
mod gate;
mod sender;

pub use channel::Message;
pub(crate) use channel::{Inbox, Outbox, channel};
pub(crate) use gate::{Gate, Received};
pub(crate) use sender::EdgeSender;
pub use tidemill_state::key_group::{KEY_GROUPS, key_groups, owner};

/// How an edge deals rows out to the subtasks at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Partitioning {
    /// All rows to the one subtask there is.
    Gather,
    /// By the key group of these columns.
    KeyGroups(Vec<usize>),
}
