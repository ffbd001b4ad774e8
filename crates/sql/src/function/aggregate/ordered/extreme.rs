//! The first or the last row of each group, for `FIRST_VALUE` and `LAST_VALUE`.

use std::sync::Arc;

use arrow::{
    array::{ArrayRef, UInt64Array},
    compute::take,
};
use datafusion::common::Result;

use super::{
    entries::{Encoded, Encoder, Entry},
    kept_columns,
};
use crate::function::aggregate::grouped::{Grouped, Rows, not_retractable};

/// Which row is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

pub(super) struct Extreme {
    end: End,
    encoder: Arc<Encoder>,
    entries: Vec<Option<Entry>>,
    heap_bytes: usize,
}

impl Extreme {
    pub(super) fn new(end: End, encoder: Encoder) -> Self {
        Self { end, encoder: Arc::new(encoder), entries: Vec::new(), heap_bytes: 0 }
    }

    /// Takes in rows whose columns are the keys, then the value.
    fn offer(&mut self, columns: &[ArrayRef], rows: &Rows<'_>) -> Result<()> {
        let encoded = self.encoder.encode(columns)?;
        let value = &columns[self.encoder.key_count..];
        let present = Rows { values: value, groups: rows.groups, filter: rows.filter };
        let (end, entries, mut heap_bytes) = (self.end, &mut self.entries[..], self.heap_bytes);
        present.for_each(|row, group| {
            let kept = &mut entries[group];
            if kept.as_ref().is_none_or(|kept| wins(end, &encoded, row, kept)) {
                let entry = encoded.entry(row);
                heap_bytes += entry.heap_bytes();
                heap_bytes -= kept.replace(entry).map_or(0, |old| old.heap_bytes());
            }
        });
        self.heap_bytes = heap_bytes;
        Ok(())
    }

    /// The columns of the first `n` groups: the keys, then the value; NULL for a group without one.
    fn columns(&self, n: usize) -> Result<Vec<ArrayRef>> {
        let mut next = 0..;
        let places: UInt64Array =
            self.entries[..n].iter().map(|entry| entry.as_ref().and_then(|_| next.next())).collect();
        let present: Vec<&Entry> = self.entries[..n].iter().flatten().collect();
        let columns = self.encoder.columns(&present)?;
        Ok(columns.iter().map(|column| take(column, &places, None)).collect::<Result<_, _>>()?)
    }
}

/// Whether the row comes before (or after) the one that is kept.
fn wins(end: End, encoded: &Encoded, row: usize, kept: &Entry) -> bool {
    let (new, old) = ((encoded.key(row), encoded.value(row)), (&*kept.key, &*kept.value));
    match end {
        End::First => new < old,
        End::Last => new > old,
    }
}

impl Grouped for Extreme {
    fn fresh(&self) -> Box<dyn Grouped> {
        Box::new(Self { end: self.end, encoder: Arc::clone(&self.encoder), entries: Vec::new(), heap_bytes: 0 })
    }

    fn resize(&mut self, groups: usize) {
        if groups > self.entries.len() {
            self.entries.resize(groups, None);
        }
    }

    fn update(&mut self, rows: &Rows<'_>) -> Result<()> {
        self.offer(&kept_columns(rows.values, self.encoder.key_count), rows)
    }

    fn retract(&mut self, _rows: &Rows<'_>) -> Result<()> {
        not_retractable(if self.end == End::First { "first_value" } else { "last_value" })
    }

    fn retractable(&self) -> bool {
        false
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        self.offer(states, &Rows { values: states, groups, filter: None })
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn results(&self, n: usize) -> Result<ArrayRef> {
        Ok(self.columns(n)?.swap_remove(self.encoder.key_count))
    }

    fn states(&mut self, n: usize) -> Result<Vec<ArrayRef>> {
        self.columns(n)
    }

    fn drop_first(&mut self, n: usize) -> Result<()> {
        self.heap_bytes -= self.entries.drain(..n).flatten().map(|entry| entry.heap_bytes()).sum::<usize>();
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.entries.capacity() * size_of::<Option<Entry>>() + self.heap_bytes
    }
}
