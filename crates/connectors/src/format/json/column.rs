//! What is common to all columns: a value at the cursor becomes the next element of an Arrow array.

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, BooleanBufferBuilder, NullBufferBuilder, PrimitiveArray,
};
use arrow::buffer::Buffer;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, FieldRef, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType,
};
use std::sync::Arc;
use tidemill_core::{Error, Result as CoreResult};

use super::decimal::Decimal;
use super::fault::{Fault, sql_type};
use super::nested::{ListColumn, MapColumn, RowColumn};
use super::number::{Float, Integer};
use super::options::JsonOptions;
use super::scan::Cursor;
use super::temporal::{Date, Time, Timestamp};
use super::text::{BytesColumn, StringColumn};

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
        DataType::Boolean => Box::new(BooleanColumn::new(rows)),
        DataType::Int8 => primitive::<Int8Type>(Integer::default(), data_type, rows),
        DataType::Int16 => primitive::<Int16Type>(Integer::default(), data_type, rows),
        DataType::Int32 => primitive::<Int32Type>(Integer::default(), data_type, rows),
        DataType::Int64 => primitive::<Int64Type>(Integer::default(), data_type, rows),
        DataType::Float32 => primitive::<Float32Type>(Float, data_type, rows),
        DataType::Float64 => primitive::<Float64Type>(Float, data_type, rows),
        DataType::Decimal128(precision, scale) => {
            primitive::<Decimal128Type>(Decimal::new(*precision, *scale, field.is_nullable()), data_type, rows)
        }
        DataType::Date32 => primitive::<Date32Type>(Date, data_type, rows),
        DataType::Time32(TimeUnit::Millisecond) => primitive::<Time32MillisecondType>(Time, data_type, rows),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            primitive::<TimestampMillisecondType>(Timestamp::new(format, zoned(zone), 1_000), data_type, rows)
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            primitive::<TimestampMicrosecondType>(Timestamp::new(format, zoned(zone), 1_000_000), data_type, rows)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            primitive::<TimestampNanosecondType>(Timestamp::new(format, zoned(zone), 1_000_000_000), data_type, rows)
        }
        DataType::Utf8View => Box::new(StringColumn::new(rows)),
        DataType::BinaryView => Box::new(BytesColumn::new(rows)),
        DataType::Struct(fields) => Box::new(RowColumn::new(fields.clone(), options, rows)?),
        DataType::List(element) => Box::new(ListColumn::new(element, options, rows)?),
        DataType::Map(entries, _) => Box::new(MapColumn::new(field.name(), entries, options, rows)?),
        _ => return Err(unsupported(field.name(), data_type)),
    })
}

/// A column of a type that JSON is not read into or written from.
pub(super) fn unsupported(column: &str, data_type: &DataType) -> Error {
    Error::invalid(format!("the format 'json' does not have the type {} of the column '{column}'", sql_type(data_type)))
        .hint("declare another type, such as STRING")
}

/// Reads one value of a type with a fixed width.
pub(super) trait Read<T> {
    /// The value at the cursor; `None` where the result is NULL.
    fn read(&self, cursor: &mut Cursor<'_>) -> Result<Option<T>, Fault>;
}

/// Values of a fixed width.
struct PrimitiveColumn<T: ArrowPrimitiveType, R> {
    reader: R,
    data_type: DataType,
    values: Vec<T::Native>,
    nulls: NullBufferBuilder,
}

fn primitive<T: ArrowPrimitiveType>(
    reader: impl Read<T::Native> + 'static,
    data_type: &DataType,
    rows: usize,
) -> Box<dyn Column> {
    Box::new(PrimitiveColumn::<T, _> {
        reader,
        data_type: data_type.clone(),
        values: Vec::with_capacity(rows),
        nulls: NullBufferBuilder::new(rows),
    })
}

impl<T: ArrowPrimitiveType, R: Read<T::Native>> Column for PrimitiveColumn<T, R> {
    fn append(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        match self.reader.read(cursor)? {
            Some(value) => {
                self.values.push(value);
                self.nulls.append_non_null();
            }
            None => self.append_null(),
        }
        Ok(())
    }

    fn append_null(&mut self) {
        self.values.push(T::Native::default());
        self.nulls.append_null();
    }

    fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
        self.nulls.truncate(len);
    }

    fn finish(mut self: Box<Self>, _chunk: &Buffer) -> CoreResult<ArrayRef> {
        let array = PrimitiveArray::<T>::try_new(self.values.into(), self.nulls.finish())?;
        Ok(Arc::new(array.with_data_type(self.data_type)))
    }
}

/// `BOOLEAN`.
struct BooleanColumn {
    values: BooleanBufferBuilder,
    nulls: NullBufferBuilder,
}

impl BooleanColumn {
    fn new(rows: usize) -> Self {
        Self { values: BooleanBufferBuilder::new(rows), nulls: NullBufferBuilder::new(rows) }
    }

    fn read(cursor: &mut Cursor<'_>) -> Result<bool, Fault> {
        match cursor.peek() {
            b't' => cursor.word("true").map(|()| true),
            b'f' => cursor.word("false").map(|()| false),
            b'"' => {
                let text = cursor.string()?.unescaped();
                match text.trim_ascii() {
                    text if text.eq_ignore_ascii_case(b"true") => Ok(true),
                    text if text.eq_ignore_ascii_case(b"false") => Ok(false),
                    _ => Err(not_a_boolean()),
                }
            }
            _ => Err(not_a_boolean()),
        }
    }
}

#[cold]
fn not_a_boolean() -> Fault {
    Fault::value("is neither true nor false")
}

impl Column for BooleanColumn {
    fn append(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        self.values.append(Self::read(cursor)?);
        self.nulls.append_non_null();
        Ok(())
    }

    fn append_null(&mut self) {
        self.values.append(false);
        self.nulls.append_null();
    }

    fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
        self.nulls.truncate(len);
    }

    fn finish(mut self: Box<Self>, _chunk: &Buffer) -> CoreResult<ArrayRef> {
        Ok(Arc::new(BooleanArray::new(self.values.finish(), self.nulls.finish())))
    }
}

/// The text of a number or string: what scalar types are read from. A string is trimmed, as Flink does.
///
/// `quoted` tells whether it was a string. Any other value is a fault with `problem`.
pub(super) fn scalar<T>(
    cursor: &mut Cursor<'_>,
    problem: &'static str,
    parse: impl FnOnce(&[u8], bool) -> Result<T, Fault>,
) -> Result<T, Fault> {
    match cursor.peek() {
        b'"' => parse(cursor.string()?.unescaped().trim_ascii(), true),
        b'-' | b'0'..=b'9' => parse(cursor.number()?, false),
        _ => Err(Fault::value(problem)),
    }
}
