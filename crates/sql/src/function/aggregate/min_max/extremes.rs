//! The smallest or largest float or boolean of a group, by one order that leaves no pair undecided.

use std::sync::Arc;

use arrow::{
    array::{ArrayRef, AsArray, BooleanArray, Float32Array, Float64Array},
    datatypes::{DataType, Float32Type, Float64Type},
};
use datafusion::common::Result;

use super::End;
use crate::function::aggregate::{
    expect_array,
    grouped::{Grouped, Rows, not_retractable},
};

/// Values are kept as integers that sort alike.
pub(super) struct Extremes {
    end: End,
    data_type: DataType,
    keys: Vec<Option<i64>>,
}

impl Extremes {
    pub(super) fn new(end: End, data_type: DataType) -> Self {
        Self { end, data_type, keys: Vec::new() }
    }

    fn offer(&mut self, rows: &Rows<'_>, key: impl Fn(usize) -> i64) {
        let (end, keys) = (self.end, &mut self.keys[..]);
        rows.for_each(|row, group| {
            let new = key(row);
            keys[group] = Some(keys[group].map_or(new, |old| match end {
                End::Min => old.min(new),
                End::Max => old.max(new),
            }));
        });
    }
}

impl Grouped for Extremes {
    fn fresh(&self) -> Box<dyn Grouped> {
        Box::new(Self::new(self.end, self.data_type.clone()))
    }

    fn resize(&mut self, groups: usize) {
        if groups > self.keys.len() {
            self.keys.resize(groups, None);
        }
    }

    fn update(&mut self, rows: &Rows<'_>) -> Result<()> {
        match self.data_type {
            DataType::Float64 => {
                let values = expect_array(rows.values[0].as_primitive_opt::<Float64Type>())?.values();
                self.offer(rows, |row| key_of(values[row]));
            }
            DataType::Float32 => {
                let values = expect_array(rows.values[0].as_primitive_opt::<Float32Type>())?.values();
                self.offer(rows, |row| key_of(values[row].into()));
            }
            _ => {
                let values = expect_array(rows.values[0].as_boolean_opt())?.values();
                self.offer(rows, |row| values.value(row).into());
            }
        }
        Ok(())
    }

    fn retract(&mut self, _rows: &Rows<'_>) -> Result<()> {
        not_retractable(if self.end == End::Min { "min" } else { "max" })
    }

    fn retractable(&self) -> bool {
        false
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        self.update(&Rows { values: states, groups, filter: None })
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn results(&self, n: usize) -> Result<ArrayRef> {
        let keys = self.keys[..n].iter();
        Ok(match self.data_type {
            DataType::Float64 => Arc::new(keys.map(|key| key.map(value_of)).collect::<Float64Array>()),
            DataType::Float32 => {
                Arc::new(keys.map(|key| key.map(|key| value_of(key) as f32)).collect::<Float32Array>())
            }
            _ => Arc::new(keys.map(|key| key.map(|key| key != 0)).collect::<BooleanArray>()),
        })
    }

    fn states(&mut self, n: usize) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.results(n)?])
    }

    fn drop_first(&mut self, n: usize) -> Result<()> {
        self.keys.drain(..n);
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.keys.capacity() * size_of::<Option<i64>>()
    }
}

/// An integer that sorts as the float does, with one NaN above all and one zero.
fn key_of(value: f64) -> i64 {
    if value.is_nan() { flip(f64::NAN) } else { flip(value + 0.0) }
}

fn value_of(key: i64) -> f64 {
    f64::from_bits((key ^ (key >> 63) & i64::MAX) as u64)
}

/// Negative floats sort backwards by their bits.
fn flip(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (bits >> 63) & i64::MAX
}
