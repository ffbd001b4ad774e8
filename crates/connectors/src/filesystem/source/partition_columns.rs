//! Columns whose values stand in a file's path: `.../day=2026-11-29/hour=10/part-0.json`.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringViewArray, UInt32Array, new_null_array};
use arrow::compute::{CastOptions, cast_with_options, take};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use percent_encoding::percent_decode_str;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Chunk, DecodeError, Decoded, TableSpec};

use crate::filesystem::partition::Layout;
use crate::filesystem::store::Found;
use crate::format::sql_type;

/// The columns of `PARTITIONED BY`.
#[derive(Debug, Clone)]
pub(super) struct PartitionColumns {
    names: Vec<Arc<str>>,
    types: Vec<DataType>,
    /// The name that stands for NULL.
    default_name: Arc<str>,
}

impl PartitionColumns {
    pub(super) fn new(table: &TableSpec) -> Result<Self> {
        let layout = Layout::of(table)?;
        let of_type = |name: &Arc<str>| Ok(table.schema.field_with_name(name)?.data_type().clone());
        Ok(Self {
            names: table.partitioned_by.clone(),
            types: table.partitioned_by.iter().map(of_type).collect::<Result<_>>()?,
            default_name: layout.default_name().into(),
        })
    }

    /// The requested columns that stand in the files.
    pub(super) fn without(&self, requested: &SchemaRef) -> SchemaRef {
        let in_file = requested.fields().iter().filter(|f| !self.names.iter().any(|n| **n == **f.name()));
        Arc::new(Schema::new(in_file.cloned().collect::<Vec<_>>()))
    }

    /// The values that the path of a file says.
    ///
    /// # Errors
    /// `Data` if it lacks one, or one has not the column's type.
    pub(super) fn of_file(&self, file: &Found) -> Result<PartitionValues> {
        let mut values = vec![];
        for (name, data_type) in self.names.iter().zip(&self.types) {
            let Some(text) = value_in(&file.path, name) else {
                return Err(Error::data(format!("'{}' is in no folder '{name}=...'", file.name)).hint(format!(
                    "the table is PARTITIONED BY ({}), so each file stands in folders that say its partition",
                    self.names.join(", ")
                )));
            };
            let value =
                if *text == *self.default_name { Ok(new_null_array(data_type, 1)) } else { parse(&text, data_type) };
            let value = value.map_err(|e| {
                Error::data(format!("'{}': '{text}' is no {} for the column '{name}'", file.name, sql_type(data_type)))
                    .because(e)
            })?;
            values.push((Arc::clone(name), value));
        }
        Ok(PartitionValues(values.into()))
    }
}

/// What the folder `name=value` says; the innermost, if there are several.
fn value_in(path: &Path, name: &str) -> Option<String> {
    name_and_value(path).into_iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// What the folders `name=value` of a file say, the outermost first.
pub(in crate::filesystem) fn folders(file: &Found) -> Vec<(String, String)> {
    name_and_value(Path::new(&*file.name))
}

fn name_and_value(path: &Path) -> Vec<(String, String)> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let folders = path.parent().into_iter().flat_map(Path::components);
    let pairs = folders.filter_map(|folder| folder.as_os_str().to_str()?.split_once('='));
    pairs.map(|(key, value)| (decoded(key), decoded(value))).collect()
}

/// One value.
fn parse(text: &str, data_type: &DataType) -> Result<ArrayRef> {
    // A sink leaves out the seconds of a moment that has none, as Flink does.
    let minutes = matches!(data_type, DataType::Timestamp(..)) && text.len() == "2026-11-29T10:00".len();
    let text = StringViewArray::from_iter_values([format!("{text}{}", if minutes { ":00" } else { "" })]);
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(&text, data_type, &strict)?)
}

/// The values of a file's partition columns, each one element.
#[derive(Debug, Clone)]
pub(super) struct PartitionValues(Arc<[(Arc<str>, ArrayRef)]>);

impl PartitionValues {
    /// The same rows, with the columns of `requested` that are not in the file.
    pub(super) fn add_to(&self, chunk: Box<dyn Chunk>, requested: &SchemaRef) -> Box<dyn Chunk> {
        let wanted = self.0.iter().any(|(name, _)| requested.column_with_name(name).is_some());
        if !wanted {
            return chunk;
        }
        Box::new(PartitionedChunk { chunk, values: self.clone(), requested: Arc::clone(requested) })
    }

    fn columns(&self, decoded: &RecordBatch, requested: &Schema) -> Result<Vec<ArrayRef>> {
        let mut in_file = decoded.columns().iter();
        let mut columns = Vec::with_capacity(requested.fields().len());
        for field in requested.fields() {
            match self.0.iter().find(|(name, _)| **name == **field.name()) {
                Some((_, value)) => columns.push(take(value, &UInt32Array::from(vec![0; decoded.num_rows()]), None)?),
                None => columns.extend(in_file.next().cloned()),
            }
        }
        Ok(columns)
    }
}

/// Rows of a file, which get the values of its partition when they are decoded.
struct PartitionedChunk {
    chunk: Box<dyn Chunk>,
    values: PartitionValues,
    requested: SchemaRef,
}

impl Chunk for PartitionedChunk {
    fn unit(&self) -> &'static str {
        self.chunk.unit()
    }

    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError> {
        let decoded = self.chunk.decode()?;
        let options = RecordBatchOptions::new().with_row_count(Some(decoded.rows.num_rows()));
        let rows = self
            .values
            .columns(&decoded.rows, &self.requested)
            .and_then(|columns| Ok(RecordBatch::try_new_with_options(Arc::clone(&self.requested), columns, &options)?));
        match rows {
            Ok(rows) => Ok(Decoded { rows, ..decoded }),
            Err(error) => Err(DecodeError { offset: 0, error }),
        }
    }
}
