//! From records to a record batch: the loop over records, and what becomes of one that is wrong.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::buffer::Buffer;
use arrow::datatypes::{Schema, SchemaRef};
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{DecodeError, Decoded, Rejected};

use super::column::column;
use super::fault::{Fault, ends_with_returns, returns_alone};
use super::options::CsvOptions;
use super::slot::{Refused, Slot};
use super::split::{Field, Fields};
use crate::format::text::utf8::Utf8;
use crate::format::text::{BYTE_ORDER_MARK, MAX_CHUNK_BYTES};

/// What room to make at first: a record is seldom shorter.
const RECORD_BYTES: usize = 50;

/// Reads CSV by a schema. One decoder serves all workers.
#[derive(Debug)]
pub struct CsvDecoder {
    schema: SchemaRef,
    /// For each field of a record the column of `schema` that it belongs to.
    places: Vec<Option<usize>>,
    options: CsvOptions,
    keep_rejected: bool,
}

impl CsvDecoder {
    /// A decoder of the columns of `schema`, which are some of those that a record has: `record`, in its order.
    ///
    /// # Errors
    /// A column's type is not one that CSV is read into, or `record` lacks a column.
    pub fn new(schema: SchemaRef, record: &Schema, options: CsvOptions) -> Result<Self> {
        for field in schema.fields() {
            column(field, &options, 0)?;
            if record.index_of(field.name()).is_err() {
                return Err(Error::internal(format!("the column '{}' is not among those of a record", field.name())));
            }
        }
        let places = record.fields().iter().map(|field| schema.index_of(field.name()).ok()).collect();
        Ok(Self { schema, places, options, keep_rejected: false })
    }

    /// The same decoder, which gives a record that does not parse among the rejected ones instead of failing.
    #[must_use]
    pub fn keep_rejected(self, keep_rejected: bool) -> Self {
        Self { keep_rejected, ..self }
    }

    /// Decodes whole records, at most 2 GiB of them; the last may lack its line end. At the `first_of_file` a byte
    /// order mark is skipped, and a header if the options say so, with the lines before it that are no record. Every
    /// line counts as an offset; a record of several has the first one's.
    ///
    /// Strings of the result point into `records` where nothing in them is escaped.
    ///
    /// # Errors
    /// The first record that does not parse, unless the options ignore it.
    pub fn decode(&self, records: &Buffer, first_of_file: bool) -> Result<Decoded, DecodeError> {
        let whole = |error| DecodeError { offset: 0, error };
        if records.len() > MAX_CHUNK_BYTES {
            return Err(whole(Error::data("a chunk of records, or a single one, is longer than 2 GiB")));
        }
        let room = records.len() / RECORD_BYTES + 1;
        let slots = self.schema.fields().iter().map(|field| Slot::new(field, &self.options, room));
        let mut reading = Records::new(self, records, slots.collect::<Result<_>>().map_err(whole)?);
        if first_of_file {
            reading.skip_header(self.options.ignore_first_line).map_err(whole)?;
        }
        reading.read()?;
        let Records { slots, rows, offset, offsets, rejected, .. } = reading;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = slots.into_iter().map(|slot| slot.finish(records)).collect::<Result<_>>().map_err(whole)?;
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        let rows = rows.map_err(|error| whole(error.into()))?;
        Ok(Decoded { rows, offsets, offset_count: offset, rejected, elements: None })
    }
}

/// The records of one chunk, as far as they are read.
struct Records<'a> {
    decoder: &'a CsvDecoder,
    fields: Fields<'a>,
    slots: Vec<Slot>,
    /// Where a field that holds escapes is written as it is meant.
    aside: Vec<u8>,
    rejected: Vec<Rejected>,
    /// How many rows there are.
    rows: usize,
    /// How many lines were read.
    offset: u64,
    /// The rows' offsets, from the first row on whose offset is not its number.
    offsets: Option<Vec<u32>>,
    utf8: Utf8,
}

impl<'a> Records<'a> {
    fn new(decoder: &'a CsvDecoder, bytes: &'a [u8], slots: Vec<Slot>) -> Self {
        Self {
            decoder,
            fields: Fields::new(decoder.options.dialect, bytes),
            slots,
            aside: vec![],
            rejected: vec![],
            rows: 0,
            offset: 0,
            offsets: None,
            utf8: Utf8::of(bytes),
        }
    }

    /// Steps over what stands before the first row of a file.
    ///
    /// # Errors
    /// The header is the whole file, since its lines end with a carriage return alone.
    fn skip_header(&mut self, header: bool) -> Result<()> {
        let bytes = self.fields.bytes();
        if bytes.starts_with(BYTE_ORDER_MARK) {
            self.fields.seek(BYTE_ORDER_MARK.len());
        }
        while header && self.fields.pos() < bytes.len() && self.skip_rowless() {
            self.offset += 1;
        }
        if header && self.fields.pos() < bytes.len() {
            let start = self.fields.pos();
            while !self.fields.step().last {}
            if ends_with_returns(&bytes[start..self.fields.pos()]) {
                return Err(returns_alone());
            }
            self.offset += self.fields.take_inner_lines() + 1;
        }
        Ok(())
    }

