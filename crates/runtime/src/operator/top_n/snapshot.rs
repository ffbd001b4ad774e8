//! What a Top-N's snapshots hold: its rows, as a log of how many more or fewer there are of each.
//!
//! The log is kept in parts: the rows of a window, which go with it, or else those of a shard of the partitions. A part of
//! which more is outdated than not is written anew.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, Schema, SchemaRef, TimestampMillisecondType};
use arrow::row::OwnedRow;
use tidemill_core::{Error, Result};
use tidemill_state::{Section, State, StateChanges};

use super::TopN;
use super::partitions::{Key, Partition, Partitions, Ranked, SHARDS};
use crate::operator::fitting;
use crate::operator::hands::{Hands, to_take_up};
use crate::operator::pages::PageRows;

/// By part: rows, and how many more there are of each.
const ROWS: &str = "rows";

/// What has changed since the last snapshot. Before the first, nothing is noted: that one tells all.
#[derive(Debug, Default)]
pub(super) struct Unsaved {
    noted: bool,
    /// By part and row: how many more there are.
    changed: BTreeMap<i64, HashMap<OwnedRow, i64>>,
    /// Windows that are complete.
    gone: Vec<i64>,
    /// How many different rows each part has.
    different: BTreeMap<i64, usize>,
    saved: PageRows<i64>,
}

/// Where the changes of one partition are noted, if they are.
pub(super) struct Changes<'a>(Option<(&'a mut HashMap<OwnedRow, i64>, &'a mut usize)>);

impl Unsaved {
    pub(super) fn changes(&mut self, key: &Key, window_end_ms: Option<i64>) -> Changes<'_> {
        if !self.noted {
            return Changes(None);
        }
        let part = part(key, window_end_ms);
        Changes(Some((self.changed.entry(part).or_default(), self.different.entry(part).or_default())))
    }

    pub(super) fn window_gone(&mut self, end_ms: i64) {
        if self.noted {
            self.changed.remove(&end_ms);
            self.different.remove(&end_ms);
            self.saved.remove(end_ms);
            self.gone.push(end_ms);
        }
    }
}

impl Changes<'_> {
    /// There are so many more of this row.
    pub(super) fn count(&mut self, (_, row): &Ranked, more: i64) {
        let Some((changed, _)) = &mut self.0 else { return };
        match changed.entry(row.clone()) {
            Entry::Occupied(entry) if *entry.get() == -more => drop(entry.remove()),
            entry => *entry.or_insert(0) += more,
        }
    }

    /// The row was pushed out for good. Where a snapshot has it, it is pushed out again of what that leaves.
    pub(super) fn forget(&mut self, (_, row): &Ranked) {
        if let Some((changed, _)) = &mut self.0 {
            changed.remove(row);
        }
    }

    /// The partition had so many different rows, and now has others.
    pub(super) fn held(&mut self, before: usize, now: usize) {
        if let Some((_, different)) = &mut self.0 {
            **different = **different + now - before;
        }
    }
}

/// The window's end, or the shard.
fn part(key: &Key, window_end_ms: Option<i64>) -> i64 {
    window_end_ms.unwrap_or_else(|| Partitions::shard_of(key) as i64)
}

impl TopN {
    pub(super) fn save(&mut self, changes: &mut StateChanges) -> Result<()> {
        for end_ms in std::mem::take(&mut self.unsaved.gone) {
            changes.remove(Section::new(ROWS, end_ms));
        }
        if !self.unsaved.noted {
            return self.save_all(changes);
        }
        let mut changed = std::mem::take(&mut self.unsaved.changed);
        changed.retain(|_, rows| !rows.is_empty());
        let appended = changed.iter().map(|(part, rows)| (*part, rows.len())).collect();
        let different = &self.unsaved.different;
        let anew = self.unsaved.saved.take(&appended, |part| different.get(&part).copied().unwrap_or(0));
        for part in anew {
            changed.remove(&part);
            self.save_part(part, changes)?;
        }
        for (part, rows) in changed {
            changes.append(Section::new(ROWS, part), self.log(rows.iter().map(|(row, more)| (row, *more)))?);
        }
        Ok(())
    }

    fn save_all(&mut self, changes: &mut StateChanges) -> Result<()> {
        let parts: Vec<i64> = match self.spec.window_end {
            Some(_) => self.windows.keys().copied().collect(),
            None => (0..SHARDS as i64).collect(),
        };
        self.unsaved.noted = true;
        for part in parts {
            let different = self.part(part).iter().map(|partition| partition.rows.len()).sum();
            self.unsaved.different.insert(part, different);
            self.unsaved.saved.add(part, different);
            self.save_part(part, changes)?;
        }
        Ok(())
    }

    /// The partitions of a part.
    fn part(&self, part: i64) -> Vec<&Partition> {
        match self.spec.window_end {
            Some(_) => {
                let keys = self.windows.get(&part).into_iter().flatten();
                keys.filter_map(|key| self.partitions.get(key)).collect()
            }
            None => self.partitions.shard(part as usize).collect(),
        }
    }

