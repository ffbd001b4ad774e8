//! All rows of each group, sorted, and how often each came.
//!
//! The state of a group is a list for each kept column, and one of the counts.

use std::{collections::BTreeMap, iter, sync::Arc};

use arrow::{
    array::{Array, ArrayRef, AsArray, Int64Array, LargeListArray},
    buffer::OffsetBuffer,
    datatypes::{DataType, Field, FieldRef, Int64Type},
};
use datafusion::common::{Result, exec_err};

use super::{
    entries::{Encoder, Entry},
    finish::Finish,
    kept_columns,
};
use crate::function::aggregate::{
    expect_array,
    grouped::{Grouped, Rows},
};

/// The memory of an entry in the tree, beside its bytes.
const ENTRY_BYTES: usize = size_of::<Entry>() + size_of::<i64>() + 16;

/// The rows of one group.
pub(super) type Counts = BTreeMap<Entry, i64>;

/// How often a row counts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Frequency {
    One,
    /// As often as this argument says; not at all where it is NULL or below one.
    Argument(usize),
}

pub(super) struct Multiset {
    encoder: Arc<Encoder>,
    finish: Finish,
    frequency: Frequency,
    /// NULL is kept too.
    nulls: bool,
    /// A value counts once, at its first place.
    distinct: bool,
    groups: Vec<Counts>,
    heap_bytes: usize,
}

/// The field of a list of the state.
pub(super) fn item(data_type: DataType) -> FieldRef {
    Arc::new(Field::new_list_field(data_type, true))
}

impl Multiset {
    pub(super) fn new(encoder: Encoder, finish: Finish, frequency: Frequency, nulls: bool, distinct: bool) -> Self {
        let encoder = Arc::new(encoder);
        Self { encoder, finish, frequency, nulls, distinct, groups: Vec::new(), heap_bytes: 0 }
    }

    /// Counts rows whose columns are the keys, then the value.
    fn count(&mut self, columns: &[ArrayRef], rows: &Rows<'_>, times: impl Fn(usize) -> i64) -> Result<()> {
        let encoded = self.encoder.encode(columns)?;
        let value = if self.nulls { &[][..] } else { &columns[self.encoder.key_count..] };
        let counted = Rows { values: value, groups: rows.groups, filter: rows.filter };
        let (groups, mut heap_bytes) = (&mut self.groups[..], self.heap_bytes);
        counted.for_each(|row, group| {
            let times = times(row);
            if times == 0 {
                return;
            }
            let (entry, group) = (encoded.entry(row), &mut groups[group]);
            let bytes = ENTRY_BYTES + entry.heap_bytes();
            match group.entry(entry) {
                std::collections::btree_map::Entry::Vacant(new) => {
                    new.insert(times);
                    heap_bytes += bytes;
                }
                std::collections::btree_map::Entry::Occupied(mut known) => {
                    *known.get_mut() = known.get().saturating_add(times);
                    if *known.get() == 0 {
                        known.remove();
                        heap_bytes -= bytes;
                    }
                }
            }
        });
        self.heap_bytes = heap_bytes;
        Ok(())
    }

    fn count_rows(&mut self, rows: &Rows<'_>, sign: i64) -> Result<()> {
        let columns = kept_columns(rows.values, self.encoder.key_count);
        match self.frequency {
            Frequency::One => self.count(&columns, rows, |_| sign),
            Frequency::Argument(index) => {
                let frequencies = expect_array(rows.values[index].as_primitive_opt::<Int64Type>())?;
                let times = |row| if frequencies.is_valid(row) { frequencies.value(row).max(0) } else { 0 };
                self.count(&columns, rows, |row| sign * times(row))
            }
        }
    }

    /// Leaves the first of the entries that have the same value, once.
    fn remove_repeats(&mut self) {
        for group in &mut self.groups {
            let mut seen = std::collections::HashSet::new();
            let mut freed = 0;
            group.retain(|entry, count| {
                *count = 1;
                let first = seen.insert(entry.value.clone());
                freed += if first { 0 } else { ENTRY_BYTES + entry.heap_bytes() };
                first
            });
            self.heap_bytes -= freed;
        }
    }
}

impl Grouped for Multiset {
    fn fresh(&self) -> Box<dyn Grouped> {
        Box::new(Self {
            encoder: Arc::clone(&self.encoder),
            finish: self.finish.clone(),
            frequency: self.frequency,
            nulls: self.nulls,
            distinct: self.distinct,
            groups: Vec::new(),
            heap_bytes: 0,
        })
    }

    fn resize(&mut self, groups: usize) {
        if groups > self.groups.len() {
            self.groups.resize_with(groups, Counts::new);
        }
    }

    fn update(&mut self, rows: &Rows<'_>) -> Result<()> {
        self.count_rows(rows, 1)
    }

    fn retract(&mut self, rows: &Rows<'_>) -> Result<()> {
        self.count_rows(rows, -1)
    }

    fn retractable(&self) -> bool {
        !self.distinct
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        let lists = states.iter().map(|state| expect_array(state.as_list_opt::<i64>())).collect::<Result<Vec<_>>>()?;
        let [columns @ .., counts] = &lists[..] else { return exec_err!("a state of kept rows has no list") };
        if columns.iter().any(|list| !list.offsets().lengths().eq(counts.offsets().lengths())) {
            return exec_err!("a state of kept rows has lists of several lengths");
        }
        let entry_groups: Vec<usize> = iter::zip(counts.offsets().lengths(), groups)
            .flat_map(|(length, &group)| iter::repeat_n(group, length))
            .collect();
        let entries = |list: &LargeListArray| list.values().slice(list.value_offsets()[0] as usize, entry_groups.len());
        let columns: Vec<ArrayRef> = columns.iter().map(|list| entries(list)).collect();
        let counts = entries(counts);
        let counts = expect_array(counts.as_primitive_opt::<Int64Type>())?;
        let rows = Rows { values: &columns, groups: &entry_groups, filter: None };
        self.count(&columns, &rows, |row| counts.value(row))
    }

    fn len(&self) -> usize {
        self.groups.len()
    }

    fn results(&self, n: usize) -> Result<ArrayRef> {
        self.finish.results(&self.groups[..n], self.distinct, &self.encoder)
    }

    fn states(&mut self, n: usize) -> Result<Vec<ArrayRef>> {
        if self.distinct {
            self.remove_repeats();
        }
        let groups = &self.groups[..n];
        let entries: Vec<&Entry> = groups.iter().flat_map(BTreeMap::keys).collect();
        let counts = Int64Array::from_iter_values(groups.iter().flat_map(|group| group.values().copied()));
        let offsets: OffsetBuffer<i64> = OffsetBuffer::from_lengths(groups.iter().map(BTreeMap::len));
        let mut columns = self.encoder.columns(&entries)?;
        columns.push(Arc::new(counts));
        let list = |column: ArrayRef| -> Result<ArrayRef> {
            let item = item(column.data_type().clone());
            Ok(Arc::new(LargeListArray::try_new(item, offsets.clone(), column, None)?))
        };
        columns.into_iter().map(list).collect()
    }

    fn drop_first(&mut self, n: usize) -> Result<()> {
        let dropped = self.groups.drain(..n).flat_map(BTreeMap::into_keys);
        self.heap_bytes -= dropped.map(|entry| ENTRY_BYTES + entry.heap_bytes()).sum::<usize>();
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.groups.capacity() * size_of::<Counts>() + self.heap_bytes
    }
}
