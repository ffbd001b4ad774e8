//! Reads a Parquet file: a piece of a row group is a chunk, which any core decodes.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;
use parquet::schema::types::SchemaDescriptor;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Chunk, DecodeError, Decoded};

use super::columns::{Columns, as_views};
use super::cuts;
use super::footer::{footer, not_parquet};
use super::input::{Fetched, Fetching, ParquetInput};

/// A file whose footer is read.
pub struct ParquetFile {
    input: ParquetInput,
    shared: Arc<Shared>,
    /// Where the next chunk begins: a row group, and a row of it.
    row_group: usize,
    row: usize,
    /// How many rows come before that.
    position: u64,
    /// The bytes of the next row group, where they are on their way.
    fetching: Option<Fetching>,
    /// Whether a chunk was given: of many files most are only opened at their heads.
    begun: bool,
}

/// What all chunks of a file need.
struct Shared {
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    columns: Columns,
    wanted: SchemaRef,
}

impl ParquetFile {
    /// Reads the footer of `input`; chunks will have the columns `wanted`, by name. Blocks.
    ///
    /// # Errors
    /// `Unavailable` if it can't be read, `Data` if this is not a whole Parquet file, `Invalid` if a column's type does
    /// not fit.
    pub fn open(input: ParquetInput, wanted: SchemaRef) -> Result<Self> {
        let found = footer(&input)?;
        let options = ArrowReaderOptions::new().with_schema(Arc::new(as_views(found.schema())));
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(found.metadata()), options).map_err(not_parquet)?;
        let columns = Columns::new(wanted.fields(), metadata.schema())?;
        let mask = mask(metadata.parquet_schema(), &wanted);
        let shared = Arc::new(Shared { metadata, mask, columns, wanted });
        Ok(Self { input, shared, row_group: 0, row: 0, position: 0, fetching: None, begun: false })
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
            self.go_on(0..skipped);
        }
        Ok(())
    }

    /// How many rows were given or skipped.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next rows, to be decoded on any core; `None` behind the last. It may be dropped while it waits, and called
    /// again.
    ///
    /// # Errors
    /// `Unavailable` if the bytes can't be fetched.
    pub async fn next_chunk(&mut self) -> Result<Option<Box<dyn Chunk>>> {
        while self.row_group < self.footer().num_row_groups() {
            let (row_group, first) = (self.row_group, self.row);
            let rows = first..cuts::end(self.footer(), &self.shared.mask, row_group, first);
            if rows.is_empty() {
                self.go_on(rows);
                continue;
            }
            let file = Arc::clone(&self.shared);
            let chunk: Box<dyn Chunk> = match &self.input {
                ParquetInput::Local(bytes) => {
                    Box::new(RowsChunk { file, row_group, rows: rows.clone(), bytes: bytes.clone() })
                }
                ParquetInput::Remote(remote) => {
                    let ranges = file.ranges(row_group);
                    let fetching = self.fetching.get_or_insert_with(|| remote.fetch(ranges.clone()));
                    let fetched = fetching.await;
                    self.fetching = None;
                    let bytes = Fetched::new(&ranges, fetched?, remote.bytes());
                    if self.begun && row_group + 1 < self.shared.metadata.metadata().num_row_groups() {
                        self.fetching = remote.fetch_ahead(file.ranges(row_group + 1));
                    }
                    Box::new(RowsChunk { file, row_group, rows: rows.clone(), bytes })
                }
            };
            self.go_on(rows);
            self.begun = true;
            return Ok(Some(chunk));
        }
        Ok(None)
    }

    /// These rows of the row group have been passed: at its end, the next begins.
    fn go_on(&mut self, rows: Range<usize>) {
        self.position += rows.len() as u64;
        self.row = rows.end;
        if self.row >= cuts::rows(self.footer(), self.row_group) {
            (self.row_group, self.row) = (self.row_group + 1, 0);
        }
    }

    fn footer(&self) -> &ParquetMetaData {
        self.shared.metadata.metadata()
    }
}

impl Shared {
    /// Where the wanted columns of a row group are, in order.
    fn ranges(&self, row_group: usize) -> Vec<Range<u64>> {
        let columns = self.metadata.metadata().row_group(row_group).columns().iter().enumerate();
        let wanted = columns.filter(|(leaf, _)| self.mask.leaf_included(*leaf));
        let mut ranges: Vec<_> = wanted.map(|(_, column)| column.byte_range()).collect();
        ranges.sort_unstable();
        ranges.into_iter().map(|(start, bytes)| start..start + bytes).collect()
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
struct RowsChunk<R> {
    file: Arc<Shared>,
    row_group: usize,
    rows: Range<usize>,
    /// The file's, or those of its wanted columns at least.
    bytes: R,
}

impl<R: ChunkReader + Clone + 'static> Chunk for RowsChunk<R> {
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
        Ok(Decoded { rows, offsets: None, offset_count, rejected: vec![], elements: None })
    }
}

impl<R: ChunkReader + Clone + 'static> RowsChunk<R> {
    fn read(&self) -> Result<RecordBatch> {
        let Shared { metadata, mask, .. } = self.file.as_ref();
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(self.bytes.clone(), metadata.clone())
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

fn damaged(e: ParquetError) -> Error {
    Error::data(format!("the file is damaged: {e}")).because(e)
}

#[cfg(test)]
mod tests;
