//! From a file's columns to those of a table: by name, without loss.

use std::slice;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType, Field, FieldRef, Fields, Schema, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType,
};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::Type as PhysicalType;
use parquet::schema::types::ColumnDescPtr;
use tidemill_core::{Error, Result};

use super::rejected::Faults;
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

    /// The rows that are NULL in a column that is not.
    pub(super) fn nulls_where_none_may_be(&self, columns: &[ArrayRef]) -> Faults {
        let mut faults = Faults::new();
        for (field, column) in self.wanted.iter().zip(columns) {
            if field.is_nullable() || column.null_count() == 0 {
                continue;
            }
            for row in (0..column.len()).filter(|row| column.is_null(*row)) {
                faults.entry(row).or_insert_with(|| {
                    Error::data(format!("the column '{}' is NOT NULL, and the row has NULL", field.name()))
                });
            }
        }
        faults
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

/// The types of a file, the outdated `INT96` in the unit of the column that is wanted of it, though none finer than
/// `finest`; in microseconds where none is. An `INT96` reaches over more years than nanoseconds do.
pub(super) fn with_units(file: &ArrowReaderMetadata, wanted: &Fields, finest: TimeUnit) -> Schema {
    let mut units = Units { leaves: file.parquet_schema().columns().iter(), finest };
    let fields: Fields =
        file.schema().fields().iter().map(|found| units.field(found, type_of(wanted, found.name()))).collect();
    Schema::new_with_metadata(fields, file.schema().metadata().clone())
}

fn type_of<'a>(fields: &'a Fields, name: &str) -> Option<&'a DataType> {
    fields.find(name).map(|(_, field)| field.data_type())
}

/// Goes through the types of a file and the leaves that they stand for, which are in the same order.
struct Units<'a> {
    leaves: slice::Iter<'a, ColumnDescPtr>,
    finest: TimeUnit,
}

impl Units<'_> {
    fn field(&mut self, found: &FieldRef, wanted: Option<&DataType>) -> FieldRef {
        let data_type = self.data_type(found.data_type(), wanted);
        Arc::new(found.as_ref().clone().with_data_type(data_type))
    }

    fn data_type(&mut self, found: &DataType, wanted: Option<&DataType>) -> DataType {
        let element = match wanted {
            Some(DataType::List(element)) => Some(element.data_type()),
            _ => None,
        };
        match found {
            DataType::Struct(fields) => {
                let wanted = |name: &str| match wanted {
                    Some(DataType::Struct(wanted)) => type_of(wanted, name),
                    _ => None,
                };
                DataType::Struct(fields.iter().map(|field| self.field(field, wanted(field.name()))).collect())
            }
            DataType::List(found) => DataType::List(self.field(found, element)),
            DataType::LargeList(found) => DataType::LargeList(self.field(found, element)),
            // No table has these, but their leaves have to be passed.
            DataType::ListView(found) => DataType::ListView(self.field(found, None)),
            DataType::LargeListView(found) => DataType::LargeListView(self.field(found, None)),
            DataType::FixedSizeList(found, length) => DataType::FixedSizeList(self.field(found, None), *length),
            DataType::Map(entries, sorted) => DataType::Map(self.entries(entries, wanted), *sorted),
            found => self.leaf(found, wanted),
        }
    }

    /// Those of a map: a key and a value, by their place.
    fn entries(&mut self, found: &FieldRef, wanted: Option<&DataType>) -> FieldRef {
        let DataType::Struct(fields) = found.data_type() else { return Arc::clone(found) };
        let wanted = |place: usize| match wanted {
            Some(DataType::Map(wanted, _)) => match wanted.data_type() {
                DataType::Struct(wanted) => wanted.get(place).map(|field| field.data_type()),
                _ => None,
            },
            _ => None,
        };
        let fields = fields.iter().enumerate().map(|(place, field)| self.field(field, wanted(place))).collect();
        Arc::new(found.as_ref().clone().with_data_type(DataType::Struct(fields)))
    }

    fn leaf(&mut self, found: &DataType, wanted: Option<&DataType>) -> DataType {
        let is_int96 = self.leaves.next().is_some_and(|leaf| leaf.physical_type() == PhysicalType::INT96);
        match (found, wanted) {
            (DataType::Timestamp(_, zone), Some(DataType::Timestamp(unit, _))) if is_int96 => {
                DataType::Timestamp((*unit).min(self.finest), zone.clone())
            }
            (DataType::Timestamp(_, zone), _) if is_int96 => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
            (other, _) => other.clone(),
        }
    }
}

/// The rows of a column whose moments are other ones in `coarse`, the same column in a unit that reaches further.
pub(super) fn other_moments(column: &ArrayRef, coarse: &ArrayRef) -> Result<Vec<usize>> {
    let rounded = convert(column, coarse.data_type())?;
    if rounded.as_ref() == coarse.as_ref() {
        return Ok(vec![]);
    }
    let differs = |row: &usize| rounded.slice(*row, 1).as_ref() != coarse.slice(*row, 1).as_ref();
    Ok((0..coarse.len()).filter(differs).collect())
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
    use DataType as T;
    match (array.data_type(), to) {
        (from, to) if from == to => Ok(Arc::clone(array)),
        (T::Null, _) => Ok(new_null_array(to, array.len())),
        (T::Timestamp(..), T::Timestamp(..)) => moments(array, to),
        // What holds moments is taken apart: a cast of the whole would round them to zero.
        (T::Dictionary(_, values), T::Timestamp(..)) => convert(&cast(array, values)?, to),
        (T::LargeList(element), T::List(_)) => convert(&cast(array, &T::List(Arc::clone(element)))?, to),
        (T::List(_), T::List(element)) => list(array.as_list(), element),
        (T::Struct(_), T::Struct(fields)) => row(array.as_struct(), fields),
        (T::Map(..), T::Map(entries, sorted)) => map(array.as_map(), entries, *sorted),
        _ => cast(array, to),
    }
}

fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(array, to, &strict)?)
}

fn moments(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
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
    cast(&array, to)
}

fn list(list: &ListArray, element: &FieldRef) -> Result<ArrayRef> {
    let values = convert(list.values(), element.data_type())?;
    let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
    Ok(Arc::new(ListArray::try_new(Arc::clone(element), offsets, values, nulls)?))
}

fn row(row: &StructArray, wanted: &Fields) -> Result<ArrayRef> {
    let column = |field: &FieldRef| match row.column_by_name(field.name()) {
        Some(column) => convert(column, field.data_type()),
        None => Err(Error::internal(format!("the field '{}' of a ROW was not read", field.name()))),
    };
    let columns = wanted.iter().map(column).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(StructArray::try_new(wanted.clone(), columns, row.nulls().cloned())?))
}

fn map(map: &MapArray, entries: &FieldRef, sorted: bool) -> Result<ArrayRef> {
    let DataType::Struct(fields) = entries.data_type() else {
        return Err(Error::internal("the entries of a MAP are no ROW"));
    };
    let columns = fields.iter().zip(map.entries().columns());
    let columns = columns.map(|(field, column)| convert(column, field.data_type())).collect::<Result<Vec<_>>>()?;
    let pairs = StructArray::try_new(fields.clone(), columns, None)?;
    let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
    Ok(Arc::new(MapArray::try_new(Arc::clone(entries), offsets, pairs, nulls, sorted)?))
}

#[cfg(test)]
mod tests;
