//! `COUNT(DISTINCT x)` of values that may be taken back. DataFusion's has a state that forgets how often each came.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

use crate::function::aggregate::counted::CountedValues;

/// Values of one group, of which the different ones are counted.
#[derive(Debug)]
pub(super) struct DifferentValues(CountedValues);

impl DifferentValues {
    pub(super) fn new(data_type: &DataType) -> Result<Self> {
        Ok(Self(CountedValues::new(data_type)?))
    }
}

impl Accumulator for DifferentValues {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.add(&values[0])
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.take_back(&values[0])
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Int64(Some(self.0.different() as i64)))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.merge(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.state()
    }

    fn size(&self) -> usize {
        self.0.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::StringViewArray;

    use super::*;

    fn texts(texts: &[Option<&str>]) -> Vec<ArrayRef> {
        vec![Arc::new(texts.iter().copied().collect::<StringViewArray>())]
    }

    #[test]
    fn a_value_that_came_twice_is_there_until_it_was_taken_back_twice() {
        let mut values = DifferentValues::new(&DataType::Utf8View).unwrap();
        values.update_batch(&texts(&[Some("a"), None, Some("b"), Some("a")])).unwrap();
        assert_eq!(values.evaluate().unwrap(), ScalarValue::Int64(Some(2)));
        let states: Vec<ArrayRef> = values.state().unwrap().iter().map(|state| state.to_array().unwrap()).collect();
        let mut restored = DifferentValues::new(&DataType::Utf8View).unwrap();
        restored.merge_batch(&states).unwrap();
        for values in [&mut values, &mut restored] {
            values.retract_batch(&texts(&[Some("a")])).unwrap();
            assert_eq!(values.evaluate().unwrap(), ScalarValue::Int64(Some(2)));
            values.retract_batch(&texts(&[Some("a"), None])).unwrap();
            assert_eq!(values.evaluate().unwrap(), ScalarValue::Int64(Some(1)));
        }
    }
}
