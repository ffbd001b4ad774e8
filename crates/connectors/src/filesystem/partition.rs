//! The folders of a table that is `PARTITIONED BY` some of its columns: `a=x/b=y/`, as Flink and Hive have them.
//!
//! The values stand in the path alone, not in the files. A character that a path can't hold, or that means something
//! there, is written as `%` and two hexadecimal digits. NULL and the empty string have the name of
//! `partition.default-name`, and can't be told apart.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray, StringViewArray, UInt32Array};
use arrow::datatypes::{
    ArrowPrimitiveType, ArrowTimestampType, DataType, Date32Type, Field, Int8Type, Int16Type, Int32Type, Int64Type,
    SchemaRef, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use tidemill_core::{Error, EventBatch, Result};
use tidemill_runtime::connector::{OptionSpec, TableSpec};

use crate::local::Escaped;

/// What stands in a path for NULL where the table does not say otherwise.
pub(super) const USUAL_DEFAULT_NAME: &str = "__DEFAULT_PARTITION__";

const DEFAULT_NAME: &str = "partition.default-name";

/// The options of partitioned tables.
pub const OPTIONS: &[OptionSpec] = &[OptionSpec {
    key: DEFAULT_NAME,
    doc: "What stands in the path for a value that is NULL or empty; by default '__DEFAULT_PARTITION__'.",
}];

/// Which columns of a table stand in its files, and which in their path.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The columns in the path, by their number, each with its part of the path up to the value: `a=`.
    path: Vec<(usize, String)>,
    /// The columns in the files, by their number.
    file: Vec<usize>,
    /// The columns in the files.
    schema: SchemaRef,
    default_name: Arc<str>,
}

impl Layout {
    /// The layout of a table.
    ///
    /// # Errors
    /// A partition column whose values no path can hold, or no column is left for the files.
    pub fn of(table: &TableSpec) -> Result<Self> {
        let mut path = vec![];
        for name in &table.partitioned_by {
            let number = table.schema.index_of(name)?;
            check(table.schema.field(number))?;
            path.push((number, format!("{}=", Escaped(name))));
        }
        let file: Vec<usize> =
            (0..table.schema.fields().len()).filter(|number| path.iter().all(|(p, _)| p != number)).collect();
        if file.is_empty() {
            return Err(Error::invalid(format!("every column of '{}' is in PARTITIONED BY", table.name))
                .hint("leave one out: a file needs a column"));
        }
        let schema = Arc::new(table.schema.project(&file)?);
        let default_name = table.options.get(DEFAULT_NAME).unwrap_or(USUAL_DEFAULT_NAME);
        if default_name.is_empty() {
            return Err(table.options.refuse(DEFAULT_NAME, format!("the option '{DEFAULT_NAME}' is empty")));
        }
        Ok(Self { path, file, schema, default_name: default_name.into() })
    }

    /// The columns in the files.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// What stands in the path for NULL.
    pub fn default_name(&self) -> &str {
        &self.default_name
    }

    /// Whether there are columns in the path.
    pub fn partitioned(&self) -> bool {
        !self.path.is_empty()
    }

    /// How the names of the folders begin, the outermost first: `a=`.
    pub fn heads(&self) -> Vec<&str> {
        self.path.iter().map(|(_, head)| head.as_str()).collect()
    }

    /// The rows by the folder that they belong to, relative to the table's, in the order in which the folders come;
    /// without the columns of the path, and with their kinds.
    pub fn split(&self, batch: &EventBatch) -> Result<Vec<(String, EventBatch)>> {
        let rows = &batch.rows;
        let in_file = EventBatch { kinds: batch.kinds.clone(), ..EventBatch::append(rows.project(&self.file)?) };
        let columns = self.path.iter().map(|(number, _)| text_of(rows.column(*number))).collect::<Result<Vec<_>>>()?;
        let mut folders: Vec<(String, Vec<u32>)> = vec![];
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut folder = String::new();
        for (row, number) in (0..rows.num_rows()).zip(0u32..) {
            folder.clear();
            self.write_folder(&columns, row, &mut folder)?;
            let index = known.get(&folder).copied().unwrap_or_else(|| {
                known.insert(folder.clone(), folders.len());
                folders.push((folder.clone(), vec![]));
                folders.len() - 1
            });
            folders[index].1.push(number);
        }
        if folders.len() == 1 {
            return Ok(folders.into_iter().map(|(folder, _)| (folder, in_file.clone())).collect());
        }
        let take = |(folder, rows): (String, Vec<u32>)| Ok((folder, in_file.take(&UInt32Array::from(rows))?));
        folders.into_iter().map(take).collect()
    }

