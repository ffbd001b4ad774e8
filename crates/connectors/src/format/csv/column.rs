//! What is common to all columns: a field's text becomes the next element of an Arrow array.

use std::sync::Arc;

use arrow::array::{ArrayRef, ArrowPrimitiveType};
use arrow::buffer::Buffer;
use arrow::datatypes::{
    BinaryViewType, DataType, Date32Type, Decimal128Type, FieldRef, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, StringViewType, Time32MillisecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use tidemill_core::Result as CoreResult;

use super::NAME;
use super::nested::{ListColumn, RowColumn};
use super::options::CsvOptions;
use super::split::Value;
use crate::format::text::decimal::Decimal;
use crate::format::text::number::{Float, Integer};
use crate::format::text::temporal::{Date, Time, Timestamp, TimestampFormat};
use crate::format::text::values::{Booleans, Values, boolean};
use crate::format::text::views::{Views, base64};
use crate::format::text::{Misfit, Parse, unsupported};

/// An Arrow array that grows by the fields of records.
///
/// # Contract
/// On success `append` leaves the column one element longer. On a misfit it may have grown in part; `truncate` mends it.
pub(super) trait Column {
    /// Appends the value that the text means.
    fn append(&mut self, value: Value<'_>) -> Result<(), Misfit>;

    /// Appends NULL.
    fn append_null(&mut self);

    /// Keeps the first `len` elements.
    fn truncate(&mut self, len: usize);

    /// The array; `chunk` holds the bytes that were read.
    fn finish(self: Box<Self>, chunk: &Buffer) -> CoreResult<ArrayRef>;
}

/// Makes the empty column of a field, with room for `rows`.
pub(super) fn column(field: &FieldRef, options: &CsvOptions, rows: usize) -> CoreResult<Box<dyn Column>> {
    let data_type = field.data_type();
    let timestamp = |zone: &Option<Arc<str>>, units| {
        Timestamp::new(TimestampFormat::Sql, zone.is_some(), units, "write a space between date and time, not a 'T'")
    };
    Ok(match data_type {
        DataType::Boolean => Box::new(BooleanColumn(Booleans::new(rows))),
        DataType::Int8 => primitive::<Int8Type>(Integer::default(), data_type, rows),
        DataType::Int16 => primitive::<Int16Type>(Integer::default(), data_type, rows),
        DataType::Int32 => primitive::<Int32Type>(Integer::default(), data_type, rows),
        DataType::Int64 => primitive::<Int64Type>(Integer::default(), data_type, rows),
        DataType::Float32 => primitive::<Float32Type>(Float, data_type, rows),
        DataType::Float64 => primitive::<Float64Type>(Float, data_type, rows),
        DataType::Decimal128(precision, scale) => {
            primitive::<Decimal128Type>(Decimal::new(*precision, *scale, field.is_nullable()), data_type, rows)
        }
        DataType::Date32 => primitive::<Date32Type>(Date { zeros_optional: true }, data_type, rows),
        DataType::Time32(TimeUnit::Millisecond) => {
            primitive::<Time32MillisecondType>(Time { seconds_optional: true }, data_type, rows)
        }
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            primitive::<TimestampMillisecondType>(timestamp(zone, 1_000), data_type, rows)
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            primitive::<TimestampMicrosecondType>(timestamp(zone, 1_000_000), data_type, rows)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            primitive::<TimestampNanosecondType>(timestamp(zone, 1_000_000_000), data_type, rows)
        }
        DataType::Utf8View => Box::new(StringColumn(Views::new(rows))),
        DataType::BinaryView => Box::new(BytesColumn(Views::new(rows))),
        DataType::List(element) if !element.data_type().is_nested() => {
            Box::new(ListColumn::new(element, options, rows)?)
        }
        DataType::Struct(fields) if !fields.iter().any(|field| field.data_type().is_nested()) => {
            Box::new(RowColumn::new(fields, options, rows)?)
        }
        DataType::List(_) | DataType::Struct(_) => {
            return Err(unsupported(NAME, field.name(), data_type)
                .hint("the elements of an ARRAY and the fields of a ROW are simple types in CSV"));
        }
        _ => return Err(unsupported(NAME, field.name(), data_type)),
    })
}

/// Values of a fixed width.
struct PrimitiveColumn<T: ArrowPrimitiveType, P> {
    parser: P,
    values: Values<T>,
}

fn primitive<T: ArrowPrimitiveType>(
    parser: impl Parse<T::Native> + 'static,
    data_type: &DataType,
    rows: usize,
) -> Box<dyn Column> {
    Box::new(PrimitiveColumn::<T, _> { parser, values: Values::new(data_type, rows) })
}

impl<T: ArrowPrimitiveType, P: Parse<T::Native>> Column for PrimitiveColumn<T, P> {
    fn append(&mut self, value: Value<'_>) -> Result<(), Misfit> {
        self.values.push(self.parser.parse(value.text.trim_ascii())?);
        Ok(())
    }

    fn append_null(&mut self) {
        self.values.push_null();
    }

    fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
    }

    fn finish(self: Box<Self>, _chunk: &Buffer) -> CoreResult<ArrayRef> {
        self.values.finish()
    }
}

/// `BOOLEAN`.
struct BooleanColumn(Booleans);

impl Column for BooleanColumn {
    fn append(&mut self, value: Value<'_>) -> Result<(), Misfit> {
        self.0.push(boolean(value.text)?);
        Ok(())
    }

    fn append_null(&mut self) {
        self.0.push_null();
    }

    fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    fn finish(self: Box<Self>, _chunk: &Buffer) -> CoreResult<ArrayRef> {
        Ok(self.0.finish())
    }
}

/// `STRING`: the field as it is meant.
struct StringColumn(Views);

impl Column for StringColumn {
    #[inline]
    fn append(&mut self, value: Value<'_>) -> Result<(), Misfit> {
        match value.start {
            Some(start) => self.0.push_chunk(value.chunk, start, value.text.len()),
            None => self.0.push_copy(value.text),
        }
        Ok(())
    }

    fn append_null(&mut self) {
        self.0.push_null();
    }

    fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    fn finish(self: Box<Self>, chunk: &Buffer) -> CoreResult<ArrayRef> {
        // SAFETY: the decoder drops the rows of records that are not UTF-8; fields and their parts begin and end at
        // ASCII bytes, and unescaping takes ASCII bytes out or puts others in their place.
        Ok(Arc::new(unsafe { self.0.finish::<StringViewType>(chunk) }))
    }
}

/// `BYTES`: base64.
struct BytesColumn(Views);

impl Column for BytesColumn {
    fn append(&mut self, value: Value<'_>) -> Result<(), Misfit> {
        self.0.push_aside(|aside| base64(value.text, aside))
    }

    fn append_null(&mut self) {
        self.0.push_null();
    }

    fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    fn finish(self: Box<Self>, chunk: &Buffer) -> CoreResult<ArrayRef> {
        // SAFETY: any bytes are valid.
        Ok(Arc::new(unsafe { self.0.finish::<BinaryViewType>(chunk) }))
    }
}