    fn save_part(&self, part: i64, changes: &mut StateChanges) -> Result<()> {
        let partitions = self.part(part);
        let rows = partitions.iter().flat_map(|partition| &partition.rows);
        let log = self.log(rows.map(|((_, row), count)| (row, *count as i64)))?;
        match log.num_rows() {
            0 => changes.remove(Section::new(ROWS, part)),
            _ => changes.replace(Section::new(ROWS, part), vec![log]),
        }
        Ok(())
    }

    /// Rows, and how many more there are of each.
    fn log<'a>(&self, rows: impl Iterator<Item = (&'a OwnedRow, i64)>) -> Result<RecordBatch> {
        let (rows, more): (Vec<&OwnedRow>, Vec<i64>) = rows.unzip();
        let mut columns = self.row.convert_rows(rows.iter().map(|row| row.row()))?;
        columns.push(Arc::new(Int64Array::from(more)));
        Ok(RecordBatch::try_new(self.log_schema(), columns)?)
    }

    fn log_schema(&self) -> SchemaRef {
        let columns = &self.spec.schema.fields()[..self.spec.schema.fields().len() - 1];
        let more: FieldRef = Arc::new(Field::new("more", DataType::Int64, false));
        Arc::new(Schema::new(columns.iter().cloned().chain([more]).collect::<Vec<_>>()))
    }

    pub(super) fn load(&mut self, state: State) -> Result<()> {
        self.load_all(vec![state])?;
        self.unsaved.noted = true;
        Ok(())
    }

    /// Takes up logs of different partitions.
    fn load_all(&mut self, states: Vec<State>) -> Result<()> {
        states.into_iter().try_for_each(|state| self.load_log(state))?;
        self.partitions.forget_empty();
        if self.spec.window_end.is_none() {
            // A barrier leaves nothing that was not emitted.
            let limit = self.spec.limit;
            self.partitions.all_mut().for_each(|partition| partition.emitted = partition.first(limit));
        }
        Ok(())
    }

    fn load_log(&mut self, mut state: State) -> Result<()> {
        for (part, log) in state.take_all(ROWS)? {
            for rows in fitting(ROWS, log, &self.log_schema())? {
                self.load_rows(part, &rows)?;
                self.unsaved.saved.add(part, rows.num_rows());
            }
        }
        state.finish()
    }

    /// Takes up the states of several as a new one would have it: no snapshot has any of it.
    pub(super) fn load_anew(&mut self, states: Vec<State>) -> Result<()> {
        self.load_all(to_take_up(states, self.partition_key.is_some())?)?;
        self.unsaved = Unsaved::default();
        Ok(())
    }

    /// Deals the logs by the partitions of their rows.
    pub(super) fn deal_log(&self, state: &mut State, hands: &mut Hands<'_>) -> Result<()> {
        let schema = self.log_schema();
        for (part, log) in state.take_all(ROWS)? {
            let rows = concat_batches(&schema, &fitting(ROWS, log, &schema)?)?;
            let key: Vec<ArrayRef> =
                self.spec.partition.iter().map(|&column| Arc::clone(rows.column(column))).collect();
            hands.by_key(&Section::new(ROWS, part), &rows, &key)?;
        }
        Ok(())
    }

    fn load_rows(&mut self, number: i64, log: &RecordBatch) -> Result<()> {
        let (columns, more): (&[ArrayRef], &ArrayRef) = match log.columns() {
            [columns @ .., more] => (columns, more),
            [] => return Ok(()),
        };
        let converted = self.converted(columns)?;
        let more = more.as_primitive::<Int64Type>();
        let ends = self.spec.window_end.map(|c| columns[c].as_primitive::<TimestampMillisecondType>());
        for index in 0..log.num_rows() {
            let (key, ranked) = converted.row(index);
            let end_ms = ends.map(|ends| ends.value(index));
            let damaged =
                |what| Error::data(format!("the section '{}' of the state {what}", Section::new(ROWS, number)));
            if part(&key, end_ms) != number {
                return Err(damaged("holds a row of another"));
            }
            let partition = self.partitions.entry(key.clone());
            let different = partition.rows.len();
            let count = partition.rows.remove(&ranked).unwrap_or(0) as i64 + more.value(index);
            match usize::try_from(count) {
                Ok(0) => {}
                Ok(count) => drop(partition.rows.insert(ranked, count)),
                Err(_) => return Err(damaged("takes away a row that it has not got")),
            }
            partition.push_out(&self.spec);
            let now = partition.rows.len();
            let of_part = self.unsaved.different.entry(number).or_default();
            *of_part = *of_part + now - different;
            if let Some(end_ms) = end_ms {
                self.windows.entry(end_ms).or_default().insert(key);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
