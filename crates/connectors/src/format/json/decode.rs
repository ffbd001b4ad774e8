//! From lines to a record batch: the loop over lines, and what becomes of one that is wrong.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{DecodeError, Decoded, Rejected};

use super::fault::{Fault, line_end};
use super::object::Object;
use super::options::JsonOptions;
use super::scan::Cursor;
use crate::format::text::utf8::Utf8;
use crate::format::text::{BYTE_ORDER_MARK, MAX_CHUNK_BYTES};

/// What room to make at first: a line is seldom shorter.
const LINE_BYTES: usize = 100;

/// Reads JSON lines by a schema. One decoder serves all workers.
#[derive(Debug)]
pub struct JsonDecoder {
    schema: SchemaRef,
    options: JsonOptions,
    keep_rejected: bool,
}

impl JsonDecoder {
    /// A decoder of the columns of `schema`; fields that it does not name are skipped.
    ///
    /// # Errors
    /// A column's type is not one that JSON is read into.
    pub fn new(schema: SchemaRef, options: JsonOptions) -> Result<Self> {
        Object::new(schema.fields(), &options, 0)?;
        Ok(Self { schema, options, keep_rejected: false })
    }

    /// The same decoder, which gives a line that does not parse among the rejected ones instead of failing.
    #[must_use]
    pub fn keep_rejected(self, keep_rejected: bool) -> Self {
        Self { keep_rejected, ..self }
    }

    /// The columns that are read, in this order.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Decodes whole lines, at most 2 GiB of them; the last may lack its line end. At the `first_of_file` a byte order
    /// mark is skipped. Every line counts as an offset, whether or not it holds a row.
    ///
    /// Strings of the result point into `lines`.
    ///
    /// # Errors
    /// The first line that does not parse, unless the options ignore it.
    pub fn decode(&self, lines: &Buffer, first_of_file: bool) -> Result<Decoded, DecodeError> {
        let whole = |error| DecodeError { offset: 0, error };
        if lines.len() > MAX_CHUNK_BYTES {
            return Err(whole(Error::data("a chunk of lines, or a single line, is longer than 2 GiB")));
        }
        let rows = lines.len() / LINE_BYTES + 1;
        let object = Object::new(self.schema.fields(), &self.options, rows).map_err(whole)?;
        let mut lines_of = Lines::new(lines.as_slice(), object, self);
        if first_of_file && lines.starts_with(BYTE_ORDER_MARK) {
            lines_of.cursor.seek(BYTE_ORDER_MARK.len());
        }
        lines_of.read()?;
        let Lines { object, rows, offset, offsets, rejected, .. } = lines_of;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = object.finish(lines).map_err(whole)?;
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        let rows = rows.map_err(|error| whole(error.into()))?;
        Ok(Decoded { rows, offsets, offset_count: offset, rejected, elements: None })
    }
}

/// The lines of one chunk, as far as they are read.
struct Lines<'a> {
    cursor: Cursor<'a>,
    object: Object,
    ignore_parse_errors: bool,
    keep_rejected: bool,
    rejected: Vec<Rejected>,
    /// How many rows there are.
    rows: usize,
    /// How many lines were read.
    offset: u64,
    /// The rows' offsets, from the first line on that held no row.
    offsets: Option<Vec<u32>>,
    utf8: Utf8,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8], object: Object, decoder: &JsonDecoder) -> Self {
        let ignore_parse_errors = decoder.options.ignore_parse_errors;
        Self {
            cursor: Cursor::new(bytes, ignore_parse_errors),
            object,
            ignore_parse_errors,
            keep_rejected: decoder.keep_rejected,
            rejected: vec![],
            rows: 0,
            offset: 0,
            offsets: None,
            utf8: Utf8::of(bytes),
        }
    }

    /// Reads all lines.
    fn read(&mut self) -> Result<(), DecodeError> {
        let bytes = self.cursor.bytes();
        while self.cursor.pos() < bytes.len() {
            let start = self.cursor.pos();
            match self.line(start) {
                Ok(true) => self.count_row(),
                Ok(false) => self.count_rowless(),
                Err(_) if self.ignore_parse_errors => self.skip_line(start),
                Err(fault) if self.keep_rejected => {
                    let error = fault.into_error(bytes, start);
                    let record = bytes[start..line_end(bytes, start)].to_vec();
                    self.rejected.push(Rejected { offset: self.offset, record, error });
                    self.skip_line(start);
                }
                Err(fault) => return Err(DecodeError { offset: self.offset, error: fault.into_error(bytes, start) }),
            }
            self.offset += 1;
        }
        Ok(())
    }

    /// Takes back what the line at `start` has given so far, and goes to the next.
    #[cold]
    fn skip_line(&mut self, start: usize) {
        self.object.truncate(self.rows);
        self.cursor.set_depth(0);
        self.cursor.seek(line_end(self.cursor.bytes(), start) + 1);
        self.count_rowless();
    }

    /// Reads one line, with its end; `false` if it is blank.
    #[inline]
    fn line(&mut self, start: usize) -> Result<bool, Fault> {
        if !self.utf8.covers(start) {
            self.check_utf8(start)?;
        }
        self.cursor.space();
        match self.cursor.peek() {
            b'{' => self.object.append(&mut self.cursor, self.rows)?,
            b'\n' => {
                self.cursor.advance();
                return Ok(false);
            }
            _ => return Err(Fault::line(self.cursor.pos(), "an object must stand")),
        }
        self.cursor.end_of_line()?;
        Ok(true)
    }

    /// Refuses the line at `start` if it is not UTF-8. What follows it is checked when it is reached.
    #[cold]
    fn check_utf8(&mut self, start: usize) -> Result<(), Fault> {
        let bytes = self.cursor.bytes();
        let end = line_end(bytes, start);
        self.utf8.check(bytes, start, end).map_err(|at| {
            Fault::line(at, "a byte that is not UTF-8")
                .hint("convert the input to UTF-8, or set 'json.ignore-parse-errors' = 'true' to skip such lines")
        })
    }

    #[inline]
    fn count_row(&mut self) {
        self.rows += 1;
        if let Some(offsets) = &mut self.offsets {
            offsets.push(self.offset as u32);
        }
    }

    /// A line without a row: from here on offsets are not those of the rows.
    #[cold]
    fn count_rowless(&mut self) {
        self.offsets.get_or_insert_with(|| (0..self.rows as u32).collect());
    }
}
