//! Arrays of a fixed width while they grow.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, BooleanBufferBuilder, NullBufferBuilder, PrimitiveArray,
};
use arrow::datatypes::DataType;
use tidemill_core::Result;

use super::Misfit;

/// Values of a fixed width.
pub(in crate::format) struct Values<T: ArrowPrimitiveType> {
    data_type: DataType,
    values: Vec<T::Native>,
    nulls: NullBufferBuilder,
}

impl<T: ArrowPrimitiveType> Values<T> {
    /// None yet, with room for `rows`.
    pub(in crate::format) fn new(data_type: &DataType, rows: usize) -> Self {
        Self { data_type: data_type.clone(), values: Vec::with_capacity(rows), nulls: NullBufferBuilder::new(rows) }
    }

    #[inline]
    pub(in crate::format) fn push(&mut self, value: Option<T::Native>) {
        match value {
            Some(value) => {
                self.values.push(value);
                self.nulls.append_non_null();
            }
            None => self.push_null(),
        }
    }

    pub(in crate::format) fn push_null(&mut self) {
        self.values.push(T::Native::default());
        self.nulls.append_null();
    }

    /// Keeps the first `len` values.
    pub(in crate::format) fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
        self.nulls.truncate(len);
    }

    pub(in crate::format) fn finish(mut self) -> Result<ArrayRef> {
        let array = PrimitiveArray::<T>::try_new(self.values.into(), self.nulls.finish())?;
        Ok(Arc::new(array.with_data_type(self.data_type)))
    }
}

/// Values of `BOOLEAN`.
pub(in crate::format) struct Booleans {
    values: BooleanBufferBuilder,
    nulls: NullBufferBuilder,
}

impl Booleans {
    /// None yet, with room for `rows`.
    pub(in crate::format) fn new(rows: usize) -> Self {
        Self { values: BooleanBufferBuilder::new(rows), nulls: NullBufferBuilder::new(rows) }
    }

    pub(in crate::format) fn push(&mut self, value: bool) {
        self.values.append(value);
        self.nulls.append_non_null();
    }

    pub(in crate::format) fn push_null(&mut self) {
        self.values.append(false);
        self.nulls.append_null();
    }

    /// Keeps the first `len` values.
    pub(in crate::format) fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
        self.nulls.truncate(len);
    }

    pub(in crate::format) fn finish(mut self) -> ArrayRef {
        Arc::new(BooleanArray::new(self.values.finish(), self.nulls.finish()))
    }
}

/// The value of `true` or `false`, in any case.
pub(in crate::format) fn boolean(text: &[u8]) -> Result<bool, Misfit> {
    match text.trim_ascii() {
        text if text.eq_ignore_ascii_case(b"true") => Ok(true),
        text if text.eq_ignore_ascii_case(b"false") => Ok(false),
        _ => Err(not_a_boolean()),
    }
}

/// What to say of a text that is no boolean.
#[cold]
pub(in crate::format) fn not_a_boolean() -> Misfit {
    Misfit::new("is neither true nor false")
}
