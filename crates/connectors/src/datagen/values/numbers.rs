//! Random numbers between two ends, both included.

use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use arrow::array::{ArrayRef, PrimitiveArray};
use arrow::compute::kernels::cast_utils::parse_decimal;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow::error::ArrowError;
use tidemill_core::Result;

use super::super::fields::Field;
use super::{Values, unsupported};
use crate::format::sql_type;
use crate::synthetic::{Draws, Sequence};

pub(super) fn random(data_type: &DataType, field: &Field<'_>, draws: Sequence) -> Result<Box<dyn Values>> {
    let values: Box<dyn Values> = match *data_type {
        DataType::Int8 => integers::<Int8Type>(data_type, field, draws, (i8::MIN, i8::MAX), |n| n as i8)?,
        DataType::Int16 => integers::<Int16Type>(data_type, field, draws, (i16::MIN, i16::MAX), |n| n as i16)?,
        DataType::Int32 => integers::<Int32Type>(data_type, field, draws, (i32::MIN, i32::MAX), |n| n as i32)?,
        DataType::Int64 => integers::<Int64Type>(data_type, field, draws, (i64::MIN, i64::MAX), |n| n)?,
        // As in Flink, which takes Java's least positive number for the default of the least.
        DataType::Float32 => {
            let ends = ends(field, data_type, (f32::from_bits(1), f32::MAX), finite)?;
            primitive::<Float32Type>(data_type, draws, move |draws| between(draws, ends.0.into(), ends.1.into()) as f32)
        }
        DataType::Float64 => {
            let ends = ends(field, data_type, (f64::from_bits(1), f64::MAX), finite)?;
            primitive::<Float64Type>(data_type, draws, move |draws| between(draws, ends.0, ends.1))
        }
        DataType::Decimal128(precision, scale) => {
            let read = |text: &str| parse_decimal::<Decimal128Type>(text, precision, scale).ok();
            let greatest = 10i128.pow(u32::from(precision)) - 1;
            let (min, max) = ends(field, data_type, (0, greatest), read)?;
            let count = max.abs_diff(min) + 1;
            primitive::<Decimal128Type>(data_type, draws, move |draws| {
                let bits = u128::from(draws.bits()) << 64 | u128::from(draws.bits());
                min + (bits % count).cast_signed()
            })
        }
        _ => return Err(unsupported(data_type, field, "random")),
    };
    Ok(values)
}

fn integers<T: ArrowPrimitiveType<Native: FromStr + PartialOrd + Into<i64>>>(
    data_type: &DataType,
    field: &Field<'_>,
    draws: Sequence,
    range: (T::Native, T::Native),
    narrow: impl Fn(i64) -> T::Native + Send + Sync + 'static,
) -> Result<Box<dyn Values>> {
    let (min, max) = ends(field, data_type, range, |text| text.parse().ok())?;
    let (min, max) = (min.into(), max.into());
    Ok(primitive::<T>(data_type, draws, move |draws| narrow(draws.between(min, max))))
}

/// The options `min` and `max`.
fn ends<N: PartialOrd + Copy>(
    field: &Field<'_>,
    data_type: &DataType,
    range: (N, N),
    read: impl Fn(&str) -> Option<N>,
) -> Result<(N, N)> {
    let what = format!("a number of the type {}", sql_type(data_type));
    let read = |text: &str| read(text.trim());
    let min = field.get("min", read, &what)?.unwrap_or(range.0);
    let max = field.get("max", read, &what)?.unwrap_or(range.1);
    if min > max {
        let least = "the least value is above the greatest";
        return Err(field.refuse("min", format!("no value of '{}' can be made: {least}", field.path)));
    }
    Ok((min, max))
}

fn finite<N: FromStr + Into<f64> + Copy>(text: &str) -> Option<N> {
    text.parse().ok().filter(|number: &N| Into::<f64>::into(*number).is_finite())
}

/// Between two floating-point numbers, whose difference may be too large for one.
fn between(draws: &mut Draws, min: f64, max: f64) -> f64 {
    let share = draws.unit();
    (min * (1.0 - share) + max * share).clamp(min, max)
}

/// Values that are drawn one by one.
struct Primitive<T, F> {
    data_type: DataType,
    draws: Sequence,
    draw: F,
    value: std::marker::PhantomData<fn() -> T>,
}

fn primitive<T: ArrowPrimitiveType>(
    data_type: &DataType,
    draws: Sequence,
    draw: impl Fn(&mut Draws) -> T::Native + Send + Sync + 'static,
) -> Box<dyn Values> {
    Box::new(Primitive::<T, _> { data_type: data_type.clone(), draws, draw, value: std::marker::PhantomData })
}

impl<T: ArrowPrimitiveType, F: Fn(&mut Draws) -> T::Native + Send + Sync> Values for Primitive<T, F> {
    fn generate(&self, positions: Range<u64>) -> Result<ArrayRef, ArrowError> {
        let values = positions.map(|position| (self.draw)(&mut self.draws.at(position)));
        let array = PrimitiveArray::<T>::from_iter_values(values);
        Ok(Arc::new(array.with_data_type(self.data_type.clone())))
    }

    fn bytes(&self) -> usize {
        size_of::<T::Native>()
    }
}
