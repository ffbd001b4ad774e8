//! The smallest or largest of values that may be taken back: all of them, in order, each with its count.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::{Result, ScalarValue, exec_err, not_impl_err};
use datafusion::logical_expr::Accumulator;

use super::End;

/// Values of one group, with their counts.
#[derive(Debug)]
pub(super) struct CountedValues {
    end: End,
    data_type: DataType,
    /// Makes bytes that sort as the values do.
    order: RowConverter,
    counts: BTreeMap<OwnedRow, i64>,
}

impl CountedValues {
    pub(super) fn new(end: End, data_type: &DataType) -> Result<Self> {
        let order = RowConverter::new(vec![SortField::new(data_type.clone())])?;
        Ok(Self { end, data_type: data_type.clone(), order, counts: BTreeMap::new() })
    }

    /// Calls `each` with the key of every value that is not NULL.
    fn for_each(
        &mut self,
        values: &[ArrayRef],
        mut each: impl FnMut(&mut BTreeMap<OwnedRow, i64>, OwnedRow),
    ) -> Result<()> {
        let values = one_nan_and_one_zero(&values[0]);
        let keys = self.order.convert_columns(std::slice::from_ref(&values))?;
        for row in (0..values.len()).filter(|&row| values.is_valid(row)) {
            each(&mut self.counts, keys.row(row).owned());
        }
        Ok(())
    }
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

impl Accumulator for CountedValues {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.for_each(values, |counts, key| *counts.entry(key).or_default() += 1)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let mut unknown = false;
        self.for_each(values, |counts, key| match counts.get_mut(&key) {
            Some(1) => drop(counts.remove(&key)),
            Some(count) => *count -= 1,
            None => unknown = true,
        })?;
        if unknown { exec_err!("a value is taken back that did not come") } else { Ok(()) }
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let extreme = match self.end {
            End::Min => self.counts.first_key_value(),
            End::Max => self.counts.last_key_value(),
        };
        match extreme {
            Some((key, _)) => ScalarValue::try_from_array(&self.order.convert_rows([key.row()])?[0], 0),
            None => ScalarValue::try_from(&self.data_type),
        }
    }

    fn merge_batch(&mut self, _states: &[ArrayRef]) -> Result<()> {
        not_impl_err!("MIN and MAX of values that are taken back have no partial states")
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        not_impl_err!("MIN and MAX of values that are taken back have no partial states")
    }

    fn size(&self) -> usize {
        let key_bytes = self.counts.first_key_value().map_or(0, |(key, _)| key.as_ref().len());
        size_of::<Self>() + self.counts.len() * (size_of::<(OwnedRow, i64)>() + key_bytes)
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Float64Array, Int64Array};
    use proptest::prelude::*;

    use super::*;

    fn int(value: Option<i64>) -> ArrayRef {
        Arc::new(Int64Array::from(vec![value]))
    }

    proptest! {
        #[test]
        fn they_are_the_extremes_of_what_is_left(values in prop::collection::vec((-3i64..3, any::<bool>()), 0..40)) {
            for end in [End::Min, End::Max] {
                let mut counted = CountedValues::new(end, &DataType::Int64).unwrap();
                let mut left: Vec<i64> = vec![];
                for &(value, taken_back) in &values {
                    match left.iter().position(|v| *v == value).filter(|_| taken_back) {
                        Some(place) => {
                            left.remove(place);
                            counted.retract_batch(&[int(Some(value))]).unwrap();
                        }
                        None => {
                            left.push(value);
                            counted.update_batch(&[int(Some(value))]).unwrap();
                        }
                    }
                    counted.update_batch(&[int(None)]).unwrap();
                    let expected = if end == End::Min { left.iter().min() } else { left.iter().max() };
                    prop_assert_eq!(counted.evaluate().unwrap(), ScalarValue::Int64(expected.copied()));
                }
            }
        }
    }

    #[test]
    fn zeros_and_nans_are_taken_back_whatever_their_bits() {
        let floats = |values: Vec<f64>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
        let mut counted = CountedValues::new(End::Max, &DataType::Float64).unwrap();
        counted.update_batch(&[floats(vec![-0.0, f64::NAN, 1.0])]).unwrap();
        counted.retract_batch(&[floats(vec![0.0, -f64::NAN])]).unwrap();
        assert_eq!(counted.evaluate().unwrap(), ScalarValue::Float64(Some(1.0)));
        assert!(counted.retract_batch(&[floats(vec![2.0])]).is_err());
    }
}
