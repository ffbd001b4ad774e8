//! Deals rows out by key group.

use arrow::array::Array;
use tidemill_core::{EventBatch, Result};

use crate::operator::Dealer;

/// The rows of each key group that has some, in their order.
pub(super) fn deal(batch: &EventBatch, key: &[usize]) -> Result<Vec<(usize, EventBatch)>> {
    let columns: Vec<_> = key.iter().map(|&column| batch.rows.column(column).clone()).collect();
    let dealer = Dealer::to_key_groups();
    let indices = dealer.indices(&dealer.part_of(&columns, batch.num_rows())?);
    let dealt = indices.iter().enumerate().filter(|(_, rows)| !rows.is_empty());
    dealt.map(|(group, rows)| Ok((group, batch.take(rows)?))).collect()
}
