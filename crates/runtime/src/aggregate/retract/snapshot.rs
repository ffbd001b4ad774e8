//! What the snapshots of groups that take rows back hold: of each its number of rows, its result and its accumulators'
//! states, in pages.
//!
//! A group that is gone keeps its place in the table of keys, which can't remove one. Snapshots need not: groups have
//! numbers of their own there, which are used again.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array, new_empty_array,
};
use arrow::compute::{concat_batches, take};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, Schema, SchemaRef, UInt32Type};
use datafusion::common::ScalarValue;
use tidemill_core::{Error, Result};
use tidemill_state::{Section, State, StateChanges};

use super::super::slots::Slots;
use super::{Group, RetractGroup, accumulators};
use crate::engine_error;
use crate::operator::fitting;
use crate::operator::hands::{Hands, to_take_up};
use crate::operator::pages::{PageChange, Pages, last_rows};

/// By page: numbers of groups, and what there is of each; NULL where there is none any more.
const GROUPS: &str = "groups";

/// The numbers that snapshots know groups by, and which of them have changed since the last.
#[derive(Debug, Default)]
pub(super) struct Unsaved {
    /// Before the first snapshot nothing is noted: that one tells all.
    noted: bool,
    pages: Pages,
    /// By number: its group.
    groups: Vec<Option<usize>>,
    /// By group: its number.
    numbers: Vec<Option<usize>>,
    free: Vec<usize>,
}

impl Unsaved {
    /// These groups have changed. The ones that are there have a result.
    pub(super) fn note(&mut self, groups: &[usize], results: &Slots) {
        if !self.noted {
            return;
        }
        for &group in groups {
            if self.numbers.len() <= group {
                self.numbers.resize(group + 1, None);
            }
            match (self.numbers[group], results.is_set(group)) {
                (Some(number), true) => self.pages.touch(number),
                (None, true) => self.number(group),
                (Some(number), false) => {
                    self.pages.touch(number);
                    self.numbers[group] = None;
                    self.groups[number] = None;
                    self.free.push(number);
                }
                (None, false) => {}
            }
        }
    }

    fn number(&mut self, group: usize) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.groups.push(None);
            self.groups.len() - 1
        });
        self.groups[number] = Some(group);
        self.numbers[group] = Some(number);
        self.pages.touch(number);
    }

    /// A group has this number in the snapshots.
    fn restore(&mut self, number: usize, group: usize) {
        self.groups.resize(self.groups.len().max(number + 1), None);
        self.numbers.resize(self.numbers.len().max(group + 1), None);
        self.groups[number] = Some(group);
        self.numbers[group] = Some(number);
    }
}

impl RetractGroup {
    pub(super) fn save(&mut self, changes: &mut StateChanges) -> Result<()> {
        if !self.unsaved.noted {
            self.unsaved.noted = true;
            self.unsaved.note(&(0..self.results.len()).collect::<Vec<_>>(), &self.results);
        }
        let schema = self.saved_schema(&self.state_types()?);
        let (groups, count) = (&self.unsaved.groups, self.unsaved.groups.len());
        let live = |numbers: std::ops::Range<usize>| groups[numbers].iter().flatten().count();
        for (page, change) in self.unsaved.pages.take(count, live) {
            let section = Section::new(GROUPS, page as i64);
            match change {
                PageChange::Append(numbers) => changes.append(section, self.saved(&numbers, &schema)?),
                PageChange::Anew => {
                    let used = |number: &usize| self.unsaved.groups[*number].is_some();
                    let numbers: Vec<usize> = Pages::slots(page, count).filter(used).collect();
                    match numbers.is_empty() {
                        true => changes.remove(section),
                        false => changes.replace(section, vec![self.saved(&numbers, &schema)?]),
                    }
                }
            }
        }
        Ok(())
    }

    /// The number, the number of rows, the result and the states of each.
    fn saved(&mut self, numbers: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
        let present: Vec<usize> = numbers.iter().filter_map(|&number| self.unsaved.groups[number]).collect();
        let mut columns: Vec<ArrayRef> = vec![];
        columns.push(Arc::new(Int64Array::from_iter_values(present.iter().map(|&group| self.groups[group].rows))));
        columns.extend(self.results.get(&present)?.columns().iter().cloned());
        for call in 0..self.aggregation.calls.len() {
            let states = present.iter().map(|&group| self.groups[group].accumulators[call].state());
            let states = states.collect::<Result<Vec<_>, _>>().map_err(engine_error)?;
            for state in 0..states.first().map_or(0, Vec::len) {
                let values = states.iter().map(|states| states[state].clone());
                columns.push(ScalarValue::iter_to_array(values).map_err(engine_error)?);
            }
        }
        if present.is_empty() {
            columns = schema.fields()[1..].iter().map(|field| new_empty_array(field.data_type())).collect();
        }
        // Where there is nothing any more, NULL.
        let mut places = 0u32..;
        let places: UInt32Array =
            numbers.iter().map(|&number| self.unsaved.groups[number].and_then(|_| places.next())).collect();
        let columns = columns.iter().map(|column| take(column, &places, None)).collect::<Result<Vec<_>, _>>()?;
        let numbers: ArrayRef =
            Arc::new(numbers.iter().map(|&number| u32::try_from(number).ok()).collect::<UInt32Array>());
        Ok(RecordBatch::try_new(Arc::clone(schema), std::iter::once(numbers).chain(columns).collect())?)
    }

