//! How far each partition has been read, at the last cut and now: what a later run needs to read on.
//!
//! Chunks are decoded by several subtasks, so at the moment of a barrier some of those before it are still on their way.
//! What was read at the cut is known when every subtask has passed the barrier: [`Progress`] notes each decoded chunk
//! for now, and for the cut too if it came before.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{Int64Type, UInt64Type};
use tidemill_core::{Epoch, Error, Result, Watermark};
use tidemill_state::{State, StateChanges};

use super::plan::Carry;
use crate::connector::ReadPartition;

/// How far a partition has been read.
#[derive(Debug, Clone, PartialEq)]
struct Read {
    name: Arc<str>,
    /// Behind the last chunk.
    position: u64,
    carry: Carry,
    ended: bool,
}

/// The partitions of a source that are read, and those that have been since the last snapshot.
#[derive(Debug, Default)]
pub(super) struct Progress {
    now: BTreeMap<usize, Read>,
    /// By name, those that an earlier run has read in part, and this one has not opened yet.
    unopened: BTreeMap<Arc<str>, Read>,
    cut: Option<Cut>,
}

/// What had been read at a barrier.
#[derive(Debug)]
struct Cut {
    epoch: Epoch,
    read: BTreeMap<usize, Read>,
    /// A partition that is opened later has no chunk before the barrier.
    unopened: BTreeMap<Arc<str>, Read>,
    /// The watermark that had been promised.
    granted: Watermark,
}

/// What an earlier run has read of a source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Resumed {
    /// For the source.
    pub(crate) read: Arc<[ReadPartition]>,
    /// By name, what is known of the rows that were read of partitions that go on.
    pub(super) carries: BTreeMap<Arc<str>, Carry>,
    /// The watermark that had been promised.
    pub(crate) granted: Watermark,
}

impl Default for Resumed {
    fn default() -> Self {
        Self { read: Arc::new([]), carries: BTreeMap::new(), granted: Watermark::MIN }
    }
}

impl Progress {
    /// Of a run that goes on from there: what it has not opened yet must not be forgotten.
    pub(super) fn of(resumed: &Resumed) -> Self {
        let read = |partition: &ReadPartition| {
            let name = Arc::clone(&partition.name);
            let (position, carry) = (partition.position?, *resumed.carries.get(&name)?);
            Some((Arc::clone(&name), Read { name, position, carry, ended: false }))
        };
        Self { unopened: resumed.read.iter().filter_map(read).collect(), ..Self::default() }
    }

    pub(super) fn opened(&mut self, partition: usize, name: Arc<str>, carry: Carry, position: u64) {
        self.unopened.remove(&name);
        self.now.insert(partition, Read { name, position, carry, ended: false });
    }

    /// From now on chunks belong to the epoch after `epoch`.
    pub(super) fn cut(&mut self, epoch: Epoch, granted: Watermark) {
        self.cut = Some(Cut { epoch, read: self.now.clone(), unopened: self.unopened.clone(), granted });
    }

    /// A subtask has published this watermark, maybe before it has passed the last barrier.
    pub(super) fn promised(&mut self, watermark: Watermark) {
        if let Some(cut) = &mut self.cut {
            cut.granted = watermark.max(cut.granted);
        }
    }

    /// A chunk of the epoch after `epoch` is decoded, and so are all before it. Of two chunks either may be told first.
    pub(super) fn decoded(&mut self, partition: usize, epoch: Epoch, position: u64, carry: Carry) {
        let note = |read: &mut BTreeMap<usize, Read>| {
            if let Some(read) = read.get_mut(&partition).filter(|read| position > read.position) {
                (read.position, read.carry) = (position, carry);
            }
        };
        note(&mut self.now);
        if let Some(cut) = self.cut.as_mut().filter(|cut| epoch < cut.epoch) {
            note(&mut cut.read);
        }
    }

    /// Nothing follows in a partition.
    pub(super) fn ended(&mut self, partition: usize) {
        if let Some(read) = self.now.get_mut(&partition) {
            read.ended = true;
        }
    }

