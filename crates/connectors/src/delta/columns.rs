//! The columns of a Delta table: as they are declared, as the table's log names their types, and as its files hold them.
//!
//! | column | in the log | in the files |
//! | --- | --- | --- |
//! | `TINYINT`, `SMALLINT`, `INT`, `BIGINT` | `byte`, `short`, `integer`, `long` | the same |
//! | `TIMESTAMP(0)` to `TIMESTAMP(6)` | `timestamp_ntz` | microseconds |
//! | `TIMESTAMP_LTZ(0)` to `TIMESTAMP_LTZ(6)` | `timestamp` | microseconds, adjusted to UTC |
//! | `STRING`, `BYTES`, `BOOLEAN`, `DATE`, `FLOAT`, `DOUBLE`, `DECIMAL`, `ARRAY`, `MAP`, `ROW` | of the same meaning | the same |
//!
//! Delta has no `TIME`, and no fractions of a second below microseconds.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use deltalake_core::kernel::StructType;
use deltalake_core::kernel::engine::arrow_conversion::TryIntoKernel;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::TableSpec;

use crate::format::sql_type;

/// Characters that the names of a Delta table's columns can't have, as these are also the names in its files.
const NOT_IN_NAMES: &str = " ,;{}()\n\t=";

/// The columns of one table.
#[derive(Debug)]
pub struct Columns {
    /// All of them, with the types of Delta.
    pub delta: StructType,
    /// Those of `PARTITIONED BY`: their values stand in the log alone.
    pub partitioned_by: Vec<String>,
    /// The numbers of those.
    pub in_partition: Vec<usize>,
    /// The numbers of the columns in the files.
    pub in_file: Vec<usize>,
    /// The columns in the files.
    pub file: SchemaRef,
    /// All columns, with the types that they have in files.
    stored: SchemaRef,
}

impl Columns {
    /// The columns of a table.
    ///
    /// # Errors
    /// `Invalid` if Delta lacks a column's type or can't have its name, or if no path can hold a partition's values.
    pub fn of(table: &TableSpec) -> Result<Self> {
        check_names(table.schema.fields(), "")?;
        let fields = table.schema.fields().iter().map(|field| stored_field(field, field.name()));
        let stored = Arc::new(Schema::new(fields.collect::<Result<Vec<_>>>()?));
        let mut in_partition = vec![];
        for name in &table.partitioned_by {
            let number = stored.index_of(name)?;
            check_partition(stored.field(number))?;
            in_partition.push(number);
        }
        let in_file: Vec<usize> = (0..stored.fields().len()).filter(|number| !in_partition.contains(number)).collect();
        if in_file.is_empty() {
            return Err(Error::invalid(format!("every column of '{}' is in PARTITIONED BY", table.name))
                .hint("leave one out: a file needs a column"));
        }
        let delta = stored.as_ref().try_into_kernel()?;
        let partitioned_by = table.partitioned_by.iter().map(|name| name.to_string()).collect();
        let file = Arc::new(stored.project(&in_file)?);
        Ok(Self { delta, partitioned_by, in_partition, in_file, file, stored })
    }

    /// Whether the column of that number may be NULL.
    pub fn is_nullable(&self, number: usize) -> bool {
        self.stored.field(number).is_nullable()
    }

    /// The name of the column of that number, for messages.
    pub fn name(&self, number: usize) -> String {
        format!("the column '{}'", self.stored.field(number).name())
    }

    /// The rows of a query with the types that they have in files.
    ///
    /// # Errors
    /// `Data` if a time is beyond what the files can hold.
    pub fn stored(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let options = CastOptions { safe: false, ..CastOptions::default() };
        let convert = |(field, column): (&FieldRef, &ArrayRef)| {
            if field.data_type() == column.data_type() {
                return Ok(Arc::clone(column));
            }
            cast_with_options(column, field.data_type(), &options).map_err(|e| {
                Error::data(format!("the column '{}' has a value that Delta can't hold: {e}", field.name())).because(e)
            })
        };
        let columns = self.stored.fields().iter().zip(rows.columns()).map(convert).collect::<Result<Vec<_>>>()?;
        // NULL is judged where the file is written, with the name of the column.
        let nullable = self.stored.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        Ok(RecordBatch::try_new(Arc::new(Schema::new(nullable.collect::<Vec<_>>())), columns)?)
    }
}

/// A column, or a field in one, as files hold it; `path` leads to it from the table on.
fn stored_field(field: &Field, path: &str) -> Result<Field> {
    Ok(Field::new(field.name(), stored_type(field.data_type(), path)?, field.is_nullable()))
}

fn stored_type(data_type: &DataType, path: &str) -> Result<DataType> {
    let inner = |field: &FieldRef| Ok::<_, Error>(Arc::new(stored_field(field, path)?));
    Ok(match data_type {
        DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Float32
        | DataType::Float64
        | DataType::Decimal128(..)
        | DataType::Utf8View
        | DataType::BinaryView
        | DataType::Date32 => data_type.clone(),
        DataType::Timestamp(TimeUnit::Millisecond | TimeUnit::Microsecond, zone) => {
            DataType::Timestamp(TimeUnit::Microsecond, zone.as_ref().map(|_| "UTC".into()))
        }
        DataType::List(element) => DataType::List(inner(element)?),
        DataType::Map(entries, sorted) => DataType::Map(inner(entries)?, *sorted),
        DataType::Struct(fields) => {
            check_names(fields, path)?;
            let field = |field: &FieldRef| Ok(Arc::new(stored_field(field, &format!("{path}.{}", field.name()))?));
            DataType::Struct(fields.iter().map(field).collect::<Result<Fields>>()?)
        }
        lacking => {
            let error = Error::invalid(format!(
                "Delta Lake has no type for the column '{path}', which is {}",
                sql_type(lacking)
            ));
            return Err(match lacking {
                DataType::Timestamp(..) => error.hint("it keeps microseconds: cast it to TIMESTAMP(6)"),
                _ => error.hint("cast it to STRING"),
            });
        }
    })
}

/// Names that Delta can have: it does not tell upper case from lower case. `path` leads to the `ROW` that has them.
fn check_names(fields: &Fields, path: &str) -> Result<()> {
    let mut known = HashSet::new();
    for field in fields {
        let name = if path.is_empty() { field.name().clone() } else { format!("{path}.{}", field.name()) };
        if let Some(special) = field.name().chars().find(|&c| NOT_IN_NAMES.contains(c)) {
            return Err(Error::invalid(format!(
                "a Delta table can't have the column '{name}': its name has {special:?}"
            ))
            .hint("give it another name"));
        }
        if !known.insert(field.name().to_lowercase()) {
            return Err(Error::invalid(format!(
                "a Delta table can't have the column '{name}': another has the same name but for upper and lower case"
            ))
            .hint("give it another name"));
        }
    }
    Ok(())
}

/// Types whose values have one text.
fn check_partition(field: &Field) -> Result<()> {
    match field.data_type() {
        DataType::Utf8View
        | DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Decimal128(..)
        | DataType::Date32
        | DataType::Timestamp(..) => Ok(()),
        _ => Err(Error::invalid(format!("PARTITIONED BY does not take the type of the column '{}'", field.name()))
            .hint("use STRING, BOOLEAN, a whole number, DECIMAL, DATE, TIMESTAMP or TIMESTAMP_LTZ")),
    }
}

#[cfg(test)]
mod tests;
