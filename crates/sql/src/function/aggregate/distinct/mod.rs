//! `COUNT(DISTINCT ...)`, `SUM(DISTINCT ...)` and `AVG(DISTINCT ...)`: exact, whatever the order of the rows.
//!
//! A value is let through to the function the first time that its group sees it. Two values are one if they are equal,
//! where `-0.0` equals `0.0` and NaN equals NaN. A row is left out if any argument is NULL. The state of a group lists
//! its values, a list for each argument; states are merged by letting their values through again.

mod pairs;
#[cfg(test)]
mod tests;
mod values;

use std::{iter, sync::Arc};

use arrow::{
    array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, LargeListArray, UInt64Array},
    buffer::{BooleanBuffer, OffsetBuffer},
    compute::take,
    datatypes::{DataType, Field, FieldRef},
};
use datafusion::{
    common::{Result, exec_err, plan_err},
    logical_expr::{function::StateFieldsArgs, utils::format_state_name},
};

use super::{
    expect_array, flink_type_name,
    grouped::{Grouped, Rows, not_retractable},
};
use pairs::Pairs;
pub(crate) use values::unambiguous;
use values::{Values, comparable};

/// The columns of a state.
pub(super) fn state_fields(args: &StateFieldsArgs<'_>) -> Vec<FieldRef> {
    let name = |i: usize| format_state_name(args.name, &format!("distinct{i}"));
    let field = |(i, argument): (usize, &FieldRef)| {
        Arc::new(Field::new(name(i), DataType::LargeList(item(argument.data_type())), false))
    };
    args.input_fields.iter().enumerate().map(field).collect()
}

/// The field of a list's values.
fn item(data_type: &DataType) -> FieldRef {
    Arc::new(Field::new_list_field(data_type.clone(), true))
}

/// A function over the distinct values of groups 0, 1, 2, ...
pub(super) struct DistinctGroups {
    name: &'static str,
    values: Values,
    pairs: Pairs,
    /// The function of one argument that gets the values; `None` counts them.
    function: Option<Box<dyn Grouped>>,
    /// The numbers of a batch's values: scratch space.
    numbers: Vec<usize>,
}

impl DistinctGroups {
    /// `COUNT(DISTINCT ...)` of arguments of these types.
    pub(super) fn count(arguments: &[FieldRef]) -> Result<Self> {
        Self::new("count", arguments, None)
    }

    /// The function `name` of the distinct values of its argument.
    pub(super) fn of(name: &'static str, argument: &FieldRef, function: Box<dyn Grouped>) -> Result<Self> {
        Self::new(name, std::slice::from_ref(argument), Some(function))
    }

    fn new(name: &'static str, arguments: &[FieldRef], function: Option<Box<dyn Grouped>>) -> Result<Self> {
        if arguments.is_empty() {
            return plan_err!("{}(DISTINCT ...) takes at least one argument", name.to_uppercase());
        }
        if let Some(argument) = arguments.iter().find(|argument| !comparable(argument.data_type())) {
            let (name, type_name) = (name.to_uppercase(), flink_type_name(argument.data_type()));
            return plan_err!(
                "{name}(DISTINCT {}): values of type {type_name} cannot be told apart yet; name their parts instead",
                argument.name()
            );
        }
        let values = Values::new(arguments.iter().map(|argument| argument.data_type().clone()));
        Ok(Self { name, values, pairs: Pairs::default(), function, numbers: Vec::new() })
    }

    /// Takes in rows that all count.
    fn add(&mut self, columns: &[ArrayRef], groups: &[usize]) -> Result<()> {
        if groups.is_empty() {
            return Ok(());
        }
        self.values.intern(columns, &mut self.numbers)?;
        self.pairs.check_room(self.values.len())?;
        let (pairs, numbers) = (&mut self.pairs, &self.numbers);
        match &mut self.function {
            None => iter::zip(groups, numbers).for_each(|(&group, &number)| {
                pairs.insert(group, number);
            }),
            Some(function) => {
                let first_seen =
                    BooleanBuffer::collect_bool(groups.len(), |row| pairs.insert(groups[row], numbers[row]));
                let first_seen = BooleanArray::new(first_seen, None);
                function.update(&Rows { values: columns, groups, filter: Some(&first_seen) })?;
            }
        }
        Ok(())
    }

