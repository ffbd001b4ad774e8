//! Rows of sessions for which there is no memory: they go to disk by the key group of their key, and come back group by
//! group.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::array::UInt32Array;
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use tidemill_runtime::exchange::{KEY_GROUPS, key_groups};
use tidemill_runtime::key_groups::{Spill, SpillWriter, SpilledRows};

use super::SessionColumns;
use super::keyed::{KeyedRows, Sessions};

/// Rows of a group are written when they have so many bytes in memory.
const RUN_BYTES: usize = if cfg!(test) { 1 } else { 64 << 10 };

/// The rows of one partition, in memory or apart by key group.
pub(super) struct Rows {
    columns: SessionColumns,
    input: SchemaRef,
    here: KeyedRows,
    reservation: MemoryReservation,
    spill: Option<Arc<Spill>>,
    apart: Option<Vec<Group>>,
}

/// The rows of a key group.
#[derive(Default)]
struct Group {
    here: Vec<RecordBatch>,
    here_bytes: usize,
    file: Option<SpillWriter>,
    written: Vec<SpilledRows>,
}

impl Rows {
    pub(super) fn new(
        columns: SessionColumns,
        input: SchemaRef,
        memory: &Arc<dyn MemoryPool>,
        spill: Option<Arc<Spill>>,
    ) -> Result<Self> {
        let here = KeyedRows::new(columns.clone(), &input)?;
        let reservation = MemoryConsumer::new("sessions").with_can_spill(true).register(memory);
        Ok(Self { columns, input, here, reservation, spill, apart: None })
    }

    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.apart.is_none() {
            // As many again while they are put in order.
            match self.reservation.try_grow(2 * batch.get_array_memory_size()) {
                Ok(()) => return self.here.push(batch),
                Err(full) => self.part(full)?,
            }
        }
        self.deal(batch)
    }

    /// From now on rows are kept apart, if that helps.
    fn part(&mut self, full: DataFusionError) -> Result<()> {
        if self.spill.is_none() || self.columns.key.is_empty() {
            return Err(full);
        }
        self.apart = Some((0..KEY_GROUPS).map(|_| Group::default()).collect());
        let here = std::mem::replace(&mut self.here, KeyedRows::new(self.columns.clone(), &self.input)?);
        for batch in here.into_batches() {
            self.deal(&batch)?;
        }
        self.reservation.free();
        Ok(())
    }

    fn deal(&mut self, batch: &RecordBatch) -> Result<()> {
        let (Some(groups), Some(spill)) = (&mut self.apart, &self.spill) else {
            return datafusion::common::internal_err!("rows of sessions are not kept apart");
        };
        let key: Vec<_> = self.columns.key.iter().map(|&column| Arc::clone(batch.column(column))).collect();
        let mut indices: Vec<Vec<u32>> = vec![vec![]; KEY_GROUPS];
        let numbers = key_groups(&key, batch.num_rows()).map_err(external)?;
        (0u32..).zip(numbers).for_each(|(row, group)| indices[usize::from(group)].push(row));
        for (group, rows) in groups.iter_mut().zip(indices).filter(|(_, rows)| !rows.is_empty()) {
            group.push(take_record_batch(batch, &UInt32Array::from(rows))?, spill)?;
        }
        Ok(())
    }

    /// All rows with the bounds of their sessions, in batches.
    pub(super) fn into_sessions(
        mut self,
        batch_rows: usize,
    ) -> Result<Box<dyn Iterator<Item = Result<RecordBatch>> + Send>> {
        let Some(groups) = self.apart.take() else {
            return Ok(Box::new(Held(self.here.into_sessions(batch_rows)?, self.reservation)));
        };
        let sessions = move |group: Group| -> Result<Sessions> {
            let mut rows = KeyedRows::new(self.columns.clone(), &self.input)?;
            for batch in group.written {
                rows.push(&batch.read().map_err(external)?)?;
            }
            for batch in group.here {
                rows.push(&batch)?;
            }
            rows.into_sessions(batch_rows)
        };
        Ok(Box::new(groups.into_iter().map(sessions).flat_map(|sessions| match sessions {
            Ok(sessions) => Box::new(sessions) as Box<dyn Iterator<Item = _> + Send>,
            Err(e) => Box::new(std::iter::once(Err(e))),
        })))
    }
}

impl Group {
    fn push(&mut self, rows: RecordBatch, spill: &Spill) -> Result<()> {
        self.here_bytes += rows.get_array_memory_size();
        self.here.push(rows);
        if self.here_bytes < RUN_BYTES {
            return Ok(());
        }
        let run = concat_batches(self.here[0].schema_ref(), &self.here)?;
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(spill.folder.file().map_err(external)?),
        };
        self.written.push(file.write(&run).map_err(external)?);
        (self.here, self.here_bytes) = (vec![], 0);
        Ok(())
    }
}

/// Sessions whose memory is reserved until all are given out.
struct Held(Sessions, #[expect(dead_code, reason = "it is freed with this")] MemoryReservation);

impl Iterator for Held {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

fn external(e: tidemill_core::Error) -> DataFusionError {
    DataFusionError::External(Box::new(e))
}

#[cfg(test)]
mod tests;
