//! Makes few batches of many small ones: key groups emit each for itself.

use arrow::compute::concat_batches;
use tidemill_core::{EventBatch, Result, RowKind};

use crate::operator::{Output, Port};

/// So many rows are a batch.
const ENOUGH_ROWS: usize = 8192;

/// Puts what was emitted by one port, in its order, into fewer batches.
pub(super) fn put_together(emitted: Vec<(Port, EventBatch)>, out: &mut Output) -> Result<()> {
    let mut runs: Vec<(Port, Vec<EventBatch>, usize)> = vec![];
    for (port, batch) in emitted {
        let rows = batch.num_rows();
        let fits = |run: &&mut (Port, Vec<EventBatch>, usize)| {
            run.0 == port && run.2 + rows <= ENOUGH_ROWS && run.1.iter().chain([&batch]).all(is_bare)
        };
        // The last run of a port: what comes later stays behind what came before.
        match runs.iter_mut().rev().find(|run| run.0 == port).filter(fits) {
            Some((_, batches, sum)) => {
                batches.push(batch);
                *sum += rows;
            }
            None => runs.push((port, vec![batch], rows)),
        }
    }
    for (port, batches, _) in runs {
        out.emit_to(port, one(batches)?);
    }
    Ok(())
}

/// Whether nothing is known of its rows beside their kinds.
fn is_bare(batch: &EventBatch) -> bool {
    batch.watermarks.is_none() && batch.lineage.is_none()
}

fn one(mut batches: Vec<EventBatch>) -> Result<EventBatch> {
    if batches.len() == 1 {
        return Ok(batches.remove(0));
    }
    let rows = concat_batches(batches[0].rows.schema_ref(), batches.iter().map(|batch| &batch.rows))?;
    let kinds = batches.iter().any(|batch| batch.kinds.is_some()).then(|| {
        let kinds = batches.iter().map(|batch| match &batch.kinds {
            Some(kinds) => kinds.to_vec(),
            None => vec![RowKind::Insert; batch.num_rows()],
        });
        kinds.flatten().collect()
    });
    Ok(EventBatch { kinds, ..EventBatch::append(rows) })
}
