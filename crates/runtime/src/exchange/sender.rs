//! The sending end of an edge: deals rows out, and tells everybody the rest.

use std::sync::{Arc, Mutex, PoisonError};

use tidemill_core::{Error, EventBatch, Result};

use super::{Message, Outbox, Partitioning, deal};

/// One subtask's end of an edge.
pub(crate) enum EdgeSender {
    /// To the subtasks at its end, which run at the same time.
    Subtasks(Partitioning, Vec<Outbox>),
    /// To somebody who keeps the rows for later: only these count.
    Keeper(Arc<Mutex<dyn Keep>>, usize),
}

/// Keeps what is sent along the edges of a task.
pub(crate) trait Keep: Send {
    /// Takes rows that are sent along an edge.
    fn keep(&mut self, edge: usize, batch: EventBatch) -> Result<()>;
}

impl EdgeSender {
    pub(crate) async fn send(&self, message: Message) -> Result<()> {
        match (self, message) {
            (Self::Subtasks(partitioning, outboxes), Message::Data(batch)) => {
                for (outbox, part) in outboxes.iter().zip(deal(partitioning, batch, outboxes.len())?) {
                    if part.num_rows() > 0 {
                        deliver(outbox, Message::Data(part)).await?;
                    }
                }
            }
            (Self::Subtasks(_, outboxes), message) => {
                for outbox in outboxes {
                    deliver(outbox, message.clone()).await?;
                }
            }
            (Self::Keeper(keeper, edge), Message::Data(batch)) => {
                // Whoever panicked while it kept something is the attempt that fails.
                keeper.lock().unwrap_or_else(PoisonError::into_inner).keep(*edge, batch)?;
            }
            (Self::Keeper(..), _) => {}
        }
        Ok(())
    }
}

async fn deliver(outbox: &Outbox, message: Message) -> Result<()> {
    outbox.send(message).await.map_err(|_| Error::closed("the task that this one sends to has stopped"))
}

#[cfg(test)]
mod tests;
