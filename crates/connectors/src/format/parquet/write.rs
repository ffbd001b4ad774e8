//! From record batches to a Parquet file.
//!
//! Types are the standard ones, so that others read them as what they are:
//!
//! | column | in the file | |
//! | --- | --- | --- |
//! | `TIMESTAMP(p)` | `INT64`, `TIMESTAMP` not adjusted to UTC | Flink's default is the outdated `INT96` |
//! | `TIMESTAMP_LTZ(p)` | `INT64`, `TIMESTAMP` adjusted to UTC | |
//! | `DECIMAL(p, s)` | `INT32`, `INT64` or `FIXED_LEN_BYTE_ARRAY` by precision, `DECIMAL` | |
//! | `ROW`, `ARRAY`, `MAP` | a group, a three-level list, a map of `key` and `value` | |
//!
//! The unit of a timestamp is that of its column: milliseconds, microseconds or nanoseconds.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::WriterProperties;
use tidemill_core::{Error, Result, RowKind};

use super::ParquetOptions;
use crate::format::{FileWriter, check_not_null};

/// How large a row group gets: what a reader reads at once, and what is held back until it is whole.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// How many row groups of a file may be cut off early only to free what their columns allocate: each has room for 4096
/// values of its dictionary (`DEFAULT_DEDUP_CAPACITY` of the crate), some 70 KB, before it has a single one. A row group
/// leaves about a kilobyte a column in memory until its file ends; so where a file gets a few rows at a time, a row group
/// for every few would soon take more memory than it frees.
const EARLY_ROW_GROUPS: usize = 8;

/// The bytes of one Parquet file.
pub struct ParquetWriter {
    schema: SchemaRef,
    writer: ArrowWriter<Vec<u8>>,
}

impl ParquetWriter {
    /// A file of rows with `schema`.
    ///
    /// # Errors
    /// A column's type is not one that Parquet has.
    pub fn new(schema: SchemaRef, options: &ParquetOptions) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_created_by(concat!("tidemill version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(options.compression)
            .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
            // The names inside of lists and maps are those of the specification, not Arrow's.
            .set_coerce_types(true)
            .build();
        // Without Arrow's own schema beside Parquet's: it would bind readers to our forms of strings.
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(Vec::new(), Arc::clone(&schema), options)
            .map_err(|e| Error::invalid(format!("the columns can't be written as Parquet: {e}")).because(e))?;
        Ok(Self { schema, writer })
    }

    /// Appends what the file still lacks, and gives what stands in its footer; nothing is written after it.
    pub fn finish_file(&mut self, out: &mut Vec<u8>) -> Result<ParquetMetaData> {
        let metadata = self.writer.finish().map_err(broken)?;
        out.append(self.writer.inner_mut());
        Ok(metadata)
    }

    /// Moves what is encoded to `out`.
    fn drain(&mut self, out: &mut Vec<u8>) -> Result<()> {
        // The writer counts what passes, not what its target still has: that may be taken away.
        self.writer.sync().map_err(|e| Error::internal(e.to_string()).because(e))?;
        out.append(self.writer.inner_mut());
        Ok(())
    }
}

impl FileWriter for ParquetWriter {
    fn write(&mut self, rows: &RecordBatch, _: Option<&[RowKind]>, out: &mut Vec<u8>) -> Result<()> {
        check_not_null(&self.schema, rows)?;
        // A query's own schema may say NULL or NOT NULL otherwise.
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), rows.columns().to_vec())?;
        self.writer.write(&rows).map_err(broken)?;
        self.drain(out)
    }

    fn held_bytes(&self) -> usize {
        self.writer.in_progress_size()
    }

    fn memory_bytes(&self) -> usize {
        let encoded = self.writer.in_progress_size();
        if self.writer.flushed_row_groups().len() < EARLY_ROW_GROUPS {
            return self.writer.memory_size().max(encoded);
        }
        encoded
    }

    fn release(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.writer.flush().map_err(broken)?;
        self.drain(out)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.finish_file(out).map(drop)
    }
}

/// What can't be: the target is memory, and the types were accepted.
fn broken(e: ParquetError) -> Error {
    Error::internal(format!("rows can't be written as Parquet: {e}")).because(e)
}

#[cfg(test)]
mod tests;
