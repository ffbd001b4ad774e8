//! From record batches to lines, each one object with the columns in their order.

use std::borrow::Cow;

use arrow::array::{Array, AsArray, RecordBatch, StringViewArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Decimal128Type, FieldRef, SchemaRef};
use tidemill_core::{Error, Result, RowKind};

use super::options::JsonOptions;
use super::string::write_string;
use super::{NAME, column};
use crate::format::text::unsupported;
use crate::format::text::write::write_decimal;
use crate::format::text::writer::{Scalars, Writer, primitive, scalars};

/// Writes rows as JSON lines.
#[derive(Debug)]
pub struct JsonEncoder {
    schema: SchemaRef,
    options: JsonOptions,
    /// What stands before each value: `"name":`.
    keys: Vec<Vec<u8>>,
}

impl JsonEncoder {
    /// An encoder of rows with `schema`.
    ///
    /// # Errors
    /// A column's type is not one that JSON has.
    pub fn new(schema: SchemaRef, options: JsonOptions) -> Result<Self> {
        for field in schema.fields() {
            column::column(field, &options, 0)?;
        }
        let keys = schema.fields().iter().map(key).collect();
        Ok(Self { schema, options, keys })
    }

    /// Appends one line a row to `out`. With `kinds`, one a row, each line starts with the field `op`: `+I`, `-U`,
    /// `+U` or `-D`.
    ///
    /// Timestamps have all the digits of their column's unit, and decimals all those of their scale; numbers that are
    /// not finite are the strings `"NaN"`, `"Infinity"` and `"-Infinity"`.
    ///
    /// # Errors
    /// The rows do not have the encoder's columns.
    pub fn encode(&self, rows: &RecordBatch, kinds: Option<&[RowKind]>, out: &mut Vec<u8>) -> Result<()> {
        if kinds.is_some_and(|kinds| kinds.len() != rows.num_rows()) {
            return Err(unlike());
        }
        let objects = self.objects(rows)?;
        for row in 0..rows.num_rows() {
            match kinds {
                None => objects.write(row, out),
                Some(kinds) => {
                    out.extend_from_slice(b"{\"op\":\"");
                    out.extend_from_slice(kinds[row].short().as_bytes());
                    out.push(b'"');
                    objects.write_fields(row, b",", out);
                    out.push(b'}');
                }
            }
            out.push(b'\n');
        }
        Ok(())
    }

    /// The rows as objects, to be written one by one.
    ///
    /// # Errors
    /// The rows do not have the encoder's columns.
    pub(in crate::format) fn objects<'a>(&'a self, rows: &'a RecordBatch) -> Result<Objects<'a>> {
        if rows.num_columns() != self.keys.len() {
            return Err(unlike());
        }
        let columns = self.schema.fields().iter().zip(rows.columns());
        let writers = columns.map(|(field, array)| writer(field.name(), array.as_ref(), &self.options));
        let keys = self.keys.iter().map(|key| Cow::Borrowed(&**key));
        let fields = keys.zip(writers).map(|(key, writer)| Ok((key, writer?))).collect::<Result<_>>()?;
        Ok(Objects { fields, skip_nulls: self.options.ignore_null_fields })
    }
}

fn unlike() -> Error {
    Error::internal("rows to encode as JSON do not have the encoder's shape")
}

fn key(field: &FieldRef) -> Vec<u8> {
    let mut key = Vec::new();
    write_string(field.name().as_bytes(), &mut key);
    key.push(b':');
    key
}

/// What stands before a value, and what writes it.
type Field<'a> = (Cow<'a, [u8]>, Box<dyn Writer + 'a>);

/// Rows as objects with their fields in order.
pub(in crate::format) struct Objects<'a> {
    fields: Vec<Field<'a>>,
    skip_nulls: bool,
}

