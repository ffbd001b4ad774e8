//! Running totals that no sequence of additions can overflow, and the columns that carry them.

use std::sync::Arc;

use arrow::{
    array::{Array, ArrayRef, BinaryArray, BinaryBuilder, Decimal128Array, Decimal256Array},
    datatypes::{DECIMAL256_MAX_PRECISION, DataType, i256},
};
use datafusion::common::{DataFusionError, Result};
use tidemill_core::Error;

use super::MAX_PRECISION;
use crate::function::aggregate::exact_sum::ExactSum;

/// A running total.
pub(super) trait Total: Default + Send + Sync + 'static {
    /// The column of the states.
    type Column: Array + 'static;

    /// The type of that column; `scale` is the argument's.
    fn state_type(scale: i8) -> DataType;

    /// Totals as a column.
    fn write<'a>(totals: impl ExactSizeIterator<Item = &'a Self>, scale: i8) -> Result<ArrayRef>;

    /// Adds the total in a row of a column. Answers the bytes allocated.
    fn merge(&mut self, states: &Self::Column, row: usize) -> Result<usize>;

    /// The bytes held outside the value.
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// A value that is added to a total of type `T`. Both answer the bytes allocated.
pub(super) trait Term<T>: Copy {
    fn add_to(self, total: &mut T) -> usize;
    fn subtract_from(self, total: &mut T) -> usize;
}

/// Integers, and decimals of at most 19 digits: 2^63 of them stay below 2^127, and below 10^38.
impl Total for i128 {
    type Column = Decimal128Array;

    fn state_type(scale: i8) -> DataType {
        DataType::Decimal128(MAX_PRECISION, scale)
    }

    fn write<'a>(totals: impl ExactSizeIterator<Item = &'a Self>, scale: i8) -> Result<ArrayRef> {
        let column = Decimal128Array::from_iter_values(totals.copied());
        Ok(Arc::new(column.with_precision_and_scale(MAX_PRECISION, scale)?))
    }

    fn merge(&mut self, states: &Self::Column, row: usize) -> Result<usize> {
        *self = self.wrapping_add(states.value(row));
        Ok(0)
    }
}

/// Decimals of up to 38 digits: 2^63 of them stay below 10^57.
impl Total for i256 {
    type Column = Decimal256Array;

    fn state_type(scale: i8) -> DataType {
        DataType::Decimal256(DECIMAL256_MAX_PRECISION, scale)
    }

    fn write<'a>(totals: impl ExactSizeIterator<Item = &'a Self>, scale: i8) -> Result<ArrayRef> {
        let column = Decimal256Array::from_iter_values(totals.copied());
        Ok(Arc::new(column.with_precision_and_scale(DECIMAL256_MAX_PRECISION, scale)?))
    }

    fn merge(&mut self, states: &Self::Column, row: usize) -> Result<usize> {
        *self = self.wrapping_add(states.value(row));
        Ok(0)
    }
}

impl Total for ExactSum {
    type Column = BinaryArray;

    fn state_type(_scale: i8) -> DataType {
        DataType::Binary
    }

    fn write<'a>(totals: impl ExactSizeIterator<Item = &'a Self>, _scale: i8) -> Result<ArrayRef> {
        // Two limbs to four are usual.
        let mut column = BinaryBuilder::with_capacity(totals.len(), totals.len() * 16);
        let mut bytes = Vec::new();
        for total in totals {
            bytes.clear();
            total.write(&mut bytes);
            column.append_value(&bytes);
        }
        Ok(Arc::new(column.finish()))
    }

    fn merge(&mut self, states: &Self::Column, row: usize) -> Result<usize> {
        self.merge(states.value(row))
            .map_err(|damaged| DataFusionError::External(Box::new(Error::data(damaged.to_string()))))
    }

    fn heap_bytes(&self) -> usize {
        self.heap_bytes()
    }
}

macro_rules! integer_terms {
    ($($term:ty => $total:ty),+) => {$(
        impl Term<$total> for $term {
            #[inline]
            fn add_to(self, total: &mut $total) -> usize {
                *total = total.wrapping_add(self.into());
                0
            }

            #[inline]
            fn subtract_from(self, total: &mut $total) -> usize {
                *total = total.wrapping_sub(self.into());
                0
            }
        }
    )+};
}

// Wrapping, though it never wraps (see the implementations of `Total`): no panic on a forged state.
integer_terms!(i8 => i128, i16 => i128, i32 => i128, i64 => i128, i128 => i128, i128 => i256);

impl Term<ExactSum> for f64 {
    #[inline]
    fn add_to(self, total: &mut ExactSum) -> usize {
        total.add(self)
    }

    #[inline]
    fn subtract_from(self, total: &mut ExactSum) -> usize {
        total.subtract(self)
    }
}

impl Term<ExactSum> for f32 {
    #[inline]
    fn add_to(self, total: &mut ExactSum) -> usize {
        total.add(self.into())
    }

    #[inline]
    fn subtract_from(self, total: &mut ExactSum) -> usize {
        total.subtract(self.into())
    }
}
