//! The elements of several arrays in one place, for functions that make their result of them.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, UInt64Array};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::{concat, take};
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, Rows, SortField};
use datafusion::common::{Result, internal_err};

use super::data_error;
use crate::function::aggregate::unambiguous;

/// The elements of all arguments, by one index.
pub(super) struct Pool {
    pub(super) values: ArrayRef,
    parts: Vec<Part>,
}

/// Where the elements of an argument stand in the pool.
struct Part {
    /// `None` where the argument is an element itself, one in each row.
    lists: Option<ListArray>,
    start: usize,
}

impl Pool {
    /// Of arguments that are arrays, or elements of their type.
    pub(super) fn new<'a>(arguments: impl IntoIterator<Item = (&'a ArrayRef, Holds)>) -> Result<Self> {
        let (mut parts, mut values, mut start) = (vec![], vec![], 0);
        for (argument, holds) in arguments {
            let lists = match holds {
                Holds::Elements => Some(argument.as_list::<i32>().clone()),
                Holds::Element => None,
            };
            let elements = lists.as_ref().map_or_else(|| Arc::clone(argument), |lists| Arc::clone(lists.values()));
            parts.push(Part { lists, start });
            start += elements.len();
            values.push(elements);
        }
        let values = match &values[..] {
            [one] => Arc::clone(one),
            several => concat(&several.iter().map(|values| &**values).collect::<Vec<_>>())?,
        };
        Ok(Self { values, parts })
    }

    /// Of arguments that are all arrays.
    pub(super) fn of_arrays(arguments: &[ArrayRef]) -> Result<Self> {
        Self::new(arguments.iter().map(|argument| (argument, Holds::Elements)))
    }

    /// Of an array and an element.
    pub(super) fn with_element(array: &ArrayRef, element: &ArrayRef) -> Result<Self> {
        Self::new([(array, Holds::Elements), (element, Holds::Element)])
    }

    /// The elements of an argument in a row; `None` where the array is NULL.
    pub(super) fn elements(&self, argument: usize, row: usize) -> Option<Range<usize>> {
        let Part { lists, start } = &self.parts[argument];
        let Some(lists) = lists else { return Some(start + row..start + row + 1) };
        let offset = |row: usize| start + usize::try_from(lists.value_offsets()[row]).unwrap_or(0);
        lists.is_valid(row).then(|| offset(row)..offset(row + 1))
    }

    /// The elements as bytes that are equal where they are, and sort as they do; NULL equals NULL and comes first.
    pub(super) fn encoded(&self) -> Result<Rows> {
        encoded(&self.values)
    }

    /// An array for each row, of the elements that are picked for it; NULL where `pick` gives `None`.
    pub(super) fn arrays(
        &self,
        output: &DataType,
        rows: usize,
        mut pick: impl FnMut(usize, &mut Vec<usize>) -> Option<()>,
    ) -> Result<ArrayRef> {
        let DataType::List(element) = output else { return internal_err!("an array of type {output}") };
        let (mut picked, mut lengths, mut valid) = (vec![], vec![], vec![]);
        for row in 0..rows {
            let before = picked.len();
            let is_valid = pick(row, &mut picked).is_some();
            if !is_valid {
                picked.truncate(before);
            }
            valid.push(is_valid);
            lengths.push(picked.len() - before);
        }
        let values = self.at(picked.into_iter().map(Some))?;
        let (offsets, nulls) = (offsets(&lengths)?, Some(NullBuffer::from(valid)));
        Ok(Arc::new(ListArray::try_new(Arc::clone(element), offsets, values, nulls)?))
    }

    /// An element for each row; NULL where `pick` gives `None`.
    pub(super) fn picked(&self, rows: usize, pick: impl FnMut(usize) -> Option<usize>) -> Result<ArrayRef> {
        self.at((0..rows).map(pick))
    }

    fn at(&self, indices: impl Iterator<Item = Option<usize>>) -> Result<ArrayRef> {
        let indices: UInt64Array = indices.map(|index| index.map(|index| index as u64)).collect();
        Ok(take(&self.values, &indices, None)?)
    }
}

/// What an argument is to a pool.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holds {
    Elements,
    Element,
}

/// Values as bytes that are equal where they are, and sort as they do.
pub(super) fn encoded(values: &ArrayRef) -> Result<Rows> {
    let values = unambiguous(values);
    let converter = RowConverter::new(vec![SortField::new(values.data_type().clone())])?;
    Ok(converter.convert_columns(&[values])?)
}

/// Where lists of these lengths begin and end.
pub(super) fn offsets(lengths: &[usize]) -> Result<OffsetBuffer<i32>> {
    let (mut end, mut offsets) = (0_usize, Vec::with_capacity(lengths.len() + 1));
    offsets.push(0);
    for length in lengths {
        end += length;
        let offset = i32::try_from(end).map_err(|_| {
            data_error("the arrays of one batch have more than 2147483647 elements", "make smaller arrays")
        })?;
        offsets.push(offset);
    }
    Ok(OffsetBuffer::new(ScalarBuffer::from(offsets)))
}