    fn write_folder(&self, columns: &[Box<dyn Texts + '_>], row: usize, folder: &mut String) -> Result<()> {
        let mut text = String::new();
        for ((_, head), column) in self.path.iter().zip(columns) {
            if !folder.is_empty() {
                folder.push('/');
            }
            folder.push_str(head);
            text.clear();
            column.write(row, &mut text)?;
            let value = if text.is_empty() { &*self.default_name } else { text.as_str() };
            write!(folder, "{}", Escaped(value)).map_err(|e| Error::internal(e.to_string()))?;
        }
        Ok(())
    }
}

/// Types whose values have one text.
fn check(field: &Field) -> Result<()> {
    let name = field.name();
    match field.data_type() {
        DataType::Utf8View
        | DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Date32
        | DataType::Timestamp(TimeUnit::Millisecond | TimeUnit::Microsecond | TimeUnit::Nanosecond, None) => {}
        _ => {
            return Err(Error::invalid(format!("PARTITIONED BY does not take the type of the column '{name}'"))
                .hint("use STRING, BOOLEAN, a whole number, DATE or TIMESTAMP"));
        }
    }
    if name.starts_with(['.', '_']) {
        return Err(Error::invalid(format!("the partition column '{name}' would make hidden folders"))
            .hint("give it a name that does not begin with '.' or '_'"));
    }
    Ok(())
}

/// A column as texts.
trait Texts {
    /// Appends the text of a value; nothing for NULL.
    fn write(&self, row: usize, text: &mut String) -> Result<()>;
}

/// A column whose values a function writes.
struct Column<'a, A, F>(&'a A, F);

impl<A: Array, F: Fn(&A, usize, &mut String) -> Option<fmt::Result>> Texts for Column<'_, A, F> {
    fn write(&self, row: usize, text: &mut String) -> Result<()> {
        if self.0.is_null(row) {
            return Ok(());
        }
        match (self.1)(self.0, row, text) {
            Some(written) => written.map_err(|e| Error::internal(e.to_string())),
            None => Err(Error::data("a moment of a partition column is past what a calendar has")),
        }
    }
}

fn text_of(array: &ArrayRef) -> Result<Box<dyn Texts + '_>> {
    Ok(match array.data_type() {
        DataType::Utf8View => {
            Box::new(Column(array.as_string_view(), |array: &StringViewArray, row, text: &mut String| {
                text.push_str(array.value(row));
                Some(Ok(()))
            }))
        }
        DataType::Boolean => Box::new(Column(array.as_boolean(), |array: &BooleanArray, row, text: &mut String| {
            Some(write!(text, "{}", array.value(row)))
        })),
        DataType::Int8 => numbers::<Int8Type>(array),
        DataType::Int16 => numbers::<Int16Type>(array),
        DataType::Int32 => numbers::<Int32Type>(array),
        DataType::Int64 => numbers::<Int64Type>(array),
        DataType::Date32 => {
            let write = |array: &PrimitiveArray<Date32Type>, row, text: &mut String| {
                Some(write!(text, "{}", array.value_as_date(row)?.format("%Y-%m-%d")))
            };
            Box::new(Column(array.as_primitive::<Date32Type>(), write))
        }
        DataType::Timestamp(TimeUnit::Millisecond, None) => moments::<TimestampMillisecondType>(array),
        DataType::Timestamp(TimeUnit::Microsecond, None) => moments::<TimestampMicrosecondType>(array),
        DataType::Timestamp(TimeUnit::Nanosecond, None) => moments::<TimestampNanosecondType>(array),
        other => return Err(Error::internal(format!("a partition column has the type {other}"))),
    })
}

fn numbers<T: ArrowPrimitiveType<Native: fmt::Display>>(array: &ArrayRef) -> Box<dyn Texts + '_> {
    let write = |array: &PrimitiveArray<T>, row: usize, text: &mut String| Some(write!(text, "{}", array.value(row)));
    Box::new(Column(array.as_primitive::<T>(), write))
}

/// As Flink writes them: seconds and their fraction only where there are any.
fn moments<T: ArrowTimestampType>(array: &ArrayRef) -> Box<dyn Texts + '_> {
    let write = |array: &PrimitiveArray<T>, row: usize, text: &mut String| {
        let moment = array.value_as_datetime(row)?;
        let per_minute = match T::UNIT {
            TimeUnit::Second => 60,
            TimeUnit::Millisecond => 60_000,
            TimeUnit::Microsecond => 60_000_000,
            TimeUnit::Nanosecond => 60_000_000_000,
        };
        Some(match array.value(row).rem_euclid(per_minute) {
            0 => write!(text, "{}", moment.format("%Y-%m-%dT%H:%M")),
            _ => write!(text, "{}", moment.format("%Y-%m-%dT%H:%M:%S%.f")),
        })
    };
    Box::new(Column(array.as_primitive::<T>(), write))
}

#[cfg(test)]
mod tests;
