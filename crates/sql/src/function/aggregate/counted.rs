//! Values that may be taken back: all of them, in order, each with its count.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Int64Type};
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, exec_err};

use super::expect_array;

/// Values of one group, with their counts.
#[derive(Debug)]
pub(super) struct CountedValues {
    data_type: DataType,
    /// Makes bytes that sort as the values do.
    order: RowConverter,
    counts: BTreeMap<OwnedRow, i64>,
}

impl CountedValues {
    pub(super) fn new(data_type: &DataType) -> Result<Self> {
        let order = RowConverter::new(vec![SortField::new(data_type.clone())])?;
        Ok(Self { data_type: data_type.clone(), order, counts: BTreeMap::new() })
    }

    /// Calls `each` with the key of every value that is not NULL, and its row.
    fn for_each(
        &mut self,
        values: &ArrayRef,
        mut each: impl FnMut(&mut BTreeMap<OwnedRow, i64>, OwnedRow, usize),
    ) -> Result<()> {
        let values = one_nan_and_one_zero(values);
        let keys = self.order.convert_columns(std::slice::from_ref(&values))?;
        for row in (0..values.len()).filter(|&row| values.is_valid(row)) {
            each(&mut self.counts, keys.row(row).owned(), row);
        }
        Ok(())
    }

    pub(super) fn add(&mut self, values: &ArrayRef) -> Result<()> {
        self.for_each(values, |counts, key, _| *counts.entry(key).or_default() += 1)
    }

    pub(super) fn take_back(&mut self, values: &ArrayRef) -> Result<()> {
        let mut unknown = false;
        self.for_each(values, |counts, key, _| match counts.get_mut(&key) {
            Some(1) => drop(counts.remove(&key)),
            Some(count) => *count -= 1,
            None => unknown = true,
        })?;
        if unknown { exec_err!("a value is taken back that did not come") } else { Ok(()) }
    }

    /// How many different ones there are.
    pub(super) fn different(&self) -> usize {
        self.counts.len()
    }

    /// The smallest; NULL if there is none.
    pub(super) fn first(&self) -> Result<ScalarValue> {
        self.value(self.counts.first_key_value())
    }

    /// The largest; NULL if there is none.
    pub(super) fn last(&self) -> Result<ScalarValue> {
        self.value(self.counts.last_key_value())
    }

    fn value(&self, entry: Option<(&OwnedRow, &i64)>) -> Result<ScalarValue> {
        match entry {
            Some((key, _)) => ScalarValue::try_from_array(&self.order.convert_rows([key.row()])?[0], 0),
            None => ScalarValue::try_from(&self.data_type),
        }
    }

    /// The values, and their counts: two lists.
    pub(super) fn state(&self) -> Result<Vec<ScalarValue>> {
        let values = self.order.convert_rows(self.counts.keys().map(OwnedRow::row))?.swap_remove(0);
        let counts = Arc::new(Int64Array::from_iter_values(self.counts.values().copied()));
        Ok(vec![list(values)?, list(counts)?])
    }

    /// Takes in what [`CountedValues::state`] gave.
    pub(super) fn merge(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [values, counts] = states else {
            return Err(exec_datafusion_err!("a state of counted values has {} columns", states.len()));
        };
        let (values, counts) = (expect_array(values.as_list_opt::<i32>())?, expect_array(counts.as_list_opt::<i32>())?);
        for row in (0..values.len()).filter(|&row| values.is_valid(row)) {
            let of_values = counts.value(row);
            let of_values = expect_array(of_values.as_primitive_opt::<Int64Type>())?;
            if of_values.len() != values.value_length(row) as usize {
                return exec_err!("a state of counted values has not a count for each");
            }
            self.for_each(&values.value(row), |counts, key, row| {
                *counts.entry(key).or_default() += of_values.value(row);
            })?;
        }
        Ok(())
    }

    /// The memory in use.
    pub(super) fn bytes(&self) -> usize {
        let key_bytes = self.counts.first_key_value().map_or(0, |(key, _)| key.as_ref().len());
        size_of::<Self>() + self.counts.len() * (size_of::<(OwnedRow, i64)>() + key_bytes)
    }
}

fn list(values: ArrayRef) -> Result<ScalarValue> {
    let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([values.len()]);
    Ok(ScalarValue::List(Arc::new(ListArray::try_new(item, offsets, values, None)?)))
}

/// Floats by an order that leaves no pair undecided: NaN above all, `-0.0` as `0.0`.
fn one_nan_and_one_zero(values: &ArrayRef) -> ArrayRef {
    match values.data_type() {
        DataType::Float64 => Arc::new(
            values
                .as_primitive::<Float64Type>()
                .unary::<_, Float64Type>(|v| if v.is_nan() { f64::NAN } else { v + 0.0 }),
        ),
        DataType::Float32 => Arc::new(
            values
                .as_primitive::<Float32Type>()
                .unary::<_, Float32Type>(|v| if v.is_nan() { f32::NAN } else { v + 0.0 }),
        ),
        _ => Arc::clone(values),
    }
}
