//! Reads a Parquet file: a piece of a row group is a chunk, which any core decodes.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use parquet::schema::types::SchemaDescriptor;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Chunk, DecodeError, Decoded};

use super::columns::{Columns, as_views};
use super::cuts;
use super::positioned::PositionedFile;

/// A file whose footer is read.
pub struct ParquetFile {
    shared: Arc<Shared>,
    /// Where the next chunk begins: a row group, and a row of it.
    row_group: usize,
    row: usize,
    /// How many rows come before that.
    position: u64,
}

/// What all chunks of a file need.
struct Shared {
    file: PositionedFile,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    columns: Columns,
    wanted: SchemaRef,
}

impl ParquetFile {
    /// Reads the footer of `file`; chunks will have the columns `wanted`, by name.
    ///
    /// # Errors
    /// `Data` if this is not a whole Parquet file, `Invalid` if a column's type does not fit.
    pub fn open(file: File, wanted: SchemaRef) -> Result<Self> {
        let file = PositionedFile::new(file)
            .map_err(|e| Error::unavailable(format!("cannot tell its length: {e}")).because(e))?;
        let options = ArrowReaderOptions::new().with_offset_index_policy(PageIndexPolicy::Optional);
        let found = ArrowReaderMetadata::load(&file, options).map_err(not_parquet)?;
        let options = ArrowReaderOptions::new().with_schema(Arc::new(as_views(found.schema())));
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(found.metadata()), options).map_err(not_parquet)?;
        let columns = Columns::new(wanted.fields(), metadata.schema())?;
        let mask = mask(metadata.parquet_schema(), &wanted);
        let shared = Arc::new(Shared { file, metadata, mask, columns, wanted });
        Ok(Self { shared, row_group: 0, row: 0, position: 0 })
    }

    /// Goes on behind the first `rows` rows.
    ///
    /// # Errors
    /// `Data` if the file has fewer.
    pub fn skip_to(&mut self, rows: u64) -> Result<()> {
        (self.row_group, self.row, self.position) = (0, 0, 0);
        while self.position < rows {
            if self.row_group >= self.footer().num_row_groups() {
                let has = self.position;
                return Err(Error::data(format!("{rows} of its rows were read by the run before, and it has {has}")));
            }
            let left = cuts::rows(self.footer(), self.row_group);
            let skipped = left.min(usize::try_from(rows - self.position).unwrap_or(left));
            self.row = skipped;
            self.go_on(skipped);
        }
        Ok(())
    }

    /// How many rows were given or skipped.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next rows; `None` behind the last.
    pub fn next_chunk(&mut self) -> Option<RowsChunk> {
        while self.row_group < self.footer().num_row_groups() {
            let (row_group, first) = (self.row_group, self.row);
            let end = cuts::end(self.footer(), &self.shared.mask, row_group, first);
            self.row = end;
            self.go_on(end - first);
            if first < end {
                return Some(RowsChunk { file: Arc::clone(&self.shared), row_group, rows: first..end });
            }
        }
        None
    }

    /// So many rows have been passed: at its end, the next row group begins.
    fn go_on(&mut self, passed: usize) {
        self.position += passed as u64;
        if self.row >= cuts::rows(self.footer(), self.row_group) {
            (self.row_group, self.row) = (self.row_group + 1, 0);
        }
    }

    fn footer(&self) -> &ParquetMetaData {
        self.shared.metadata.metadata()
    }
}

/// What is decoded: the leaves of the wanted columns, and of a `ROW` only those of its wanted fields.
fn mask(file: &SchemaDescriptor, wanted: &Schema) -> ProjectionMask {
    let decoded = |leaf: &usize| {
        let path = file.column(*leaf).path().parts().to_vec();
        match wanted.column_with_name(&path[0]).map(|(_, field)| field.data_type()) {
            Some(DataType::Struct(fields)) => path.get(1).is_none_or(|field| fields.find(field).is_some()),
            wanted => wanted.is_some(),
        }
    };
    ProjectionMask::leaves(file, (0..file.num_columns()).filter(decoded))
}

/// Rows of one row group.
pub struct RowsChunk {
    file: Arc<Shared>,
    row_group: usize,
    rows: Range<usize>,
}

impl Chunk for RowsChunk {
    fn unit(&self) -> &'static str {
        "row"
    }

    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError> {
        let read = self.read().map_err(|error| DecodeError { offset: 0, error })?;
        let rows = read.num_rows();
        let whole = |error| DecodeError { offset: 0, error };
        let columns: Vec<ArrayRef> = self.file.columns.of(read.columns(), rows).map_err(whole)?;
        if let Some((row, error)) = self.file.columns.null_where_none_may_be(&columns) {
            return Err(DecodeError { offset: row as u64, error });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let rows = RecordBatch::try_new_with_options(Arc::clone(&self.file.wanted), columns, &options)
            .map_err(|e| whole(e.into()))?;
        let offset_count = rows.num_rows() as u64;
        Ok(Decoded { rows, offsets: None, offset_count, rejected: vec![] })
    }
}

impl RowsChunk {
    fn read(&self) -> Result<RecordBatch> {
        let Shared { file, metadata, mask, .. } = self.file.as_ref();
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata.clone())
            .with_row_groups(vec![self.row_group])
            .with_projection(mask.clone())
            .with_offset(self.rows.start)
            .with_limit(self.rows.len())
            .with_batch_size(self.rows.len())
            .build()
            .map_err(damaged)?;
        let schema = RecordBatchReader::schema(&reader);
        let mut batches = reader.collect::<Result<Vec<_>, _>>()?;
        Ok(if batches.len() == 1 { batches.remove(0) } else { concat_batches(&schema, &batches)? })
    }
}

pub(super) fn not_parquet(e: ParquetError) -> Error {
    Error::data(format!("this is not a whole Parquet file: {e}"))
        .because(e)
        .hint("a file that is still being written has no footer yet; is 'format' right?")
}

fn damaged(e: ParquetError) -> Error {
    Error::data(format!("the file is damaged: {e}")).because(e)
}

#[cfg(test)]
mod tests;