impl Objects<'_> {
    /// Appends a row.
    pub(in crate::format) fn write(&self, row: usize, out: &mut Vec<u8>) {
        out.push(b'{');
        self.write_fields(row, b"", out);
        out.push(b'}');
    }

    /// Appends its fields; `before` stands before the first.
    fn write_fields(&self, row: usize, before: &'static [u8], out: &mut Vec<u8>) {
        let mut separator = before;
        for (key, writer) in &self.fields {
            if self.skip_nulls && writer.null(row) {
                continue;
            }
            out.extend_from_slice(separator);
            separator = b",";
            out.extend_from_slice(key);
            write_or_null(writer.as_ref(), row, out);
        }
    }
}

/// Appends an element.
fn write_or_null(writer: &dyn Writer, row: usize, out: &mut Vec<u8>) {
    if writer.null(row) {
        out.extend_from_slice(b"null");
    } else {
        writer.write(row, out);
    }
}

fn writer<'a>(name: &str, array: &'a dyn Array, options: &JsonOptions) -> Result<Box<dyn Writer + 'a>> {
    if let Some(writer) = scalars(array, b"\"", options.timestamp_format) {
        return Ok(writer);
    }
    Ok(match array.data_type() {
        DataType::Decimal128(_, scale) => {
            let scale = *scale;
            primitive::<Decimal128Type>(array, move |value, out| write_decimal(value, scale, out))
        }
        DataType::Utf8View => {
            Box::new(Scalars(array.as_string_view(), |array: &StringViewArray, row, out: &mut Vec<u8>| {
                write_string(array.value(row).as_bytes(), out);
            }))
        }
        DataType::Struct(_) => Box::new(Row::new(array, options)?),
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            Box::new(List { array, offsets: list.offsets(), values: writer(name, list.values().as_ref(), options)? })
        }
        DataType::Map(..) => {
            let map = array.as_map();
            Box::new(Map {
                array,
                offsets: map.offsets(),
                keys: map.keys().as_string_view(),
                values: writer(name, map.values().as_ref(), options)?,
            })
        }
        other => return Err(unsupported(NAME, name, other)),
    })
}

/// `ROW`: an object with the fields in their order.
struct Row<'a> {
    array: &'a dyn Array,
    objects: Objects<'a>,
}

impl<'a> Row<'a> {
    fn new(array: &'a dyn Array, options: &JsonOptions) -> Result<Self> {
        let row = array.as_struct();
        let fields = row.fields().iter().zip(row.columns());
        let fields = fields
            .map(|(field, column)| Ok((Cow::Owned(key(field)), writer(field.name(), column.as_ref(), options)?)))
            .collect::<Result<_>>()?;
        Ok(Self { array, objects: Objects { fields, skip_nulls: options.ignore_null_fields } })
    }
}

impl Writer for Row<'_> {
    fn null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) {
        self.objects.write(row, out);
    }
}

/// `ARRAY`.
struct List<'a> {
    array: &'a dyn Array,
    offsets: &'a OffsetBuffer<i32>,
    values: Box<dyn Writer + 'a>,
}

/// `MAP`: an object with the keys as field names.
struct Map<'a> {
    array: &'a dyn Array,
    offsets: &'a OffsetBuffer<i32>,
    keys: &'a StringViewArray,
    values: Box<dyn Writer + 'a>,
}

/// The places of a row's elements.
fn elements(offsets: &OffsetBuffer<i32>, row: usize) -> std::ops::Range<usize> {
    offsets[row] as usize..offsets[row + 1] as usize
}

impl Writer for List<'_> {
    fn null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) {
        out.push(b'[');
        for (place, element) in elements(self.offsets, row).enumerate() {
            if place > 0 {
                out.push(b',');
            }
            write_or_null(self.values.as_ref(), element, out);
        }
        out.push(b']');
    }
}

impl Writer for Map<'_> {
    fn null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) {
        out.push(b'{');
        for (place, element) in elements(self.offsets, row).enumerate() {
            if place > 0 {
                out.push(b',');
            }
            write_string(self.keys.value(element).as_bytes(), out);
            out.push(b':');
            write_or_null(self.values.as_ref(), element, out);
        }
        out.push(b'}');
    }
}
