//! One bounded channel from one subtask to another: the backpressure.

use tidemill_core::{Epoch, EventBatch, Watermark};
use tokio::sync::mpsc;

/// What a channel carries, in order.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "one a batch: moving it costs nothing, a box would")]
pub enum Message {
    /// Rows.
    Data(EventBatch),
    /// No row that follows is in time for a window that this watermark closes.
    Watermark(Watermark),
    /// The cut: what came before belongs to the epoch, what follows to the next.
    Barrier(Epoch),
    /// Nothing follows.
    End,
}

/// How many messages wait in a channel before its sender does. A batch has about 8,192 rows, so
/// this bounds what is under way between two subtasks to some tens of thousands of rows.
const CAPACITY: usize = 4;

pub(crate) type Outbox = mpsc::Sender<Message>;
pub(crate) type Inbox = mpsc::Receiver<Message>;

pub(crate) fn channel() -> (Outbox, Inbox) {
    mpsc::channel(CAPACITY)
}
