//! `'kind' = 'sequence'`: whole numbers from `start` to `end`, one a row, as a number, as text, or as eight bytes.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewArray, Decimal128Array, Int64Array, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use tidemill_core::Result;

use super::super::fields::Field;
use super::{Values, unsupported};
use crate::format::sql_type;

/// The sequence of a field.
///
/// # Errors
/// `Invalid` if an end is missing or does not fit the type, or the type has no sequences.
pub(in crate::datagen) fn sequence(data_type: &DataType, field: &Field<'_>) -> Result<Box<dyn Values>> {
    let Some(range) = range(data_type) else { return Err(unsupported(data_type, field, "sequence of")) };
    let read = |text: &str| text.trim().parse().ok().filter(|number| range.contains(number));
    let what = format!("a whole number of the type {}", sql_type(data_type));
    let (start, end): (i64, i64) = (field.required("start", read, &what)?, field.required("end", read, &what)?);
    if start > end {
        let message = format!("the sequence '{}' ends before it starts", field.path);
        return Err(field.refuse("end", message).hint("'end' is its last number, and at least 'start'"));
    }
    Ok(Box::new(WholeNumbers { data_type: data_type.clone(), start, end }))
}

/// Which numbers a sequence of a type can have; `None` if there is none of it.
fn range(data_type: &DataType) -> Option<RangeInclusive<i64>> {
    Some(match *data_type {
        DataType::Int8 => i8::MIN.into()..=i8::MAX.into(),
        DataType::Int16 => i16::MIN.into()..=i16::MAX.into(),
        // Flink's sequences of these types are of INT.
        DataType::Int32 | DataType::Float32 | DataType::Float64 => i32::MIN.into()..=i32::MAX.into(),
        DataType::Int64 | DataType::Utf8View | DataType::BinaryView => i64::MIN..=i64::MAX,
        DataType::Decimal128(precision, scale) => {
            let digits = u32::from(precision).saturating_sub(u32::from(scale.unsigned_abs()));
            let greatest = 10i64.checked_pow(digits).map_or(i64::MAX, |limit| limit - 1);
            -greatest..=greatest
        }
        _ => return None,
    })
}

struct WholeNumbers {
    data_type: DataType,
    start: i64,
    end: i64,
}

impl Values for WholeNumbers {
    fn generate(&self, positions: Range<u64>) -> Result<ArrayRef, ArrowError> {
        let numbers = positions.map(|position| self.start.wrapping_add_unsigned(position));
        Ok(match self.data_type {
            DataType::Utf8View => Arc::new(StringViewArray::from_iter_values(numbers.map(|number| number.to_string()))),
            DataType::BinaryView => Arc::new(BinaryViewArray::from_iter_values(numbers.map(i64::to_be_bytes))),
            DataType::Decimal128(precision, scale) => {
                let one = 10i128.pow(u32::from(scale.unsigned_abs()));
                let decimals = Decimal128Array::from_iter_values(numbers.map(|number| i128::from(number) * one));
                Arc::new(decimals.with_precision_and_scale(precision, scale)?)
            }
            _ => cast(&Int64Array::from_iter_values(numbers), &self.data_type)?,
        })
    }

    fn bytes(&self) -> usize {
        match self.data_type {
            DataType::Utf8View | DataType::BinaryView => 24,
            _ => 8,
        }
    }

    fn end(&self) -> Option<u64> {
        Some(self.end.abs_diff(self.start).saturating_add(1))
    }
}
