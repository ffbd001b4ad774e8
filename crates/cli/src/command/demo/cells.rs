//! The columns of a statement's rows, by name, in the types that the pipeline declares.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, RecordBatch, StringViewArray};
use arrow::datatypes::{Decimal128Type, Int64Type, TimestampMillisecondType};
use tidemill_core::{Error, Result};

/// The rows of one batch.
pub(super) struct Cells<'a>(pub(super) &'a RecordBatch);

impl<'a> Cells<'a> {
    pub(super) fn bigint(&self, name: &str) -> Result<&'a PrimitiveArray<Int64Type>> {
        self.primitive(name)
    }

    /// Cents.
    pub(super) fn decimal(&self, name: &str) -> Result<&'a PrimitiveArray<Decimal128Type>> {
        self.primitive(name)
    }

    /// Milliseconds since 1970.
    pub(super) fn time(&self, name: &str) -> Result<&'a PrimitiveArray<TimestampMillisecondType>> {
        self.primitive(name)
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a StringViewArray> {
        self.column(name)?.as_string_view_opt().ok_or_else(|| other_type(name))
    }

    /// The field of a ROW.
    pub(super) fn decimal_of_row(&self, name: &str, field: &str) -> Result<&'a PrimitiveArray<Decimal128Type>> {
        let row = self.column(name)?.as_struct_opt().ok_or_else(|| other_type(name))?;
        row.column_by_name(field).and_then(|column| column.as_primitive_opt()).ok_or_else(|| other_type(field))
    }

    fn primitive<T: ArrowPrimitiveType>(&self, name: &str) -> Result<&'a PrimitiveArray<T>> {
        self.column(name)?.as_primitive_opt().ok_or_else(|| other_type(name))
    }

    fn column(&self, name: &str) -> Result<&'a ArrayRef> {
        let missing = || Error::internal(format!("the demo's pipeline gives no column '{name}'"));
        self.0.column_by_name(name).ok_or_else(missing)
    }
}

fn other_type(name: &str) -> Error {
    Error::internal(format!("the column '{name}' of the demo's pipeline has another type than expected"))
}

/// The value, or nothing where it is NULL.
pub(super) fn or_default<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>, row: usize) -> T::Native {
    if column.is_valid(row) { column.value(row) } else { T::Native::default() }
}
