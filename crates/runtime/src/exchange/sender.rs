//! The sending end of an edge: deals rows out, and tells everybody the rest.

use arrow::array::UInt32Array;
use tidemill_core::{Error, EventBatch, Result};

use super::{ElementKeys, Message, Outbox, Partitioning, key_groups, owner};

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
        if self.outboxes.len() == 1 {
            return deliver(&self.outboxes[0], Message::Data(batch)).await;
        }
        let parts = match &self.partitioning {
            Partitioning::KeyGroups(columns) => self.deal(&batch, columns)?,
            Partitioning::Elements(keys) => self.deal_elements(batch, keys.as_ref())?,
            Partitioning::Broadcast => std::iter::repeat_n(batch, self.outboxes.len()).collect(),
            Partitioning::Gather => return Err(Error::internal("several subtasks gather the rows of one edge")),
        };
        for (outbox, part) in self.outboxes.iter().zip(parts) {
            if part.num_rows() > 0 {
                deliver(outbox, Message::Data(part)).await?;
            }
        }
        Ok(())
    }

    /// The same for elements of a program's own type, which are moved.
    fn deal_elements(&self, mut batch: EventBatch, keys: &dyn ElementKeys) -> Result<Vec<EventBatch>> {
        let elements = batch.elements.take().ok_or_else(|| Error::internal("rows are dealt out by a program's key"))?;
        let count = self.outboxes.len();
        let parts: Vec<usize> = keys.key_groups(&elements)?.into_iter().map(|group| owner(group, count)).collect();
        let mut indices = vec![Vec::new(); count];
        for (row, part) in (0u32..).zip(&parts) {
            indices[*part].push(row);
        }
        let dealt = keys.deal(elements, &parts, count)?.into_iter().zip(indices);
        dealt
            .map(|(elements, rows)| {
                let sidecars = batch.take(&UInt32Array::from(rows))?;
                Ok(EventBatch { elements: Some(elements), ..sidecars })
            })
            .collect()
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

#[cfg(test)]
mod tests;
