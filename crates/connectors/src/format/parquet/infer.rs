//! The columns of Parquet files that nobody has declared: their own.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use tidemill_core::{Error, Result};

use super::columns::with_units;
use super::footer::footer;
use super::input::ParquetInput;

/// The columns of files, by name.
#[derive(Debug, Default)]
pub struct ParquetSample {
    fields: Vec<Field>,
}

impl ParquetSample {
    /// Reads the footer of a file, and takes its columns in.
    ///
    /// # Errors
    /// `Unavailable` if it can't be read; `Data` if it is not a whole Parquet file; `Invalid` if a column has another type
    /// than in the files before.
    pub fn add(&mut self, file: &ParquetInput) -> Result<()> {
        let found = with_units(&footer(file)?, &Fields::empty(), TimeUnit::Microsecond);
        found.fields().iter().try_for_each(|field| self.field(field))
    }

    fn field(&mut self, found: &FieldRef) -> Result<()> {
        let name = found.name();
        // A column that no table can have hides no other: it is refused where it is read.
        let declared = declared(found.data_type()).unwrap_or(DataType::Utf8View);
        match self.fields.iter_mut().find(|known| known.name() == name) {
            None => self.fields.push(Field::new(name, declared, true)),
            Some(known) => {
                let wider = wider(known.data_type(), &declared).ok_or_else(|| {
                    let types = format!("{} in one file and {} in another", known.data_type(), found.data_type());
                    Error::invalid(format!("the column '{name}' is {types}"))
                        .hint("query the files one by one, and UNION ALL the results with a CAST")
                })?;
                known.set_data_type(wider);
            }
        }
        Ok(())
    }

    /// The columns.
    #[must_use]
    pub fn finish(self) -> SchemaRef {
        Arc::new(Schema::new(self.fields))
    }
}

/// The type of a table that reads a type of a file without loss.
pub(super) fn declared(found: &DataType) -> Option<DataType> {
    let nested = |field: &FieldRef| -> Option<FieldRef> {
        Some(Arc::new(Field::new(field.name(), declared(field.data_type())?, true)))
    };
    Some(match found {
        DataType::UInt8 => DataType::Int16,
        DataType::UInt16 => DataType::Int32,
        DataType::UInt32 => DataType::Int64,
        DataType::UInt64 => DataType::Decimal128(20, 0),
        // All of its values are NULL.
        DataType::Null => DataType::Utf8View,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => DataType::BinaryView,
        DataType::FixedSizeBinary(_) => DataType::BinaryView,
        DataType::Dictionary(_, values) => declared(values)?,
        DataType::Time32(_) | DataType::Time64(_) => DataType::Time32(TimeUnit::Millisecond),
        DataType::Timestamp(unit, zone) => {
            let unit = if *unit == TimeUnit::Second { TimeUnit::Millisecond } else { *unit };
            DataType::Timestamp(unit, zone.as_ref().map(|_| "+00:00".into()))
        }
        DataType::List(element) | DataType::LargeList(element) => {
            DataType::new_list(declared(element.data_type())?, true)
        }
        DataType::Struct(fields) if !fields.is_empty() => {
            DataType::Struct(fields.iter().map(nested).collect::<Option<Fields>>()?)
        }
        DataType::Map(entries, _) => {
            let DataType::Struct(key_and_value) = entries.data_type() else { return None };
            let [key, value] = key_and_value.iter().as_slice() else { return None };
            let key = Field::new("keys", declared(key.data_type())?, false);
            let value = Field::new("values", declared(value.data_type())?, true);
            let entries = Field::new("entries", DataType::Struct(Fields::from(vec![key, value])), false);
            DataType::Map(Arc::new(entries), false)
        }
        DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Float32
        | DataType::Float64
        | DataType::Decimal128(..)
        | DataType::Date32 => found.clone(),
        _ => return None,
    })
}

/// The type that holds the values of both.
fn wider(one: &DataType, other: &DataType) -> Option<DataType> {
    let width = |data_type: &DataType| {
        let whole = [DataType::Int8, DataType::Int16, DataType::Int32, DataType::Int64];
        whole.iter().position(|known| known == data_type)
    };
    match (width(one), width(other)) {
        _ if one == other => Some(one.clone()),
        (Some(width), Some(other_width)) => Some(if width > other_width { one.clone() } else { other.clone() }),
        _ => None,
    }
}