    /// The types of the states of each aggregate.
    fn state_types(&self) -> Result<Vec<Vec<DataType>>> {
        let mut types = vec![];
        for mut accumulator in accumulators(&self.aggregation)? {
            types.push(accumulator.state().map_err(engine_error)?.iter().map(ScalarValue::data_type).collect());
        }
        Ok(types)
    }

    fn saved_schema(&self, states: &[Vec<DataType>]) -> SchemaRef {
        let field = |name: String, data_type: DataType| -> FieldRef { Arc::new(Field::new(name, data_type, true)) };
        let mut fields = vec![Arc::new(Field::new("number", DataType::UInt32, false))];
        fields.push(field("rows".to_owned(), DataType::Int64));
        fields.extend(self.schema.fields().iter().map(|f| Arc::new(f.as_ref().clone().with_nullable(true))));
        fields.extend(states.concat().into_iter().enumerate().map(|(i, state)| field(format!("state{i}"), state)));
        Arc::new(Schema::new(fields))
    }

    pub(super) fn load(&mut self, state: State) -> Result<()> {
        self.load_pages(state)?;
        let groups = &self.unsaved.groups;
        self.unsaved.free = (0..groups.len()).filter(|&number| groups[number].is_none()).collect();
        self.unsaved.noted = true;
        Ok(())
    }

    /// Takes up the states of several as a new one would have it: no snapshot has any of it.
    pub(super) fn load_anew(&mut self, states: Vec<State>) -> Result<()> {
        let states = to_take_up(states, self.keys.is_some())?;
        states.into_iter().try_for_each(|state| self.load_pages(state))?;
        self.unsaved = Unsaved::default();
        Ok(())
    }

    pub(super) fn deal_groups(&self, state: &mut State, hands: &mut Hands<'_>) -> Result<()> {
        let schema = self.saved_schema(&self.state_types()?);
        let mut pages = vec![];
        for (page, batches) in state.take_all(GROUPS)? {
            pages.push(present(page, &schema, &fitting(GROUPS, batches, &schema)?)?);
        }
        let rows = concat_batches(&schema, &pages)?;
        let key = &rows.columns()[2..2 + self.aggregation.groups.len()];
        let dealt = hands.dealer().deal(&rows, key)?;
        hands.give_tables(GROUPS, dealt.into_iter().map(numbered).collect::<Result<_>>()?);
        Ok(())
    }

    fn load_pages(&mut self, mut state: State) -> Result<()> {
        let states = self.state_types()?;
        let schema = self.saved_schema(&states);
        let widths: Vec<usize> = states.iter().map(Vec::len).collect();
        for (page, batches) in state.take_all(GROUPS)? {
            let batches = fitting(GROUPS, batches, &schema)?;
            let groups = present(page, &schema, &batches)?;
            self.unsaved.pages.restore(page as usize, batches.iter().map(RecordBatch::num_rows).sum());
            if groups.num_rows() > 0 {
                self.load_groups(&groups, &widths)?;
            }
        }
        state.finish()
    }

    /// `saved`: groups that are there, each once. `widths`: how many columns the state of each aggregate has.
    fn load_groups(&mut self, saved: &RecordBatch, widths: &[usize]) -> Result<()> {
        let (sidecars, columns) = saved.columns().split_at(2);
        let (results, states) = columns.split_at(self.schema.fields().len());
        let known = self.groups.len();
        let mut groups = vec![0; saved.num_rows()];
        if let Some(keys) = &mut self.keys {
            keys.intern(&results[..self.aggregation.groups.len()], &mut groups).map_err(engine_error)?;
        }
        if !groups.iter().copied().eq(known..known + saved.num_rows()) {
            return Err(damaged("holds a group twice"));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(saved.num_rows()));
        let results = RecordBatch::try_new_with_options(Arc::clone(&self.schema), results.to_vec(), &options);
        self.results.set(&groups, results.map_err(|e| damaged("holds NULL where none can be").because(e))?)?;
        let (numbers, rows) = (sidecars[0].as_primitive::<UInt32Type>(), sidecars[1].as_primitive::<Int64Type>());
        for (row, &group) in groups.iter().enumerate() {
            let mut accumulators = accumulators(&self.aggregation)?;
            let mut states = states;
            for (accumulator, width) in accumulators.iter_mut().zip(widths) {
                let (own, rest) = states.split_at(*width);
                states = rest;
                let own: Vec<ArrayRef> = own.iter().map(|column| column.slice(row, 1)).collect();
                accumulator.merge_batch(&own).map_err(engine_error)?;
            }
            self.groups.push(Group { rows: rows.value(row), accumulators });
            self.unsaved.restore(numbers.value(row) as usize, group);
        }
        Ok(())
    }
}

/// The groups of a page that are there, each once, in the order of their numbers.
fn present(page: i64, schema: &SchemaRef, batches: &[RecordBatch]) -> Result<RecordBatch> {
    last_rows(&Section::new(GROUPS, page), schema, batches, |batch, row| batch.column(1).is_valid(row))
}

/// The same groups with the numbers from 0.
fn numbered(rows: RecordBatch) -> Result<RecordBatch> {
    let numbers: ArrayRef = Arc::new(UInt32Array::from_iter_values((0..).take(rows.num_rows())));
    let columns = std::iter::once(numbers).chain(rows.columns()[1..].iter().cloned()).collect();
    Ok(RecordBatch::try_new(rows.schema(), columns)?)
}

fn damaged(what: &str) -> Error {
    Error::data(format!("the section '{GROUPS}' of the state {what}"))
}

#[cfg(test)]
mod tests;
