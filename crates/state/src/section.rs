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

use crate::spill::{SpillFolder, SpillWriter, SpilledRows};

/// Files of spilled rows may have so many bytes that are of no use any more, beside as many as are.
const SLACK_BYTES: u64 = 1 << 20;

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

impl Section {
    fn under(self, prefix: &str) -> Self {
        Self { name: format!("{prefix}/{}", self.name).into(), number: self.number }
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

/// A batch of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Rows {
    /// In memory.
    Here(RecordBatch),
    /// In a file.
    Spilled(SpilledRows),
}

impl Rows {
    /// The batch, read if need be.
    ///
    /// # Errors
    /// As [`SpilledRows::read`].
    pub fn read(self) -> Result<RecordBatch> {
        match self {
            Self::Here(batch) => Ok(batch),
            Self::Spilled(rows) => rows.read(),
        }
    }

    /// How many bytes it takes, in memory or in the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Here(batch) => batch.get_array_memory_size() as u64,
            Self::Spilled(rows) => rows.length(),
        }
    }

    fn spilled(self, file: &mut SpillWriter) -> Result<Self> {
        match self {
            Self::Here(batch) => Ok(Self::Spilled(file.write(&batch)?)),
            Self::Spilled(_) => Ok(self),
        }
    }
}

/// What became of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It has got a batch more.
    Append(Rows),
    /// It has got a batch of rows that take the place of earlier ones with the same key ([`crate::upserts`]).
    Upsert(Rows),
    /// It is these batches now.
    Replace(Vec<Rows>),
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
            self.changes.push((section.into(), Change::Append(Rows::Here(rows))));
        }
    }

    /// Adds a batch of keys with their values at the end of a section that has only such ([`crate::upserts`]). Whoever
    /// keeps the state may drop the rows that later ones make obsolete.
    pub fn upsert(&mut self, section: impl Into<Section>, rows: RecordBatch) {
        if rows.num_rows() > 0 {
            self.changes.push((section.into(), Change::Upsert(Rows::Here(rows))));
        }
    }

    /// Writes a section anew.
    pub fn replace(&mut self, section: impl Into<Section>, batches: Vec<RecordBatch>) {
        self.replace_rows(section, batches.into_iter().map(Rows::Here).collect());
    }

    /// Writes a section anew with rows that may be in files.
    pub fn replace_rows(&mut self, section: impl Into<Section>, rows: Vec<Rows>) {
        self.changes.push((section.into(), Change::Replace(rows)));
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

    /// Adds changes that come after these.
    pub fn extend(&mut self, later: Self) {
        self.changes.extend(later.changes);
    }

    /// The same changes of sections whose names begin with `prefix`.
    #[must_use]
    pub fn under(self, prefix: &str) -> Self {
        let changes = self.changes.into_iter().map(|(section, change)| (section.under(prefix), change)).collect();
        Self { changes }
    }

    /// The same changes, with their rows in a new file of the folder instead of in memory.
    ///
    /// # Errors
    /// `Unavailable` if they can't be written.
    pub fn spilled(self, folder: &SpillFolder) -> Result<Self> {
        let has_rows = |change: &Change| match change {
            Change::Append(Rows::Here(_)) | Change::Upsert(Rows::Here(_)) => true,
            Change::Replace(rows) => rows.iter().any(|rows| matches!(rows, Rows::Here(_))),
            Change::Append(Rows::Spilled(_)) | Change::Upsert(Rows::Spilled(_)) | Change::Remove => false,
        };
        if !self.changes.iter().any(|(_, change)| has_rows(change)) {
            return Ok(self);
        }
        let mut file = folder.file()?;
        let mut changes = Vec::with_capacity(self.changes.len());
        for (section, change) in self.changes {
            let change = match change {
                Change::Append(rows) => Change::Append(rows.spilled(&mut file)?),
                Change::Upsert(rows) => Change::Upsert(rows.spilled(&mut file)?),
                Change::Replace(rows) => {
                    Change::Replace(rows.into_iter().map(|rows| rows.spilled(&mut file)).collect::<Result<_>>()?)
                }
                Change::Remove => Change::Remove,
            };
            changes.push((section, change));
        }
        Ok(Self { changes })
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
    sections: BTreeMap<Section, Vec<Rows>>,
}

impl State {
    /// Applies the changes of the next snapshot.
    pub fn apply(&mut self, changes: StateChanges) {
        for (section, change) in changes.into_changes() {
            match change {
                Change::Append(rows) | Change::Upsert(rows) => self.sections.entry(section).or_default().push(rows),
                Change::Replace(rows) => drop(self.sections.insert(section, rows)),
                Change::Remove => drop(self.sections.remove(&section)),
            }
        }
    }

    /// Puts a section in place that was read.
    pub(crate) fn insert(&mut self, section: Section, rows: Vec<Rows>) {
        self.sections.insert(section, rows);
    }

    /// Takes out the batches of a section; none if it does not exist.
    ///
    /// # Errors
    /// If they are in a file that can't be read.
    pub fn take(&mut self, section: impl Into<Section>) -> Result<Vec<RecordBatch>> {
        self.take_rows(section).into_iter().map(Rows::read).collect()
    }

    /// Takes out the batches of a section, and reads none.
    pub fn take_rows(&mut self, section: impl Into<Section>) -> Vec<Rows> {
        self.sections.remove(&section.into()).unwrap_or_default()
    }

    /// Takes out all sections called `name`, by their numbers.
    ///
    /// # Errors
    /// If they are in a file that can't be read.
    pub fn take_all(&mut self, name: &str) -> Result<Vec<(i64, Vec<RecordBatch>)>> {
        let read = |rows: Vec<Rows>| rows.into_iter().map(Rows::read).collect::<Result<_>>();
        self.take_all_rows(name).map(|(number, rows)| Ok((number, read(rows)?))).collect()
    }

    /// Takes out the sections called `name`, by their numbers, each when it is asked for, and reads none: so nobody has to
    /// have the rows of two in memory.
    pub fn take_all_rows(&mut self, name: &str) -> impl Iterator<Item = (i64, Vec<Rows>)> {
        let taken = self.sections.extract_if(.., move |section, _| section.name == name);
        taken.map(|(section, rows)| (section.number, rows))
    }

    /// Takes out the sections that [`StateChanges::under`] has put under `prefix`, as they were called before.
    #[must_use]
    pub fn take_under(&mut self, prefix: &str) -> Self {
        let own =
            |section: &Section| section.name.strip_prefix(prefix).and_then(|name| name.strip_prefix('/')).is_some();
        let taken = self.sections.extract_if(.., |section, _| own(section));
        let unprefixed = |section: Section| {
            let name = section.name[prefix.len() + 1..].to_owned();
            Section { name: name.into(), number: section.number }
        };
        Self { sections: taken.map(|(section, rows)| (unprefixed(section), rows)).collect() }
    }

    /// The changes that make it of nothing.
    #[must_use]
    pub fn changes(&self) -> StateChanges {
        let all = |(section, rows): (&Section, &Vec<Rows>)| (section.clone(), Change::Replace(rows.clone()));
        StateChanges { changes: self.sections.iter().map(all).collect() }
    }

    /// Whether it has a section of that name and number.
    #[must_use]
    pub fn has(&self, section: impl Into<Section>) -> bool {
        self.sections.contains_key(&section.into())
    }

    pub(crate) fn sections(&self) -> impl Iterator<Item = (&Section, &Vec<Rows>)> {
        self.sections.iter()
    }

    /// All its batches.
    pub fn rows(&self) -> impl Iterator<Item = &Rows> {
        self.sections.values().flatten()
    }

    /// How many bytes its batches take, in memory or in files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.rows().map(Rows::bytes).sum()
    }

    /// Puts what is in memory into a file of the folder.
    ///
    /// # Errors
    /// `Unavailable` if it can't be written.
    pub fn spilled(self, folder: &SpillFolder) -> Result<Self> {
        let mut state = Self::default();
        state.apply(self.changes().spilled(folder)?);
        Ok(state)
    }

    /// Writes its rows to one new file, if the files that they are in hold more that is of no use than these rows, and
    /// [`SLACK_BYTES`].
    ///
    /// # Errors
    /// `Unavailable` if they can't be read or written.
    pub fn compact(&mut self, folder: &SpillFolder) -> Result<()> {
        let spilled = self.rows().filter_map(|rows| if let Rows::Spilled(rows) = rows { Some(rows) } else { None });
        let (mut files, mut used) = (BTreeMap::new(), 0);
        for rows in spilled {
            let (file, bytes) = rows.file();
            files.insert(file, bytes);
            used += rows.length();
        }
        if files.values().sum::<u64>() <= 2 * used + SLACK_BYTES {
            return Ok(());
        }
        let mut file = folder.file()?;
        for rows in self.sections.values_mut().flatten() {
            if let Rows::Spilled(spilled) = rows {
                *spilled = file.copy(spilled)?;
            }
        }
        Ok(())
    }

    /// Takes out a section of numbers.
    ///
    /// # Errors
    /// `Data` if it holds something else.
    pub fn take_numbers(&mut self, section: impl Into<Section>) -> Result<Vec<i64>> {
        let section = section.into();
        let batches = self.take(section.clone())?;
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