    fn lists(&self, offsets: &OffsetBuffer<i64>, columns: Vec<ArrayRef>) -> Result<Vec<ArrayRef>> {
        let list = |(column, data_type)| -> Result<ArrayRef> {
            Ok(Arc::new(LargeListArray::try_new(item(data_type), offsets.clone(), column, None)?))
        };
        iter::zip(columns, self.values.types()).map(list).collect()
    }
}

impl Grouped for DistinctGroups {
    fn fresh(&self) -> Box<dyn Grouped> {
        Box::new(Self {
            name: self.name,
            values: self.values.fresh(),
            pairs: Pairs::default(),
            function: self.function.as_ref().map(|function| function.fresh()),
            numbers: Vec::new(),
        })
    }

    fn resize(&mut self, groups: usize) {
        self.pairs.resize(groups);
        if let Some(function) = &mut self.function {
            function.resize(groups);
        }
    }

    fn update(&mut self, rows: &Rows<'_>) -> Result<()> {
        let (columns, groups) = rows.counted()?;
        let columns: Vec<ArrayRef> = columns.iter().map(unambiguous).collect();
        self.add(&columns, &groups)
    }

    fn retract(&mut self, _rows: &Rows<'_>) -> Result<()> {
        not_retractable(self.name)
    }

    fn retractable(&self) -> bool {
        false
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        let lists = states.iter().map(|state| expect_array(state.as_list_opt::<i64>())).collect::<Result<Vec<_>>>()?;
        let [first, others @ ..] = &lists[..] else { return exec_err!("a state of DISTINCT values has no list") };
        if others.iter().any(|list| !list.offsets().lengths().eq(first.offsets().lengths())) {
            return exec_err!("a state of DISTINCT values has lists of several lengths");
        }
        let value_groups: Vec<usize> = iter::zip(first.offsets().lengths(), groups)
            .flat_map(|(length, &group)| iter::repeat_n(group, length))
            .collect();
        let values: Vec<ArrayRef> = lists
            .iter()
            .map(|list| list.values().slice(list.value_offsets()[0] as usize, value_groups.len()))
            .collect();
        self.update(&Rows { values: &values, groups: &value_groups, filter: None })
    }

    fn row_states(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows: Vec<usize> = (0..values[0].len()).collect();
        let (columns, counted) = Rows { values, groups: &rows, filter }.counted()?;
        let mut lengths = vec![0; rows.len()];
        counted.iter().for_each(|&row| lengths[row] = 1);
        self.lists(&OffsetBuffer::from_lengths(lengths), columns.iter().map(unambiguous).collect())
    }

    fn len(&self) -> usize {
        self.pairs.counts().len()
    }

    fn results(&self, n: usize) -> Result<ArrayRef> {
        match &self.function {
            None => Ok(Arc::new(Int64Array::from(self.pairs.counts()[..n].to_vec()))),
            Some(function) => function.results(n),
        }
    }

    fn states(&mut self, n: usize) -> Result<Vec<ArrayRef>> {
        let (offsets, numbers) = self.pairs.lists(n);
        let numbers = UInt64Array::from(numbers);
        let columns =
            self.values.read()?.iter().map(|column| take(column, &numbers, None)).collect::<Result<_, _>>()?;
        self.lists(&OffsetBuffer::new(offsets.into()), columns)
    }

    fn drop_first(&mut self, n: usize) -> Result<()> {
        self.pairs.drop_first(n);
        if self.pairs.wasteful() {
            let remaining = self.pairs.compact(self.values.len());
            self.values.retain(remaining)?;
        }
        match &mut self.function {
            None => Ok(()),
            Some(function) => function.drop_first(n),
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.values.bytes()
            + self.pairs.bytes()
            + self.function.as_ref().map_or(0, |function| function.bytes())
            + self.numbers.capacity() * size_of::<usize>()
    }
}
