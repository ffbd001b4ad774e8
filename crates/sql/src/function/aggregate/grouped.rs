//! One implementation of a function, two faces: DataFusion's vectorized accumulator and its row-wise one.

use std::borrow::Cow;

use arrow::{
    array::{Array, ArrayRef, BooleanArray},
    buffer::{BooleanBuffer, NullBuffer},
    compute::filter,
};
use datafusion::{
    common::{Result, ScalarValue, not_impl_err},
    logical_expr::{Accumulator, EmitTo, GroupsAccumulator},
};

/// The rows to be taken in: a column of values for each argument, and the group of each row.
pub(crate) struct Rows<'a> {
    pub values: &'a [ArrayRef],
    pub groups: &'a [usize],
    /// `FILTER (WHERE ...)`: a row counts where this is true.
    pub filter: Option<&'a BooleanArray>,
}

/// Columns without the rows that do not count, and the group of each row.
type Counted<'a> = (Cow<'a, [ArrayRef]>, Cow<'a, [usize]>);

impl<'a> Rows<'a> {
    /// Calls `each` with every row that has no NULL and is not filtered out, and its group.
    #[inline]
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, usize)) {
        match self.selected() {
            None => self.groups.iter().enumerate().for_each(|(row, &group)| each(row, group)),
            Some(rows) => rows.set_indices().for_each(|row| each(row, self.groups[row])),
        }
    }

    fn selected(&self) -> Option<BooleanBuffer> {
        let kept = self.filter.map(|filter| match filter.nulls() {
            Some(nulls) => filter.values() & nulls.inner(),
            None => filter.values().clone(),
        });
        let present = self.values.iter().filter_map(|values| values.logical_nulls()).map(NullBuffer::into_inner);
        kept.into_iter().chain(present).reduce(|some, others| &some & &others)
    }

    /// The rows that have no NULL and are not filtered out.
    pub(super) fn counted(&self) -> Result<Counted<'a>> {
        match self.selected() {
            Some(rows) if rows.count_set_bits() < rows.len() => {
                let groups = rows.set_indices().map(|row| self.groups[row]).collect();
                let rows = BooleanArray::new(rows, None);
                let columns = self.values.iter().map(|column| filter(column, &rows)).collect::<Result<_, _>>()?;
                Ok((Cow::Owned(columns), Cow::Owned(groups)))
            }
            _ => Ok((Cow::Borrowed(self.values), Cow::Borrowed(self.groups))),
        }
    }
}

/// The states of a function for groups 0, 1, 2, ...
pub(crate) trait Grouped: Send + Sync {
    /// The same function with no groups.
    fn fresh(&self) -> Box<dyn Grouped>;

    /// Makes room for so many groups.
    fn resize(&mut self, groups: usize);

    /// Takes rows in.
    fn update(&mut self, rows: &Rows<'_>) -> Result<()>;

    /// Takes rows back that came before.
    fn retract(&mut self, rows: &Rows<'_>) -> Result<()>;

    /// Whether [`Grouped::retract`] works.
    fn retractable(&self) -> bool;

    /// Takes in what [`Grouped::states`] gave.
    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()>;

    /// The state of each row alone.
    fn row_states(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows: Vec<usize> = (0..values[0].len()).collect();
        let mut each = self.fresh();
        each.resize(rows.len());
        each.update(&Rows { values, groups: &rows, filter })?;
        each.states(rows.len())
    }

    /// How many groups there are.
    fn len(&self) -> usize;

    /// The results of the first `n` groups, which stay.
    fn results(&self, n: usize) -> Result<ArrayRef>;

    /// The states of the first `n` groups, which stay.
    fn states(&mut self, n: usize) -> Result<Vec<ArrayRef>>;

    /// Forgets the first `n` groups, and numbers the others from 0.
    fn drop_first(&mut self, n: usize) -> Result<()>;

    /// The memory in use.
    fn bytes(&self) -> usize;
}

/// The vectorized face.
pub(crate) struct Vectorized(pub Box<dyn Grouped>);

impl Vectorized {
    fn emit<T>(&mut self, emit_to: EmitTo, read: impl FnOnce(&mut dyn Grouped, usize) -> Result<T>) -> Result<T> {
        let n = match emit_to {
            EmitTo::All => self.0.len(),
            EmitTo::First(n) => n,
        };
        let out = read(&mut *self.0, n)?;
        match emit_to {
            EmitTo::All => self.0 = self.0.fresh(),
            EmitTo::First(n) => self.0.drop_first(n)?,
        }
        Ok(out)
    }
}

impl GroupsAccumulator for Vectorized {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.0.resize(total);
        self.0.update(&Rows { values, groups, filter })
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.0.resize(total);
        self.0.merge(states, groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        self.emit(emit_to, |groups, n| groups.results(n))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.emit(emit_to, |groups, n| groups.states(n))
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.0.row_states(values, filter)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.0.bytes()
    }
}

/// The row-wise face: one group, read as often as asked.
pub(crate) struct OneGroup {
    group: Box<dyn Grouped>,
    zeros: Vec<usize>,
}

impl OneGroup {
    pub(crate) fn new(mut group: Box<dyn Grouped>) -> Self {
        group.resize(1);
        Self { group, zeros: Vec::new() }
    }

    /// The group and the group number of each of so many rows.
    fn with_zeros(&mut self, rows: usize) -> (&mut dyn Grouped, &[usize]) {
        if self.zeros.len() < rows {
            self.zeros.resize(rows, 0);
        }
        (&mut *self.group, &self.zeros[..rows])
    }
}

impl std::fmt::Debug for OneGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OneGroup").finish_non_exhaustive()
    }
}

impl Accumulator for OneGroup {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (group, groups) = self.with_zeros(values[0].len());
        group.update(&Rows { values, groups, filter: None })
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (group, groups) = self.with_zeros(values[0].len());
        group.retract(&Rows { values, groups, filter: None })
    }

    fn supports_retract_batch(&self) -> bool {
        self.group.retractable()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (group, groups) = self.with_zeros(states[0].len());
        group.merge(states, groups)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&self.group.results(1)?, 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.group.states(1)?.iter().map(|state| ScalarValue::try_from_array(state, 0)).collect()
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.zeros.capacity() * size_of::<usize>() + self.group.bytes()
    }
}

/// What a function answers that keeps too little to take a row back.
pub(crate) fn not_retractable(function: &str) -> Result<()> {
    not_impl_err!("{} cannot take a row back", function.to_uppercase())
}