    /// Of what was read of a partition, chunks are dropped: it has not ended.
    pub(super) fn reopened(&mut self, partition: usize) {
        if let Some(read) = self.now.get_mut(&partition) {
            read.ended = false;
        }
    }

    /// What was read before the barrier of `epoch`; if none went out, what has been read. `granted` is what is promised now.
    pub(super) fn snapshot(&mut self, epoch: Epoch, granted: Watermark) -> Result<StateChanges> {
        let now = || Cut { epoch, read: self.now.clone(), unopened: self.unopened.clone(), granted };
        let Cut { read, unopened, granted, .. } = self.cut.take().filter(|cut| cut.epoch == epoch).unwrap_or_else(now);
        let (ended, reading): (Vec<_>, Vec<_>) = read.into_iter().partition(|(_, read)| read.ended);
        // What is told once need not be told again.
        ended.iter().for_each(|(partition, _)| drop(self.now.remove(partition)));
        let mut changes = StateChanges::default();
        if !ended.is_empty() {
            changes.append("ended", names(ended.iter().map(|(_, read)| &read.name))?);
        }
        changes.replace("reading", vec![reading_rows(reading.iter().map(|(_, read)| read).chain(unopened.values()))?]);
        changes.replace_numbers("granted", [granted.0])?;
        Ok(changes)
    }
}

fn names<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Result<RecordBatch> {
    Ok(RecordBatch::try_from_iter([("name", Arc::new(StringArray::from_iter_values(names)) as ArrayRef)])?)
}

fn reading_rows<'a>(reading: impl Iterator<Item = &'a Read> + Clone) -> Result<RecordBatch> {
    let columns: [(_, ArrayRef); 4] = [
        ("name", Arc::new(StringArray::from_iter_values(reading.clone().map(|read| &read.name)))),
        ("position", Arc::new(UInt64Array::from_iter_values(reading.clone().map(|read| read.position)))),
        ("offset", Arc::new(UInt64Array::from_iter_values(reading.clone().map(|read| read.carry.offset)))),
        ("watermark", Arc::new(Int64Array::from_iter_values(reading.map(|read| read.carry.watermark.0)))),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}

impl Resumed {
    /// What snapshots have left.
    ///
    /// # Errors
    /// `Data` if it is something else.
    pub(crate) fn from_state(mut state: State) -> Result<Self> {
        let granted = state.take_numbers("granted")?.first().map_or(Watermark::MIN, |&ms| Watermark(ms));
        let (mut read, mut carries) = (vec![], BTreeMap::new());
        for batch in state.take("ended")? {
            let names = column(&batch, 0)?.as_string_opt::<i32>().ok_or_else(unknown)?;
            read.extend(names.iter().flatten().map(|name| ReadPartition {
                name: name.into(),
                position: None,
                until: None,
            }));
        }
        for batch in state.take("reading")? {
            let names = column(&batch, 0)?.as_string_opt::<i32>().ok_or_else(unknown)?;
            let positions = column(&batch, 1)?.as_primitive_opt::<UInt64Type>().ok_or_else(unknown)?;
            let offsets = column(&batch, 2)?.as_primitive_opt::<UInt64Type>().ok_or_else(unknown)?;
            let watermarks = column(&batch, 3)?.as_primitive_opt::<Int64Type>().ok_or_else(unknown)?;
            for (row, name) in names.iter().flatten().enumerate() {
                let name: Arc<str> = name.into();
                let carry = Carry { offset: offsets.value(row), watermark: Watermark(watermarks.value(row)) };
                let position = Some(positions.value(row));
                read.push(ReadPartition { name: Arc::clone(&name), position, until: None });
                carries.insert(name, carry);
            }
        }
        state.finish()?;
        Ok(Self { read: read.into(), carries, granted })
    }
}

fn column(batch: &RecordBatch, index: usize) -> Result<&ArrayRef> {
    batch.columns().get(index).ok_or_else(unknown)
}

fn unknown() -> Error {
    Error::data("the state of a source has columns that are not known here")
}

#[cfg(test)]
mod tests;
