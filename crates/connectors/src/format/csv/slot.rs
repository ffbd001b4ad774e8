//! A column with its field: which texts are NULL, and what becomes of one that does not parse.

use arrow::array::ArrayRef;
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, FieldRef};
use tidemill_core::Result as CoreResult;

use super::column::{Column, column};
use super::options::CsvOptions;
use super::split::Value;
use crate::format::text::Misfit;

/// A column of the table, or the elements of an array.
pub(super) struct Slot {
    pub(super) field: FieldRef,
    column: Box<dyn Column>,
    null_literal: Option<Box<str>>,
    blank_is_null: bool,
    ignore_parse_errors: bool,
    /// How many elements there are.
    pub(super) len: usize,
}

/// Why a slot took no value.
pub(super) enum Refused {
    /// The text is none of its type.
    Misfit(Misfit),
    /// It may not be NULL.
    Null,
}

impl Slot {
    /// An empty column with room for `rows`.
    pub(super) fn new(field: &FieldRef, options: &CsvOptions, rows: usize) -> CoreResult<Self> {
        let column = column(field, options, rows)?;
        let literal = options.null_literal.clone();
        let (null_literal, blank_is_null) = match field.data_type() {
            // An array is never NULL as a whole: its elements are. So is the field of a row that has only one.
            DataType::List(_) => (None, false),
            DataType::Struct(fields) => (literal.filter(|_| fields.len() > 1), true),
            _ => (literal, false),
        };
        let ignore_parse_errors = options.ignore_parse_errors;
        Ok(Self { field: field.clone(), column, null_literal, blank_is_null, ignore_parse_errors, len: 0 })
    }

    /// Appends the value that the text means.
    #[inline]
    pub(super) fn append(&mut self, value: Value<'_>) -> Result<(), Refused> {
        if self.is_null(value) {
            return self.append_null();
        }
        match self.column.append(value) {
            Ok(()) => {
                self.len += 1;
                Ok(())
            }
            Err(misfit) => self.misfit(misfit),
        }
    }

    #[inline]
    fn is_null(&self, value: Value<'_>) -> bool {
        self.null_literal.as_deref().is_some_and(|null| null.as_bytes() == value.text)
            || (self.blank_is_null && value.is_blank())
    }

    #[cold]
    fn misfit(&mut self, misfit: Misfit) -> Result<(), Refused> {
        self.column.truncate(self.len);
        if !self.ignore_parse_errors {
            return Err(Refused::Misfit(misfit));
        }
        self.append_null()
    }

    /// Appends NULL, if it may be.
    pub(super) fn append_null(&mut self) -> Result<(), Refused> {
        if !self.field.is_nullable() {
            return Err(Refused::Null);
        }
        self.append_filler();
        Ok(())
    }

    /// Appends what stands in a field of a `ROW` that is NULL.
    pub(super) fn append_filler(&mut self) {
        self.column.append_null();
        self.len += 1;
    }

    /// Keeps the first `len` elements.
    pub(super) fn truncate(&mut self, len: usize) {
        self.column.truncate(len);
        self.len = self.len.min(len);
    }

    /// The array; `chunk` holds the bytes that were read.
    pub(super) fn finish(self, chunk: &Buffer) -> CoreResult<ArrayRef> {
        self.column.finish(chunk)
    }
}
