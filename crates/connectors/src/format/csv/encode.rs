//! From record batches to records, each one line unless a field holds a line end.

use arrow::array::{Array, AsArray, RecordBatch, StringViewArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Decimal128Type, SchemaRef};
use memchr::memchr;
use tidemill_core::{Error, Result, RowKind};

use super::options::CsvOptions;
use super::write::write_stripped;
use super::{NAME, column};
use crate::format::text::shown::excerpt;
use crate::format::text::temporal::TimestampFormat;
use crate::format::text::writer::{Scalars, Writer, primitive, scalars};
use crate::format::text::{BYTE_ORDER_MARK, unsupported};

/// Writes rows as CSV.
#[derive(Debug)]
pub struct CsvEncoder {
    schema: SchemaRef,
    options: CsvOptions,
}

impl CsvEncoder {
    /// An encoder of rows with `schema`.
    ///
    /// # Errors
    /// A column's type is not one that CSV has.
    pub fn new(schema: SchemaRef, options: CsvOptions) -> Result<Self> {
        for field in schema.fields() {
            column::column(field, &options, 0)?;
        }
        Ok(Self { schema, options })
    }

    /// Appends one record a row to `out`. With `kinds`, one a row, each record starts with one more field: `+I`, `-U`,
    /// `+U` or `-D`.
    ///
    /// NULL is the null literal, or nothing. Timestamps have all the digits of their column's unit; a field is in quotes
    /// where it would not read back without them.
    ///
    /// # Errors
    /// `Data` if a value can't be written so that it reads back: quotes are disabled and it holds a delimiter, or an
    /// array's element holds the element delimiter. `Internal` if the rows do not have the encoder's columns.
    pub fn encode(&self, rows: &RecordBatch, kinds: Option<&[RowKind]>, out: &mut Vec<u8>) -> Result<()> {
        let fields = self.schema.fields();
        if rows.num_columns() != fields.len() || kinds.is_some_and(|kinds| kinds.len() != rows.num_rows()) {
            return Err(Error::internal("rows to encode as CSV do not have the encoder's shape"));
        }
        let columns = fields.iter().zip(rows.columns());
        let writers = columns
            .map(|(field, array)| cells(field.name(), array.as_ref(), &self.options))
            .collect::<Result<Vec<_>>>()?;
        let mut aside = Vec::new();
        for row in 0..rows.num_rows() {
            if let Some(kinds) = kinds {
                out.extend_from_slice(kinds[row].short().as_bytes());
            }
            for (place, (cells, field)) in writers.iter().zip(fields).enumerate() {
                if place > 0 || kinds.is_some() {
                    out.push(self.options.dialect.delimiter);
                }
                let start = out.len();
                let written = cells.write_or_null(row, &self.options, out);
                let begins = place == 0 && kinds.is_none();
                written
                    .and_then(|()| self.quote(out, start, begins, &mut aside))
                    .map_err(|error| error.context(format!("column '{}'", field.name())))?;
            }
            out.push(b'\n');
        }
        Ok(())
    }

    /// Puts the field that was written from `start` on into quotes, if it must be; `begins` tells that a record begins
    /// with it.
    fn quote(&self, out: &mut Vec<u8>, start: usize, begins: bool, aside: &mut Vec<u8>) -> Result<()> {
        let dialect = &self.options.dialect;
        let text = &out[start..];
        let special = |byte: &u8| {
            matches!(byte, b'\r' | b'\n')
                || *byte == dialect.delimiter
                || Some(*byte) == dialect.quote
                || Some(*byte) == dialect.escape
        };
        let needed = text.iter().any(special);
        let Some(quote) = dialect.quote else {
            return if needed { Err(unquotable(text)) } else { Ok(()) };
        };
        // What would be taken for a comment, blanks to skip, the mark at the start of a file, or a blank line.
        let mistaken = begins
            && (text.starts_with(b"#")
                || text.starts_with(BYTE_ORDER_MARK)
                || (dialect.comments && text.starts_with(b" "))
                || (text.is_empty() && self.schema.fields().len() == 1));
        if !needed && !mistaken {
            return Ok(());
        }
        aside.clear();
        aside.extend_from_slice(text);
        out.truncate(start);
        out.push(quote);
        for byte in aside.iter() {
            if *byte == quote || Some(*byte) == dialect.escape {
                out.push(*byte);
            }
            out.push(*byte);
        }
        out.push(quote);
        Ok(())
    }
}