    /// Reads all records.
    fn read(&mut self) -> Result<(), DecodeError> {
        let bytes = self.fields.bytes();
        while self.fields.pos() < bytes.len() {
            let start = self.fields.pos();
            if !self.skip_rowless() {
                match self.record(start) {
                    Ok(()) => self.count_row(),
                    Err(fault) => self.refuse(fault, start)?,
                }
            }
            self.offset += self.fields.take_inner_lines() + 1;
        }
        Ok(())
    }

    /// Steps over a line that is no record. In a table of one column a blank line is one.
    #[inline]
    fn skip_rowless(&mut self) -> bool {
        if self.decoder.options.dialect.comments {
            return self.fields.skip_comment();
        }
        self.decoder.places.len() > 1 && self.fields.skip_blank_line()
    }

    /// Reads one record, with its end. Whatever is wrong with it, it is stepped over.
    #[inline]
    fn record(&mut self, start: usize) -> Result<(), Fault> {
        let (mut number, mut fault) = (0, None::<Fault>);
        loop {
            let field = self.fields.step();
            if let Err(found) = self.field(field, number) {
                fault = Some(found.or_heavier(fault));
            }
            number += 1;
            if field.last {
                break;
            }
        }
        let end = self.fields.pos();
        if end > self.utf8.valid_to() {
            self.utf8.check(self.fields.bytes(), start, end).map_err(Fault::not_utf8)?;
        }
        if number < self.decoder.places.len() {
            self.fill(number).map_err(|found| found.or_heavier(fault.take()))?;
        }
        fault.map_or(Ok(()), Err)
    }

    /// Gives a field to its column, if it has one that was asked for.
    #[inline]
    fn field(&mut self, field: Field, number: usize) -> Result<(), Fault> {
        if let Some(damage) = field.damage {
            return Err(Fault::damaged(damage));
        }
        let dialect = &self.decoder.options.dialect;
        match self.decoder.places.get(number) {
            Some(None) => Ok(()),
            Some(Some(slot)) => {
                let slot = &mut self.slots[*slot];
                let value = field.text(self.fields.bytes(), dialect, &mut self.aside);
                slot.append(value).map_err(|refused| match refused {
                    Refused::Misfit(misfit) => Fault::value(misfit, &slot.field, value.text, number + 1),
                    Refused::Null => Fault::absent(&slot.field),
                })
            }
            None => {
                let columns = self.decoder.places.len();
                let value = field.text(self.fields.bytes(), dialect, &mut self.aside);
                // A delimiter may stand behind the last field, as in Flink.
                if number == columns && field.last && value.is_blank() {
                    return Ok(());
                }
                Err(Fault::too_many(columns))
            }
        }
    }

    /// Gives the columns that the record has no fields for their NULL, if that is asked for.
    #[cold]
    fn fill(&mut self, number: usize) -> Result<(), Fault> {
        let decoder = self.decoder;
        if !decoder.options.ignore_parse_errors {
            return Err(Fault::too_few(number, decoder.places.len()));
        }
        for place in decoder.places[number..].iter().flatten() {
            let slot = &mut self.slots[*place];
            slot.append_null().map_err(|_| Fault::absent(&slot.field))?;
        }
        Ok(())
    }

    /// Takes back what the record from `start` to here has given, and skips, keeps or tells what is wrong.
    #[cold]
    fn refuse(&mut self, fault: Fault, start: usize) -> Result<(), DecodeError> {
        self.slots.iter_mut().for_each(|slot| slot.truncate(self.rows));
        if self.decoder.options.ignore_parse_errors {
            return Ok(());
        }
        let bytes = self.fields.bytes();
        let end = self.fields.pos();
        let line = fault.line(bytes, start);
        let error = fault.into_error(bytes, start, end);
        if !self.decoder.keep_rejected {
            return Err(DecodeError { offset: self.offset + line, error });
        }
        let record = bytes[start..end].strip_suffix(b"\n").unwrap_or(&bytes[start..end]).to_vec();
        self.rejected.push(Rejected { offset: self.offset, record, error });
        Ok(())
    }

    #[inline]
    fn count_row(&mut self) {
        if self.offsets.is_none() && self.offset != self.rows as u64 {
            self.offsets = Some((0..self.rows as u32).collect());
        }
        if let Some(offsets) = &mut self.offsets {
            offsets.push(self.offset as u32);
        }
        self.rows += 1;
    }
}
