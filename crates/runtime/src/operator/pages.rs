//! How a table of numbered slots is kept in snapshots without ever being written whole.
//!
//! ```text
//! slots   0 ──── page 0 ──── n │ ──── page 1 ──── 2n │ ...
//! saved   rows, newer behind older; the last one of a slot counts
//! ```
//!
//! A snapshot appends the rows of slots that have changed to the section of their page. A page is written anew when more
//! of its rows are outdated than not, and no more pages at a time than make up for what is appended: so what is saved
//! stays below about twice the table, and no snapshot takes long.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::interleave_record_batch;
use arrow::datatypes::{SchemaRef, UInt32Type};
use tidemill_core::{Error, Result};
use tidemill_state::Section;

/// How many slots share a section.
const PAGE_SLOTS: usize = if cfg!(test) { 16 } else { 32 * 1024 };

/// A page is left as it is while it has no more than so many outdated rows more than present ones.
const SLACK_ROWS: usize = if cfg!(test) { 4 } else { 512 };

/// What a snapshot does with a page.
#[derive(Debug, PartialEq)]
pub(crate) enum PageChange {
    /// Appends the rows of these slots.
    Append(Vec<usize>),
    /// Writes the rows of all slots.
    Anew,
}

/// The pages of a table, and its slots that have changed since the last snapshot.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    rows: PageRows<usize>,
    /// Before the first snapshot nothing is noted: that one tells all.
    noted: bool,
    changed: Vec<usize>,
    /// By slot: whether it is among the changed.
    is_changed: Vec<bool>,
}

impl Pages {
    /// The page that a slot is in.
    pub(crate) fn page_of(slot: usize) -> usize {
        slot / PAGE_SLOTS
    }

    /// The slots of a page, in a table of so many.
    pub(crate) fn slots(page: usize, count: usize) -> Range<usize> {
        count.min(page * PAGE_SLOTS)..count.min((page + 1) * PAGE_SLOTS)
    }

    /// How many pages a table of so many slots has.
    pub(crate) fn count(slots: usize) -> usize {
        slots.div_ceil(PAGE_SLOTS)
    }

    /// A slot has changed.
    pub(crate) fn touch(&mut self, slot: usize) {
        if !self.noted {
            return;
        }
        if self.is_changed.len() <= slot {
            self.is_changed.resize(slot + 1, false);
        }
        if !std::mem::replace(&mut self.is_changed[slot], true) {
            self.changed.push(slot);
        }
    }

    /// The snapshots have left so many rows of the slots of a page.
    pub(crate) fn restore(&mut self, page: usize, rows: usize) {
        self.noted = true;
        self.rows.add(page, rows);
    }

    /// What the next snapshot has to tell, by page, of a table of `count` slots; `live` counts the rows that there are
    /// of some slots.
    pub(crate) fn take(&mut self, count: usize, live: impl Fn(Range<usize>) -> usize) -> BTreeMap<usize, PageChange> {
        if !self.noted {
            self.noted = true;
            (0..count).for_each(|slot| self.touch(slot));
        }
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.iter().for_each(|&slot| self.is_changed[slot] = false);
        let by_page = changed.chunk_by(|a, b| Self::page_of(*a) == Self::page_of(*b));
        let mut pages: BTreeMap<usize, PageChange> =
            by_page.map(|slots| (Self::page_of(slots[0]), PageChange::Append(slots.to_vec()))).collect();
        let appended = pages.iter().map(|(page, change)| match change {
            PageChange::Append(slots) => (*page, slots.len()),
            PageChange::Anew => (*page, 0),
        });
        let appended = appended.collect();
        let anew = self.rows.take(&appended, |page| live(Self::slots(page, count)));
        pages.extend(anew.into_iter().map(|page| (page, PageChange::Anew)));
        pages
    }
}

/// The last row of each slot of a page, in the order of the slots, if it `is_there`. A row's slot is its first column, a
/// `UInt32`; all columns are those of `schema`.
///
/// # Errors
/// `Data` if a slot is in another page.
pub(crate) fn last_rows(
    page: &Section,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    is_there: impl Fn(&RecordBatch, usize) -> bool,
) -> Result<RecordBatch> {
    let mut places: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (index, batch) in batches.iter().enumerate() {
        for (row, &slot) in batch.column(0).as_primitive::<UInt32Type>().values().iter().enumerate() {
            if Pages::page_of(slot as usize) as i64 != page.number {
                return Err(Error::data(format!("the section '{page}' of the state holds what is of another page")));
            }
            places.insert(slot, (index, row));
        }
    }
    places.retain(|_, (index, row)| is_there(&batches[*index], *row));
    if places.is_empty() {
        return Ok(RecordBatch::new_empty(Arc::clone(schema)));
    }
    let places: Vec<(usize, usize)> = places.into_values().collect();
    Ok(interleave_record_batch(&batches.iter().collect::<Vec<_>>(), &places)?)
}

/// How many rows the snapshots have of each page.
#[derive(Debug)]
pub(crate) struct PageRows<P> {
    rows: BTreeMap<P, usize>,
    /// Pages that were due to be written anew when others were more so.
    overdue: BTreeSet<P>,
}

impl<P> Default for PageRows<P> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), overdue: BTreeSet::new() }
    }
}

impl<P: Copy + Ord> PageRows<P> {
    /// A page has got rows.
    pub(crate) fn add(&mut self, page: P, rows: usize) {
        *self.rows.entry(page).or_default() += rows;
    }

    /// A page is gone.
    pub(crate) fn remove(&mut self, page: P) {
        self.rows.remove(&page);
        self.overdue.remove(&page);
    }

    /// The pages that are written anew by a snapshot which would append so many rows to each; `live` tells how many a
    /// page then has. The others get theirs appended.
    pub(crate) fn take(&mut self, appended: &BTreeMap<P, usize>, live: impl Fn(P) -> usize) -> Vec<P> {
        appended.iter().for_each(|(&page, &rows)| self.add(page, rows));
        let mut due: Vec<(usize, P, usize)> = vec![];
        for page in std::mem::take(&mut self.overdue).into_iter().chain(appended.keys().copied()) {
            let (rows, live) = (self.rows.get(&page).copied().unwrap_or(0), live(page));
            if rows > 2 * live + SLACK_ROWS || (live == 0 && rows > 0) {
                due.push((rows - live, page, live));
            }
        }
        due.sort_unstable();
        due.dedup();
        // What is written anew frees as much at least: this keeps step with what is appended.
        let mut left = appended.values().sum::<usize>().max(1);
        let mut anew = vec![];
        for (_, page, live) in due.into_iter().rev() {
            match left {
                0 if live > 0 => drop(self.overdue.insert(page)),
                _ => {
                    self.rows.insert(page, live);
                    anew.push(page);
                }
            }
            left = left.saturating_sub(live);
        }
        anew
    }
}

#[cfg(test)]
mod tests;
