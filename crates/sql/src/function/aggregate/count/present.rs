//! How many rows have no NULL among several arguments.

use std::sync::Arc;

use arrow::{
    array::{ArrayRef, AsArray, Int64Array},
    datatypes::Int64Type,
};
use datafusion::common::Result;

use crate::function::aggregate::{
    expect_array,
    grouped::{Grouped, Rows},
};

/// The counts of groups 0, 1, 2, ...
#[derive(Default)]
pub(super) struct PresentRows {
    counts: Vec<i64>,
}

impl Grouped for PresentRows {
    fn fresh(&self) -> Box<dyn Grouped> {
        Box::new(Self::default())
    }

    fn resize(&mut self, groups: usize) {
        if groups > self.counts.len() {
            self.counts.resize(groups, 0);
        }
    }

    fn update(&mut self, rows: &Rows<'_>) -> Result<()> {
        rows.for_each(|_, group| self.counts[group] += 1);
        Ok(())
    }

    fn retract(&mut self, rows: &Rows<'_>) -> Result<()> {
        rows.for_each(|_, group| self.counts[group] -= 1);
        Ok(())
    }

    fn retractable(&self) -> bool {
        true
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        let counts = expect_array(states[0].as_primitive_opt::<Int64Type>())?;
        for (row, &group) in groups.iter().enumerate() {
            self.counts[group] = self.counts[group].wrapping_add(counts.value(row));
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.counts.len()
    }

    fn results(&self, n: usize) -> Result<ArrayRef> {
        Ok(Arc::new(Int64Array::from(self.counts[..n].to_vec())))
    }

    fn states(&mut self, n: usize) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.results(n)?])
    }

    fn drop_first(&mut self, n: usize) -> Result<()> {
        self.counts.drain(..n);
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.counts.capacity() * size_of::<i64>()
    }
}
