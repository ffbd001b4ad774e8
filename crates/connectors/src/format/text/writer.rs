//! The elements of an array as text: the types that look the same in every format.

use arrow::array::{Array, ArrowPrimitiveType, AsArray, BinaryViewArray, BooleanArray, PrimitiveArray};
use arrow::datatypes::{
    DataType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;

use super::shown::fraction_digits;
use super::temporal::TimestampFormat;
use super::write::{write_date, write_display, write_float, write_time, write_timestamp};

/// The elements of one array as text.
pub(in crate::format) trait Writer {
    /// Whether the element is NULL.
    fn null(&self, row: usize) -> bool;

    /// Appends an element that is not NULL.
    fn write(&self, row: usize, out: &mut Vec<u8>);
}

/// An array whose elements a function writes.
pub(in crate::format) struct Scalars<'a, A, F>(pub(in crate::format) &'a A, pub(in crate::format) F);

impl<A: Array, F: Fn(&A, usize, &mut Vec<u8>)> Writer for Scalars<'_, A, F> {
    fn null(&self, row: usize) -> bool {
        self.0.is_null(row)
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) {
        (self.1)(self.0, row, out);
    }
}

/// A writer of a primitive array, from one of its values.
pub(in crate::format) fn primitive<'a, T: ArrowPrimitiveType>(
    array: &'a dyn Array,
    write: impl Fn(T::Native, &mut Vec<u8>) + 'a,
) -> Box<dyn Writer + 'a> {
    let write = move |array: &PrimitiveArray<T>, row: usize, out: &mut Vec<u8>| write(array.value(row), out);
    Box::new(Scalars(array.as_primitive::<T>(), write))
}

/// A writer of an array that looks the same in every format, but for the `mark` that stands around what is no number or
/// boolean; `None` for other types. Timestamps have all the digits of their unit.
pub(in crate::format) fn scalars<'a>(
    array: &'a dyn Array,
    mark: &'static [u8],
    format: TimestampFormat,
) -> Option<Box<dyn Writer + 'a>> {
    let marked = move |out: &mut Vec<u8>, write: &dyn Fn(&mut Vec<u8>)| {
        out.extend_from_slice(mark);
        write(out);
        out.extend_from_slice(mark);
    };
    let timestamp = |unit: TimeUnit, zoned: bool| {
        move |value: i64, out: &mut Vec<u8>| {
            marked(out, &|out| write_timestamp(value, fraction_digits(unit), zoned, format, out));
        }
    };
    Some(match array.data_type() {
        DataType::Boolean => Box::new(Scalars(array.as_boolean(), |array: &BooleanArray, row, out: &mut Vec<u8>| {
            out.extend_from_slice(if array.value(row) { b"true" } else { b"false" });
        })),
        DataType::Int8 => primitive::<Int8Type>(array, write_display),
        DataType::Int16 => primitive::<Int16Type>(array, write_display),
        DataType::Int32 => primitive::<Int32Type>(array, write_display),
        DataType::Int64 => primitive::<Int64Type>(array, write_display),
        DataType::Float32 => primitive::<Float32Type>(array, move |value, out| {
            write_float(f64::from(value), ryu::Buffer::new().format(value), mark, out);
        }),
        DataType::Float64 => primitive::<Float64Type>(array, move |value, out| {
            write_float(value, ryu::Buffer::new().format(value), mark, out);
        }),
        DataType::Date32 => primitive::<Date32Type>(array, move |days, out| {
            marked(out, &|out| write_date(i64::from(days), out));
        }),
        DataType::Time32(TimeUnit::Millisecond) => primitive::<Time32MillisecondType>(array, move |value, out| {
            marked(out, &|out| write_time(i64::from(value) * 1_000_000, 3, out));
        }),
        DataType::Timestamp(unit @ TimeUnit::Millisecond, zone) => {
            primitive::<TimestampMillisecondType>(array, timestamp(*unit, zone.is_some()))
        }
        DataType::Timestamp(unit @ TimeUnit::Microsecond, zone) => {
            primitive::<TimestampMicrosecondType>(array, timestamp(*unit, zone.is_some()))
        }
        DataType::Timestamp(unit @ TimeUnit::Nanosecond, zone) => {
            primitive::<TimestampNanosecondType>(array, timestamp(*unit, zone.is_some()))
        }
        DataType::BinaryView => {
            let write = move |array: &BinaryViewArray, row, out: &mut Vec<u8>| {
                marked(out, &|out| write_display(Base64Display::new(array.value(row), &STANDARD), out));
            };
            Box::new(Scalars(array.as_binary_view(), write))
        }
        _ => return None,
    })
}
