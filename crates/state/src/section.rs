//! The form of state at rest: sections, each a run of Arrow batches.
//!
//! An operator says at each barrier what has changed since the barrier before (the *delta* of the epoch): batches that a
//! section has got, a section that is written anew, a section that is gone. Whoever keeps the snapshots need not know
//! what the batches mean, and whoever restores them reads each section's batches in their order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use tidemill_core::{Error, Result};

/// The name of a part of an operator's state: a word, and a number that tells those with the same word apart (the pane
/// that begins then, a page of a table).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Section {
    /// What it holds.
    pub name: Cow<'static, str>,
    /// Which of those.
    pub number: i64,
}

impl Section {
    /// The section `name` number `number`.
    #[must_use]
    pub const fn new(name: &'static str, number: i64) -> Self {
        Self { name: Cow::Borrowed(name), number }
    }
}

impl From<&'static str> for Section {
    /// Of what there is only one.
    fn from(name: &'static str) -> Self {
        Self::new(name, 0)
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.number)
    }
}

/// What became of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It has got a batch more.
    Append(RecordBatch),
    /// It is these batches now.
    Replace(Vec<RecordBatch>),
    /// It is gone.
    Remove,
}

/// What has changed in an operator's state, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateChanges {
    changes: Vec<(Section, Change)>,
}

impl StateChanges {
    /// Adds a batch at the end of a section, which need not exist yet. Batches of no rows are left out.
    pub fn append(&mut self, section: impl Into<Section>, rows: RecordBatch) {
        if rows.num_rows() > 0 {
            self.changes.push((section.into(), Change::Append(rows)));
        }
    }

    /// Writes a section anew.
    pub fn replace(&mut self, section: impl Into<Section>, batches: Vec<RecordBatch>) {
        self.changes.push((section.into(), Change::Replace(batches)));
    }

    /// Drops a section; nothing happens if it does not exist.
    pub fn remove(&mut self, section: impl Into<Section>) {
        self.changes.push((section.into(), Change::Remove));
    }

    /// Writes a section of numbers anew.
    pub fn replace_numbers(
        &mut self,
        section: impl Into<Section>,
        numbers: impl IntoIterator<Item = i64>,
    ) -> Result<()> {
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers));
        let schema = Schema::new(vec![Field::new("number", DataType::Int64, false)]);
        self.replace(section, vec![RecordBatch::try_new(Arc::new(schema), vec![column])?]);
        Ok(())
    }

    /// Whether nothing has changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes, in order.
    pub fn into_changes(self) -> impl Iterator<Item = (Section, Change)> {
        self.changes.into_iter()
    }
}

/// An operator's state as its snapshots have left it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    sections: BTreeMap<Section, Vec<RecordBatch>>,
}

impl State {
    /// Applies the changes of the next snapshot.
    pub fn apply(&mut self, changes: StateChanges) {
        for (section, change) in changes.into_changes() {
            match change {
                Change::Append(batch) => self.sections.entry(section).or_default().push(batch),
                Change::Replace(batches) => drop(self.sections.insert(section, batches)),
                Change::Remove => drop(self.sections.remove(&section)),
            }
        }
    }

    /// Puts a section in place that was read.
    pub(crate) fn insert(&mut self, section: Section, batches: Vec<RecordBatch>) {
        self.sections.insert(section, batches);
    }

    /// Takes out the batches of a section; none if it does not exist.
    pub fn take(&mut self, section: impl Into<Section>) -> Vec<RecordBatch> {
        self.sections.remove(&section.into()).unwrap_or_default()
    }

    /// Takes out all sections called `name`, by their numbers.
    pub fn take_all(&mut self, name: &str) -> Vec<(i64, Vec<RecordBatch>)> {
        let taken = self.sections.extract_if(.., |section, _| section.name == name);
        taken.map(|(section, batches)| (section.number, batches)).collect()
    }

    /// Takes out a section of numbers.
    ///
    /// # Errors
    /// `Data` if it holds something else.
    pub fn take_numbers(&mut self, section: impl Into<Section>) -> Result<Vec<i64>> {
        let section = section.into();
        let batches = self.take(section.clone());
        let mut numbers = vec![];
        for batch in batches {
            let column = batch.columns().first().and_then(|column| column.as_primitive_opt::<Int64Type>());
            let column = column.ok_or_else(|| Error::data(format!("the section '{section}' holds no numbers")))?;
            numbers.extend_from_slice(column.values());
        }
        Ok(numbers)
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Makes sure that everything was taken.
    ///
    /// # Errors
    /// `Data`, with the name of a section that nobody knew.
    pub fn finish(self) -> Result<()> {
        match self.sections.first_key_value() {
            None => Ok(()),
            Some((section, _)) => Err(Error::data(format!("the section '{section}' of the state is not known here"))),
        }
    }
}

#[cfg(test)]
mod tests;
