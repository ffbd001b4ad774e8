//! From a file's columns to those of a table: by name, without loss.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, TimestampMicrosecondArray, TimestampMillisecondArray, new_null_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType, Field, FieldRef, Fields, Schema, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType,
};
use tidemill_core::{Error, Result};

use crate::format::sql_type;

/// Where the columns of a table stand in a file.
#[derive(Debug)]
pub(super) struct Columns {
    wanted: Fields,
    /// By wanted column: its place among the columns that are read; `None` where the file has none.
    places: Vec<Option<usize>>,
}

impl Columns {
    /// The columns `wanted` of a file whose columns are `file`.
    ///
    /// # Errors
    /// `Invalid` where a column's type in the file is not one that reads as the declared type.
    pub(super) fn new(wanted: &Fields, file: &Schema) -> Result<Self> {
        let mut read = vec![];
        for field in wanted {
            match file.column_with_name(field.name()) {
                Some((index, found)) => {
                    check(field, found)?;
                    read.push(Some(index));
                }
                None if field.is_nullable() => read.push(None),
                None => {
                    return Err(Error::invalid(format!(
                        "the column '{}' is NOT NULL, and the file does not have it",
                        field.name()
                    ))
                    .hint(format!("its columns are: {}", names(file))));
                }
            }
        }
        let mut in_file_order: Vec<usize> = read.iter().flatten().copied().collect();
        in_file_order.sort_unstable();
        let place = |index: usize| in_file_order.partition_point(|&other| other < index);
        Ok(Self { wanted: wanted.clone(), places: read.into_iter().map(|index| index.map(place)).collect() })
    }

    /// The wanted columns, of those that were read.
    pub(super) fn of(&self, read: &[ArrayRef], rows: usize) -> Result<Vec<ArrayRef>> {
        let column = |(field, place): (&FieldRef, &Option<usize>)| match place {
            Some(place) => convert(&read[*place], field.data_type()),
            None => Ok(new_null_array(field.data_type(), rows)),
        };
        self.wanted.iter().zip(&self.places).map(column).collect()
    }

    /// The first row that is NULL in a column that is not.
    pub(super) fn null_where_none_may_be(&self, columns: &[ArrayRef]) -> Option<(usize, Error)> {
        let first = |(field, column): (&FieldRef, &ArrayRef)| {
            if field.is_nullable() || column.null_count() == 0 {
                return None;
            }
            let row = (0..column.len()).find(|row| column.is_null(*row))?;
            Some((row, Error::data(format!("the column '{}' is NOT NULL, and the row has NULL", field.name()))))
        };
        self.wanted.iter().zip(columns).filter_map(first).min_by_key(|(row, _)| *row)
    }
}

fn names(schema: &Schema) -> String {
    schema.fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>().join(", ")
}

/// The types that a file is best read in: strings and bytes as views.
pub(super) fn as_views(schema: &Schema) -> Schema {
    Schema::new_with_metadata(
        schema
            .fields()
            .iter()
            .map(|f| Arc::new(f.as_ref().clone().with_data_type(view(f.data_type()))))
            .collect::<Fields>(),
        schema.metadata().clone(),
    )
}

fn view(data_type: &DataType) -> DataType {
    let viewed = |field: &FieldRef| -> FieldRef {
        let data_type = view(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    };
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(viewed).collect()),
        DataType::List(element) => DataType::List(viewed(element)),
        DataType::Map(entries, sorted) => DataType::Map(viewed(entries), *sorted),
        other => other.clone(),
    }
}

fn check(declared: &Field, found: &Field) -> Result<()> {
    if reads_as(found.data_type(), declared.data_type()) {
        return Ok(());
    }
    if super::infer::declared(found.data_type()).is_none() {
        let (name, found) = (declared.name(), found.data_type());
        return Err(Error::invalid(format!(
            "the column '{name}' has the type {found} in the file, which no table has"
        ))
        .hint("leave it out of the query, or have the file written with another type"));
    }
    let (declared_type, found_type) = (sql_type(declared.data_type()), sql_type(found.data_type()));
    Err(Error::invalid(format!(
        "the column '{}' is declared {declared_type}, and has the type {found_type} in the file",
        declared.name()
    ))
    .hint(format!("declare {} {found_type}, and CAST it in the query", declared.name())))
}

