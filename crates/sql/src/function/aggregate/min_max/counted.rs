//! The smallest or largest of values that may be taken back.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

use super::End;
use crate::function::aggregate::counted::CountedValues;

/// Values of one group, of which one end is asked for.
#[derive(Debug)]
pub(super) struct CountedExtreme {
    end: End,
    values: CountedValues,
}

impl CountedExtreme {
    pub(super) fn new(end: End, data_type: &DataType) -> Result<Self> {
        Ok(Self { end, values: CountedValues::new(data_type)? })
    }
}

impl Accumulator for CountedExtreme {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.values.add(&values[0])
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.values.take_back(&values[0])
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        match self.end {
            End::Min => self.values.first(),
            End::Max => self.values.last(),
        }
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.values.merge(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.values.state()
    }

    fn size(&self) -> usize {
        self.values.bytes()
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Float64Array, Int64Array};
    use proptest::prelude::*;

    use std::sync::Arc;

    use super::*;

    fn int(value: Option<i64>) -> ArrayRef {
        Arc::new(Int64Array::from(vec![value]))
    }

    proptest! {
        #[test]
        fn they_are_the_extremes_of_what_is_left(values in prop::collection::vec((-3i64..3, any::<bool>()), 0..40)) {
            for end in [End::Min, End::Max] {
                let mut counted = CountedExtreme::new(end, &DataType::Int64).unwrap();
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
                    let states: Vec<ArrayRef> =
                        counted.state().unwrap().iter().map(|state| state.to_array().unwrap()).collect();
                    counted = CountedExtreme::new(end, &DataType::Int64).unwrap();
                    counted.merge_batch(&states).unwrap();
                    prop_assert_eq!(counted.evaluate().unwrap(), ScalarValue::Int64(expected.copied()));
                }
            }
        }
    }

    #[test]
    fn zeros_and_nans_are_taken_back_whatever_their_bits() {
        let floats = |values: Vec<f64>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
        let mut counted = CountedExtreme::new(End::Max, &DataType::Float64).unwrap();
        counted.update_batch(&[floats(vec![-0.0, f64::NAN, 1.0])]).unwrap();
        counted.retract_batch(&[floats(vec![0.0, -f64::NAN])]).unwrap();
        assert_eq!(counted.evaluate().unwrap(), ScalarValue::Float64(Some(1.0)));
        assert!(counted.retract_batch(&[floats(vec![2.0])]).is_err());
    }
}
