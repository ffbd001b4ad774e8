//! Deals rows out by key group.

use arrow::array::UInt32Array;
use tidemill_core::{EventBatch, Result};

use crate::exchange::{KEY_GROUPS, key_groups};

/// The rows of each key group that has some, in their order.
pub(super) fn deal(batch: &EventBatch, key: &[usize]) -> Result<Vec<(usize, EventBatch)>> {
    let columns: Vec<_> = key.iter().map(|&column| batch.rows.column(column).clone()).collect();
    let groups = key_groups(&columns, batch.num_rows())?;
    let mut indices: Vec<Vec<u32>> = vec![vec![]; KEY_GROUPS];
    for (row, group) in (0u32..).zip(groups) {
        indices[usize::from(group)].push(row);
    }
    let dealt = indices.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty());
    dealt.map(|(group, rows)| Ok((group, batch.take(&UInt32Array::from(rows))?))).collect()
}