/// Whether every value of `from` has its like in `to`, or loses no more than digits of a second.
fn reads_as(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    match (from, to) {
        (T::Null, _) => true,
        (T::UInt64, T::Decimal128(precision, scale)) => i16::from(*precision) - i16::from(*scale) >= 20,
        (T::Timestamp(..), T::Timestamp(..)) => true,
        (T::Decimal128(p1, s1), T::Decimal128(p2, s2)) => {
            s1 <= s2 && i16::from(*p1) - i16::from(*s1) <= i16::from(*p2) - i16::from(*s2)
        }
        (T::Struct(from), T::Struct(to)) => {
            // As of columns, not all of them need be read.
            to.iter().all(|to| from.find(to.name()).is_some_and(|(_, from)| reads_as(from.data_type(), to.data_type())))
        }
        (T::List(from) | T::LargeList(from), T::List(to)) => reads_as(from.data_type(), to.data_type()),
        (T::Map(from, _), T::Map(to, _)) => match (from.data_type(), to.data_type()) {
            (T::Struct(from), T::Struct(to)) => {
                from.len() == to.len() && from.iter().zip(to).all(|(f, t)| reads_as(f.data_type(), t.data_type()))
            }
            _ => false,
        },
        (T::Utf8 | T::LargeUtf8 | T::Utf8View, T::Utf8View) => true,
        (T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_), T::BinaryView) => true,
        // A string that the writer did not mark as one.
        (T::Binary | T::BinaryView, T::Utf8View) => true,
        (T::Dictionary(_, values), to) => reads_as(values, to),
        (T::Float32, T::Float64) => true,
        (T::Time32(_) | T::Time64(_), T::Time32(_)) => true,
        _ => from == to || widens(from, to),
    }
}

fn widens(from: &DataType, to: &DataType) -> bool {
    // How many bits, and whether one of them is a sign.
    let width = |t: &DataType| match t {
        DataType::Int8 => Some((7, true)),
        DataType::Int16 => Some((15, true)),
        DataType::Int32 => Some((31, true)),
        DataType::Int64 => Some((63, true)),
        DataType::UInt8 => Some((8, false)),
        DataType::UInt16 => Some((16, false)),
        DataType::UInt32 => Some((32, false)),
        _ => None,
    };
    match (width(from), width(to)) {
        (Some((from, _)), Some((to, true))) => from <= to,
        _ => false,
    }
}

fn convert(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    if array.data_type().is_null() {
        return Ok(new_null_array(to, array.len()));
    }
    // A time before 1970 is rounded to the past, as one after it is; a cast would round to zero.
    let divided = match (array.data_type(), to) {
        (DataType::Timestamp(TimeUnit::Microsecond, _), DataType::Timestamp(TimeUnit::Millisecond, _)) => {
            let times = array.as_primitive::<TimestampMicrosecondType>();
            Some(Arc::new(times.unary::<_, TimestampMillisecondType>(|t| t.div_euclid(1_000))) as ArrayRef)
        }
        (DataType::Timestamp(TimeUnit::Nanosecond, _), DataType::Timestamp(TimeUnit::Millisecond, _)) => {
            let times = array.as_primitive::<TimestampNanosecondType>();
            let floored: TimestampMillisecondArray = times.unary(|t| t.div_euclid(1_000_000));
            Some(Arc::new(floored) as ArrayRef)
        }
        (DataType::Timestamp(TimeUnit::Nanosecond, _), DataType::Timestamp(TimeUnit::Microsecond, _)) => {
            let times = array.as_primitive::<TimestampNanosecondType>();
            let floored: TimestampMicrosecondArray = times.unary(|t| t.div_euclid(1_000));
            Some(Arc::new(floored) as ArrayRef)
        }
        _ => None,
    };
    let array = divided.as_ref().unwrap_or(array);
    // The zone is a name for the same moments: a cast between zones would move a time without one.
    let array = match (array.data_type(), to) {
        (DataType::Timestamp(unit, _), DataType::Timestamp(_, zone)) => arrow::array::make_array(
            array.to_data().into_builder().data_type(DataType::Timestamp(*unit, zone.clone())).build()?,
        ),
        _ => Arc::clone(array),
    };
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(&array, to, &strict)?)
}
