//! The columns that hold several values a field: `ARRAY` and `ROW`.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListArray, NullBufferBuilder, StructArray};
use arrow::buffer::Buffer;
use arrow::datatypes::{FieldRef, Fields};
use tidemill_core::Result as CoreResult;

use super::column::Column;
use super::options::CsvOptions;
use super::slot::{Refused, Slot};
use super::split::Value;
use crate::format::text::Misfit;
use crate::format::text::ends::Ends;
use crate::format::text::shown::excerpt;

/// `ARRAY`; a blank field has no element.
pub(super) struct ListColumn {
    ends: Ends,
    element: Slot,
    delimiter: u8,
}

impl ListColumn {
    pub(super) fn new(element: &FieldRef, options: &CsvOptions, rows: usize) -> CoreResult<Self> {
        let element = Slot::new(element, options, rows)?;
        Ok(Self { ends: Ends::new(rows), element, delimiter: options.element_delimiter })
    }
}

impl Column for ListColumn {
    fn append(&mut self, value: Value<'_>) -> Result<(), Misfit> {
        if !value.is_blank() {
            for part in value.parts(self.delimiter) {
                self.element.append(part).map_err(|refused| misfit("element", part, refused))?;
            }
        }
        self.ends.close(self.element.len);
        Ok(())
    }

    fn append_null(&mut self) {
        self.ends.append_null();
    }

    fn truncate(&mut self, len: usize) {
        let elements = self.ends.truncate(len);
        self.element.truncate(elements);
    }

    fn finish(self: Box<Self>, chunk: &Buffer) -> CoreResult<ArrayRef> {
        let Self { ends, element, .. } = *self;
        let (offsets, nulls) = ends.finish();
        let field = element.field.clone();
        Ok(Arc::new(ListArray::try_new(field, offsets, element.finish(chunk)?, nulls)?))
    }
}

/// `ROW`.
pub(super) struct RowColumn {
    fields: Fields,
    slots: Vec<Slot>,
    delimiter: u8,
    ignore_parse_errors: bool,
    len: usize,
    nulls: NullBufferBuilder,
}

impl RowColumn {
    pub(super) fn new(fields: &Fields, options: &CsvOptions, rows: usize) -> CoreResult<Self> {
        Ok(Self {
            fields: fields.clone(),
            slots: fields.iter().map(|field| Slot::new(field, options, rows)).collect::<CoreResult<_>>()?,
            delimiter: options.element_delimiter,
            ignore_parse_errors: options.ignore_parse_errors,
            len: 0,
            nulls: NullBufferBuilder::new(rows),
        })
    }

    /// Gives each slot its part.
    fn append_parts(&mut self, value: Value<'_>) -> Result<(), Misfit> {
        let mut parts = value.parts(self.delimiter);
        for slot in &mut self.slots {
            let (part, appended) = match parts.next() {
                Some(part) => (part, slot.append(part)),
                None if self.ignore_parse_errors => (value, slot.append_null()),
                None => return Err(wrong_count(&self.fields)),
            };
            appended.map_err(|refused| misfit(slot.field.name(), part, refused))?;
        }
        if parts.next().is_some() && !self.ignore_parse_errors {
            return Err(wrong_count(&self.fields));
        }
        Ok(())
    }
}

impl Column for RowColumn {
    fn append(&mut self, value: Value<'_>) -> Result<(), Misfit> {
        self.append_parts(value)?;
        self.nulls.append_non_null();
        self.len += 1;
        Ok(())
    }

    fn append_null(&mut self) {
        self.slots.iter_mut().for_each(Slot::append_filler);
        self.nulls.append_null();
        self.len += 1;
    }

    fn truncate(&mut self, len: usize) {
        self.slots.iter_mut().for_each(|slot| slot.truncate(len));
        self.nulls.truncate(len);
        self.len = self.len.min(len);
    }

    fn finish(mut self: Box<Self>, chunk: &Buffer) -> CoreResult<ArrayRef> {
        let columns = self.slots.into_iter().map(|slot| slot.finish(chunk)).collect::<CoreResult<_>>()?;
        let array = StructArray::try_new_with_length(self.fields, columns, self.nulls.finish(), self.len)?;
        Ok(Arc::new(array))
    }
}

#[cold]
fn wrong_count(fields: &Fields) -> Misfit {
    Misfit::new(format!("does not have the {} parts of the ROW", fields.len()))
}

/// Names the part that does not fit.
#[cold]
fn misfit(name: &str, part: Value<'_>, refused: Refused) -> Misfit {
    match refused {
        Refused::Null => Misfit::new(format!("has no value for '{name}', which is NOT NULL")),
        Refused::Misfit(misfit) => {
            let (problem, hint) = misfit.into_parts();
            let named = Misfit::new(format!("has '{}' for '{name}', which {problem}", excerpt(part.text)));
            match hint {
                Some(hint) => named.hint(hint),
                None => named,
            }
        }
    }
}