#[cold]
fn unquotable(text: &[u8]) -> Error {
    Error::data(format!(
        "the value '{}' holds a character that has a meaning in CSV, and quotes are disabled",
        excerpt(text)
    ))
    .hint("take 'csv.disable-quote-character' out, or choose a 'csv.field-delimiter' that no value holds")
}

/// The elements of one column as the insides of fields.
enum Cells<'a> {
    One(Box<dyn Writer + 'a>),
    /// `ARRAY`.
    List {
        array: &'a dyn Array,
        offsets: &'a OffsetBuffer<i32>,
        elements: Box<dyn Writer + 'a>,
    },
    /// `ROW`.
    Row {
        array: &'a dyn Array,
        fields: Vec<Box<dyn Writer + 'a>>,
    },
}

fn cells<'a>(name: &str, array: &'a dyn Array, options: &CsvOptions) -> Result<Cells<'a>> {
    Ok(match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let elements = writer(name, list.values().as_ref(), options)?;
            Cells::List { array, offsets: list.offsets(), elements }
        }
        DataType::Struct(_) => {
            let columns = array.as_struct().columns().iter();
            let fields = columns.map(|column| writer(name, column.as_ref(), options)).collect::<Result<_>>()?;
            Cells::Row { array, fields }
        }
        _ => Cells::One(writer(name, array, options)?),
    })
}

/// A writer of a type that is not nested.
fn writer<'a>(name: &str, array: &'a dyn Array, options: &CsvOptions) -> Result<Box<dyn Writer + 'a>> {
    if let Some(writer) = scalars(array, b"", TimestampFormat::Sql) {
        return Ok(writer);
    }
    Ok(match array.data_type() {
        DataType::Decimal128(_, scale) => {
            let (scale, scientific) = (*scale, options.scientific_notation);
            primitive::<Decimal128Type>(array, move |value, out| write_stripped(value, scale, scientific, out))
        }
        DataType::Utf8View => {
            Box::new(Scalars(array.as_string_view(), |array: &StringViewArray, row, out: &mut Vec<u8>| {
                out.extend_from_slice(array.value(row).as_bytes());
            }))
        }
        other => return Err(unsupported(NAME, name, other)),
    })
}

impl Cells<'_> {
    /// Appends the inside of a field.
    fn write_or_null(&self, row: usize, options: &CsvOptions, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::One(writer) => {
                write_one(writer.as_ref(), row, options, out);
                Ok(())
            }
            Self::List { array, .. } | Self::Row { array, .. } if array.is_null(row) => {
                write_null(options, out);
                Ok(())
            }
            Self::List { offsets, elements, .. } => {
                let parts = offsets[row]..offsets[row + 1];
                write_parts(parts.map(|element| (elements.as_ref(), element as usize)), options, out)
            }
            Self::Row { fields, .. } => write_parts(fields.iter().map(|field| (field.as_ref(), row)), options, out),
        }
    }
}

/// Appends the elements with the delimiter between them.
fn write_parts<'a>(
    parts: impl Iterator<Item = (&'a dyn Writer, usize)>,
    options: &CsvOptions,
    out: &mut Vec<u8>,
) -> Result<()> {
    for (place, (writer, row)) in parts.enumerate() {
        if place > 0 {
            out.push(options.element_delimiter);
        }
        let start = out.len();
        write_one(writer, row, options, out);
        if memchr(options.element_delimiter, &out[start..]).is_some() {
            return Err(Error::data(format!(
                "the element '{}' holds the delimiter of elements, '{}'",
                excerpt(&out[start..]),
                char::from(options.element_delimiter)
            ))
            .hint("choose a 'csv.array-element-delimiter' that no element holds"));
        }
    }
    Ok(())
}

fn write_one(writer: &dyn Writer, row: usize, options: &CsvOptions, out: &mut Vec<u8>) {
    if writer.null(row) {
        write_null(options, out);
    } else {
        writer.write(row, out);
    }
}

fn write_null(options: &CsvOptions, out: &mut Vec<u8>) {
    out.extend_from_slice(options.null_literal.as_deref().unwrap_or_default().as_bytes());
}
