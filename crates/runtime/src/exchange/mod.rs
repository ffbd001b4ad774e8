//! Edges between tasks: which subtask a row goes to, and the bounded channels that carry it.

mod channel;
mod gate;
mod key_group;
mod sender;

pub use channel::Message;
pub(crate) use channel::{Inbox, Outbox, channel};
pub(crate) use gate::{Gate, Received};
pub use key_group::{KEY_GROUPS, key_groups, owner};
pub(crate) use sender::EdgeSender;

/// How an edge deals rows out to the subtasks at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Partitioning {
    /// All rows to the one subtask there is.
    Gather,
    /// By the key group of these columns.
    KeyGroups(Vec<usize>),
}
