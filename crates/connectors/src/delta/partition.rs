//! Which partition a row belongs to: the values of the table's partition columns, as the log has them.
//!
//! The log has each value as a text, whose form the protocol says. NULL is no text, and Delta reads the empty text as
//! NULL, so these two are one partition. The name of a file's folder tells a person the values, and no reader goes by it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::{DataType, TimestampMicrosecondType};
use arrow::row::{RowConverter, SortField};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use deltalake_core::kernel::Add;
use tidemill_core::{Error, Result};

use super::columns::Columns;
use crate::local::Escaped;

/// What stands in the name of a folder for NULL, as Hive and Spark have it.
const NULL_FOLDER: &str = "__HIVE_DEFAULT_PARTITION__";

/// The values of the partition columns, in their order; of a table without any, none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Partition(Vec<Option<String>>);

impl Partition {
    /// The values by the names of their columns.
    pub fn values(&self, columns: &Columns) -> HashMap<String, Option<String>> {
        columns.partitioned_by.iter().cloned().zip(self.0.iter().cloned()).collect()
    }

    /// The partition of a file that was added to the log.
    pub fn of(add: &Add, columns: &Columns) -> Self {
        let value = |name| add.partition_values.get(name).cloned().flatten();
        Self(columns.partitioned_by.iter().map(value).collect())
    }

    /// The folder of its files, from the table's on; empty for a table without partitions.
    pub fn folder(&self, columns: &Columns) -> String {
        let name = |(column, value): (&String, &Option<String>)| {
            format!("{}={}", Escaped(column), Escaped(value.as_deref().unwrap_or(NULL_FOLDER)))
        };
        columns.partitioned_by.iter().zip(&self.0).map(name).collect::<Vec<_>>().join("/")
    }
}

/// The rows by the partition that they belong to, without the columns that tell it.
///
/// # Errors
/// `Data` if a partition's value has no text, or is NULL where it must not be.
pub fn split(columns: &Columns, rows: &RecordBatch) -> Result<Vec<(Partition, RecordBatch)>> {
    let in_file = rows.project(&columns.in_file)?;
    if columns.in_partition.is_empty() || rows.num_rows() == 0 {
        return Ok(vec![(Partition(vec![]), in_file)]);
    }
    let keys: Vec<&ArrayRef> = columns.in_partition.iter().map(|&number| rows.column(number)).collect();
    let mut partitions: BTreeMap<Partition, Vec<u32>> = BTreeMap::new();
    for group in groups(&keys)? {
        let values = columns.in_partition.iter().zip(&keys).map(|(&number, column)| {
            value(column, group[0] as usize, columns.is_nullable(number)).map_err(|e| e.context(columns.name(number)))
        });
        partitions.entry(Partition(values.collect::<Result<_>>()?)).or_default().extend(group);
    }
    if partitions.len() == 1 {
        return Ok(partitions.into_keys().map(|partition| (partition, in_file.clone())).collect());
    }
    let take = |(partition, mut numbers): (Partition, Vec<u32>)| {
        numbers.sort_unstable();
        Ok((partition, take_record_batch(&in_file, &UInt32Array::from(numbers))?))
    };
    partitions.into_iter().map(take).collect()
}

/// The numbers of the rows that are equal in all keys.
fn groups(keys: &[&ArrayRef]) -> Result<Vec<Vec<u32>>> {
    let fields = keys.iter().map(|key| SortField::new(key.data_type().clone())).collect();
    let keys: Vec<ArrayRef> = keys.iter().map(|&key| Arc::clone(key)).collect();
    let rows = RowConverter::new(fields)?.convert_columns(&keys)?;
    let mut groups: Vec<Vec<u32>> = vec![];
    let mut known = HashMap::new();
    for (row, number) in rows.iter().zip(0..) {
        let group = *known.entry(row).or_insert_with(|| {
            groups.push(vec![]);
            groups.len() - 1
        });
        groups[group].push(number);
    }
    Ok(groups)
}

/// A value as the log has it.
fn value(column: &ArrayRef, row: usize, nullable: bool) -> Result<Option<String>> {
    let text = text(column, row)?.filter(|text| !text.is_empty());
    if text.is_none() && !nullable {
        return Err(Error::data("a row has NULL or an empty text in a partition column that is NOT NULL")
            .hint("Delta can't tell the two apart; leave such rows out in the query, or give them a value"));
    }
    Ok(text)
}

fn text(column: &ArrayRef, row: usize) -> Result<Option<String>> {
    if column.is_null(row) {
        return Ok(None);
    }
    let format = match column.data_type() {
        DataType::Timestamp(_, Some(_)) => "%Y-%m-%dT%H:%M:%S%.6fZ",
        _ => "%Y-%m-%d %H:%M:%S%.6f",
    };
    let column: ArrayRef = match column.data_type() {
        // The instant as a clock in UTC shows it.
        DataType::Timestamp(_, Some(_)) => {
            let instants = column.as_primitive::<TimestampMicrosecondType>().clone();
            Arc::new(instants.with_timezone_opt(None::<Arc<str>>))
        }
        _ => Arc::clone(column),
    };
    let options = FormatOptions::new().with_display_error(false).with_timestamp_format(Some(format));
    let text = ArrayFormatter::try_new(&column, &options)?.value(row).try_to_string();
    let is_time = matches!(column.data_type(), DataType::Timestamp(..) | DataType::Date32);
    match text {
        // A year of other than four digits has a sign.
        Ok(text) if !(is_time && text.starts_with(['+', '-'])) => Ok(Some(text)),
        _ => Err(Error::data("a time of a partition column is past the years that a Delta table can name")
            .hint("they are 0000 to 9999")),
    }
}

#[cfg(test)]
mod tests;
