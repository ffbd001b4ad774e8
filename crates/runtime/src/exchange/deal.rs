//! Which part of an exchange a row belongs to.

use std::iter::repeat_n;

use arrow::array::UInt32Array;
use tidemill_core::{Error, EventBatch, Result};

use super::{ElementKeys, Partitioning, key_groups, owner};

/// Takes a batch apart, for so many parts: each is in the order of the rows.
pub(crate) fn deal(partitioning: &Partitioning, batch: EventBatch, count: usize) -> Result<Vec<EventBatch>> {
    if count == 1 {
        return Ok(vec![batch]);
    }
    match partitioning {
        Partitioning::KeyGroups(columns) => by_columns(&batch, columns, count),
        Partitioning::Elements(keys) => by_elements(batch, keys.as_ref(), count),
        Partitioning::Broadcast => Ok(repeat_n(batch, count).collect()),
        Partitioning::Gather => Err(Error::internal("several subtasks gather the rows of one edge")),
    }
}

/// Elements of a program's own type, which are moved.
fn by_elements(mut batch: EventBatch, keys: &dyn ElementKeys, count: usize) -> Result<Vec<EventBatch>> {
    let elements = batch.elements.take().ok_or_else(|| Error::internal("rows are dealt out by a program's key"))?;
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

fn by_columns(batch: &EventBatch, columns: &[usize], count: usize) -> Result<Vec<EventBatch>> {
    let keys: Vec<_> = columns.iter().map(|&c| batch.rows.column(c).clone()).collect();
    let mut indices = vec![Vec::new(); count];
    for (row, group) in (0u32..).zip(key_groups(&keys, batch.num_rows())?) {
        indices[owner(group, count)].push(row);
    }
    indices.into_iter().map(|rows| batch.take(&UInt32Array::from(rows))).collect()
}
