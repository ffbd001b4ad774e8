//! What is common to all columns: a value at the cursor becomes the next element of an Arrow array.

use arrow::array::{ArrayRef, ArrowPrimitiveType};
use arrow::buffer::Buffer;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, FieldRef, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType,
};
use std::sync::Arc;
use tidemill_core::Result as CoreResult;

use super::NAME;
use super::fault::Fault;
use super::nested::{ListColumn, MapColumn, RowColumn};
use super::options::JsonOptions;
use super::scalar::timestamp;
use super::scan::Cursor;
use super::text::{BytesColumn, StringColumn};
use crate::format::text::decimal::Decimal;
use crate::format::text::number::{Float, Integer};
use crate::format::text::temporal::{Date, Time};
use crate::format::text::unsupported;
use crate::format::text::values::{Booleans, Values, boolean, not_a_boolean};

/// An Arrow array that grows by the values of lines.
///
/// # Contract
/// - `append` starts at the first byte of a value that is not `null`, and on success leaves the cursor right after it,
///   one element longer. On a fault the column may have grown in part; `truncate` mends it.
pub(super) trait Column {
    /// Reads the value at the cursor.
    fn append(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault>;

    /// Appends NULL.
    fn append_null(&mut self);

    /// Keeps the first `len` elements.
    fn truncate(&mut self, len: usize);

    /// The array; `chunk` holds the bytes that the cursor ran over.
    fn finish(self: Box<Self>, chunk: &Buffer) -> CoreResult<ArrayRef>;
}

/// Makes the empty column of a field, with room for `rows`.
pub(super) fn column(field: &FieldRef, options: &JsonOptions, rows: usize) -> CoreResult<Box<dyn Column>> {
    let data_type = field.data_type();
    let zoned = |zone: &Option<Arc<str>>| zone.is_some();
    let format = options.timestamp_format;
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
        DataType::Date32 => primitive::<Date32Type>(Date { zeros_optional: false }, data_type, rows),
        DataType::Time32(TimeUnit::Millisecond) => {
            primitive::<Time32MillisecondType>(Time { seconds_optional: false }, data_type, rows)
        }
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            primitive::<TimestampMillisecondType>(timestamp(format, zoned(zone), 1_000), data_type, rows)
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            primitive::<TimestampMicrosecondType>(timestamp(format, zoned(zone), 1_000_000), data_type, rows)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            primitive::<TimestampNanosecondType>(timestamp(format, zoned(zone), 1_000_000_000), data_type, rows)
        }
        DataType::Utf8View => Box::new(StringColumn::new(rows)),
        DataType::BinaryView => Box::new(BytesColumn::new(rows)),
        DataType::Struct(fields) => Box::new(RowColumn::new(fields.clone(), options, rows)?),
        DataType::List(element) => Box::new(ListColumn::new(element, options, rows)?),
        DataType::Map(entries, _) => Box::new(MapColumn::new(field.name(), entries, options, rows)?),
        _ => return Err(unsupported(NAME, field.name(), data_type)),
    })
}

/// Reads one value of a type with a fixed width.
pub(super) trait Read<T> {
    /// The value at the cursor; `None` where the result is NULL.
    fn read(&self, cursor: &mut Cursor<'_>) -> Result<Option<T>, Fault>;
}

/// Values of a fixed width.
struct PrimitiveColumn<T: ArrowPrimitiveType, R> {
    reader: R,
    values: Values<T>,
}

fn primitive<T: ArrowPrimitiveType>(
    reader: impl Read<T::Native> + 'static,
    data_type: &DataType,
    rows: usize,
) -> Box<dyn Column> {
    Box::new(PrimitiveColumn::<T, _> { reader, values: Values::new(data_type, rows) })
}

impl<T: ArrowPrimitiveType, R: Read<T::Native>> Column for PrimitiveColumn<T, R> {
    fn append(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        self.values.push(self.reader.read(cursor)?);
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

impl BooleanColumn {
    fn read(cursor: &mut Cursor<'_>) -> Result<bool, Fault> {
        match cursor.peek() {
            b't' => cursor.word("true").map(|()| true),
            b'f' => cursor.word("false").map(|()| false),
            b'"' => Ok(boolean(&cursor.string()?.unescaped())?),
            _ => Err(not_a_boolean().into()),
        }
    }
}

impl Column for BooleanColumn {
    fn append(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        self.0.push(Self::read(cursor)?);
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
