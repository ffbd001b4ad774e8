//! The sending end of an edge: deals rows out, and tells everybody the rest.

use arrow::array::UInt32Array;
use tidemill_core::{Error, EventBatch, Result};

use super::{Message, Outbox, Partitioning, key_groups, owner};

/// One subtask's end of an edge.
pub(crate) struct EdgeSender {
    partitioning: Partitioning,
    outboxes: Vec<Outbox>,
}

impl EdgeSender {
    pub(crate) fn new(partitioning: Partitioning, outboxes: Vec<Outbox>) -> Self {
        Self { partitioning, outboxes }
    }

    pub(crate) async fn send(&self, message: Message) -> Result<()> {
        let Message::Data(batch) = message else {
            for outbox in &self.outboxes {
                deliver(outbox, message.clone()).await?;
            }
            return Ok(());
        };
        match &self.partitioning {
            Partitioning::KeyGroups(columns) if self.outboxes.len() > 1 => {
                for (outbox, part) in self.outboxes.iter().zip(self.deal(&batch, columns)?) {
                    if part.num_rows() > 0 {
                        deliver(outbox, Message::Data(part)).await?;
                    }
                }
                Ok(())
            }
            Partitioning::Gather | Partitioning::KeyGroups(_) => deliver(&self.outboxes[0], Message::Data(batch)).await,
        }
    }

    /// One batch for each subtask, each in the order of the rows.
    fn deal(&self, batch: &EventBatch, columns: &[usize]) -> Result<Vec<EventBatch>> {
        let keys: Vec<_> = columns.iter().map(|&c| batch.rows.column(c).clone()).collect();
        let mut indices = vec![Vec::new(); self.outboxes.len()];
        for (row, group) in (0u32..).zip(key_groups(&keys, batch.num_rows())?) {
            indices[owner(group, self.outboxes.len())].push(row);
        }
        indices.into_iter().map(|rows| batch.take(&UInt32Array::from(rows))).collect()
    }
}

async fn deliver(outbox: &Outbox, message: Message) -> Result<()> {
    outbox.send(message).await.map_err(|_| Error::closed("the task that this one sends to has stopped"))
}
