//! Rust types that columns of SQL have.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, StringViewArray, TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, TimeUnit};
use tidemill_core::{Error, EventTime, Result};

/// A type that a column of SQL has, as functions of a program take and give it.
///
/// | Rust | SQL |
/// | --- | --- |
/// | `bool` | `BOOLEAN` |
/// | `i8`, `i16`, `i32`, `i64` | `TINYINT`, `SMALLINT`, `INT`, `BIGINT` |
/// | `f32`, `f64` | `FLOAT`, `DOUBLE` |
/// | `String` | `STRING` |
/// | `Vec<u8>` | `BYTES` |
/// | [`EventTime`] | `TIMESTAMP(3)` |
///
/// ```compile_fail,E0277
/// use tidemill::{Environment, Tables};
///
/// Tables::new(&Environment::new()).register_function("twice", |n: u64| n * 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of a column in SQL",
    label = "a value is a bool, i8, i16, i32, i64, f32, f64, String, Vec<u8> or EventTime, or an Option of one"
)]
pub trait Value: Send + Sized + 'static {
    /// The array that holds such values.
    #[doc(hidden)]
    type Column: Array + Clone + 'static;

    /// The type of the column.
    #[doc(hidden)]
    fn column_type() -> DataType;

    /// The value of a row, which is not NULL.
    #[doc(hidden)]
    fn value_of(column: &Self::Column, row: usize) -> Self;

    /// A column of these values.
    #[doc(hidden)]
    fn into_column(values: Vec<Option<Self>>) -> ArrayRef;
}

/// An array as one of values of this type.
pub(super) fn column_of<T: Value>(array: &ArrayRef) -> Result<&T::Column> {
    array.as_any().downcast_ref().ok_or_else(|| {
        Error::internal(format!("a function takes {}, and is given {}", T::column_type(), array.data_type()))
    })
}

macro_rules! value {
    ($type:ty, $column:ty, $data_type:expr, $read:expr, $written:expr) => {
        impl Value for $type {
            type Column = $column;

            fn column_type() -> DataType {
                $data_type
            }

            fn value_of(column: &Self::Column, row: usize) -> Self {
                $read(column.value(row))
            }

            fn into_column(values: Vec<Option<Self>>) -> ArrayRef {
                Arc::new(values.into_iter().map(|value| value.map($written)).collect::<$column>())
            }
        }
    };
    ($type:ty, $column:ty, $data_type:expr) => {
        value!($type, $column, $data_type, std::convert::identity, std::convert::identity);
    };
}

value!(bool, BooleanArray, DataType::Boolean);
value!(i8, Int8Array, DataType::Int8);
value!(i16, Int16Array, DataType::Int16);
value!(i32, Int32Array, DataType::Int32);
value!(i64, Int64Array, DataType::Int64);
value!(f32, Float32Array, DataType::Float32);
value!(f64, Float64Array, DataType::Float64);
value!(String, StringViewArray, DataType::Utf8View, str::to_owned, std::convert::identity);
value!(Vec<u8>, BinaryViewArray, DataType::BinaryView, <[u8]>::to_vec, std::convert::identity);
value!(
    EventTime,
    TimestampMillisecondArray,
    DataType::Timestamp(TimeUnit::Millisecond, None),
    EventTime,
    |time: EventTime| time.0
);
