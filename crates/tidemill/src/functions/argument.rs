//! What a function of a program takes of a row, and what NULL means to it.

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use tidemill_core::Result;

use super::value::{Value, column_of};

/// An argument of a function: a [`Value`], or an `Option` of one.
///
/// A function whose argument is no `Option` is not asked where that is NULL: its value is NULL, and an aggregate leaves the row
/// out. (Flink refuses a column that can be NULL for an argument of a primitive type.)
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of a column in SQL",
    label = "an argument is a bool, i8, i16, i32, i64, f32, f64, String, Vec<u8> or EventTime, or an Option of one"
)]
pub trait Argument: Sized + 'static {
    /// The array that holds such arguments.
    #[doc(hidden)]
    type Column: Array + Clone + 'static;

    /// The type of the column.
    #[doc(hidden)]
    fn data_type() -> DataType;

    /// The array as what it is.
    ///
    /// # Errors
    /// `Internal` if it is another.
    #[doc(hidden)]
    fn column(array: &ArrayRef) -> Result<&Self::Column>;

    /// The argument of a row; `None` if it is NULL, and that is no argument.
    #[doc(hidden)]
    fn read(column: &Self::Column, row: usize) -> Option<Self>;
}

impl<T: Value> Argument for T {
    type Column = T::Column;

    fn data_type() -> DataType {
        T::column_type()
    }

    fn column(array: &ArrayRef) -> Result<&Self::Column> {
        column_of::<T>(array)
    }

    fn read(column: &Self::Column, row: usize) -> Option<Self> {
        column.is_valid(row).then(|| T::value_of(column, row))
    }
}

impl<T: Value> Argument for Option<T> {
    type Column = T::Column;

    fn data_type() -> DataType {
        T::column_type()
    }

    fn column(array: &ArrayRef) -> Result<&Self::Column> {
        column_of::<T>(array)
    }

    fn read(column: &Self::Column, row: usize) -> Option<Self> {
        Some(column.is_valid(row).then(|| T::value_of(column, row)))
    }
}
