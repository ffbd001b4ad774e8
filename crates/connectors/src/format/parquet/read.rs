//! Reads a Parquet file: a piece of a row group is a chunk, which any core decodes.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Fields, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;
use parquet::schema::types::SchemaDescriptor;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Chunk, DecodeError, Decoded};

use super::columns::{Columns, as_views, other_moments, with_units};
use super::cuts;
use super::footer::{footer, not_parquet};
use super::input::{Fetched, Fetching, ParquetInput};
use super::rejected::{DecodedRows, Faults};

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
    keep_rejected: bool,
}

/// What all chunks of a file need.
struct Shared {
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    columns: Columns,
    wanted: SchemaRef,
    /// The columns with `INT96` that is read in nanoseconds, where there are any.
    coarse: Option<Coarse>,
}

/// Columns that are read a second time, in microseconds: the library makes other moments of those that nanoseconds
/// can't tell, and only so is that seen.
struct Coarse {
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
}

impl ParquetFile {
    /// Reads the footer of `input`; chunks will have the columns `wanted`, by name. Blocks.
    ///
    /// # Errors
    /// `Unavailable` if it can't be read, `Data` if this is not a whole Parquet file, `Invalid` if a column's type does
    /// not fit.
    pub fn open(input: ParquetInput, wanted: SchemaRef) -> Result<Self> {
        let found = footer(&input)?;
        let types = as_views(&with_units(&found, wanted.fields(), TimeUnit::Nanosecond));
        let metadata = read_as(&found, types)?;
        let columns = Columns::new(wanted.fields(), metadata.schema())?;
        let mask = mask(metadata.parquet_schema(), &wanted);
        let coarse = Coarse::of(&metadata, &wanted)?;
        let shared = Arc::new(Shared { metadata, mask, columns, wanted, coarse });
        let (row_group, row, position) = (0, 0, 0);
        Ok(Self { input, shared, row_group, row, position, fetching: None, begun: false, keep_rejected: false })
    }

    /// The same file, of which rows that can't be taken are given among the rejected ones instead of failing their
    /// chunk.
    #[must_use]
    pub fn keep_rejected(self, keep_rejected: bool) -> Self {
        Self { keep_rejected, ..self }
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
            let (file, keep_rejected) = (Arc::clone(&self.shared), self.keep_rejected);
            let chunk: Box<dyn Chunk> = match &self.input {
                ParquetInput::Local(bytes) => {
                    Box::new(RowsChunk { file, row_group, rows: rows.clone(), bytes: bytes.clone(), keep_rejected })
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
                    Box::new(RowsChunk { file, row_group, rows: rows.clone(), bytes, keep_rejected })
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

impl Coarse {
    /// Those of the columns `wanted` that `fine` reads in a unit which does not reach over all of their moments.
    fn of(fine: &ArrowReaderMetadata, wanted: &Schema) -> Result<Option<Self>> {
        let types = with_units(fine, wanted.fields(), TimeUnit::Microsecond);
        let type_in = |schema: &Schema, name: &str| schema.field_with_name(name).ok().map(|f| f.data_type().clone());
        let differs = |name: &str| type_in(fine.schema(), name) != type_in(&types, name);
        let columns: Fields = wanted.fields().iter().filter(|field| differs(field.name())).cloned().collect();
        if columns.is_empty() {
            return Ok(None);
        }
        let mask = mask(fine.parquet_schema(), &Schema::new(columns));
        Ok(Some(Self { metadata: read_as(fine, types)?, mask }))
    }
}

/// The same file, read in these types.
fn read_as(file: &ArrowReaderMetadata, types: Schema) -> Result<ArrowReaderMetadata> {
    let options = ArrowReaderOptions::new().with_schema(Arc::new(types));
    ArrowReaderMetadata::try_new(Arc::clone(file.metadata()), options).map_err(not_parquet)
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
    keep_rejected: bool,
}

impl<R: ChunkReader + Clone + 'static> Chunk for RowsChunk<R> {
    fn unit(&self) -> &'static str {
        "row"
    }

    fn decode(self: Box<Self>) -> Result<Decoded, DecodeError> {
        let whole = |error| DecodeError { offset: 0, error };
        let (decoded, mut faults) = self.decode_rows().map_err(whole)?;
        if !self.keep_rejected
            && let Some((row, error)) = faults.pop_first()
        {
            return Err(DecodeError { offset: row as u64, error });
        }
        decoded.without(faults).map_err(whole)
    }
}

impl<R: ChunkReader + Clone + 'static> RowsChunk<R> {
    /// All rows, and what is wrong with some of them.
    fn decode_rows(&self) -> Result<(DecodedRows, Faults)> {
        let Shared { metadata, mask, columns, wanted, coarse } = self.file.as_ref();
        let read = self.read(metadata, mask)?;
        let coarse = coarse.as_ref().map(|coarse| self.read(&coarse.metadata, &coarse.mask)).transpose()?;
        let columns = columns.of(read.columns(), read.num_rows())?;
        let mut faults = self.file.columns.nulls_where_none_may_be(&columns);
        if let Some(coarse) = &coarse {
            add_out_of_range(&read, coarse, &mut faults)?;
        }
        Ok((DecodedRows { schema: Arc::clone(wanted), columns, rows: read.num_rows(), coarse }, faults))
    }

    fn read(&self, metadata: &ArrowReaderMetadata, mask: &ProjectionMask) -> Result<RecordBatch> {
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

/// Adds the rows with a moment that nanoseconds can't tell.
fn add_out_of_range(read: &RecordBatch, coarse: &RecordBatch, faults: &mut Faults) -> Result<()> {
    for (field, coarse) in coarse.schema_ref().fields().iter().zip(coarse.columns()) {
        let Some(column) = read.column_by_name(field.name()) else { continue };
        for row in other_moments(column, coarse)? {
            faults.entry(row).or_insert_with(|| out_of_range(field.name()));
        }
    }
    Ok(())
}

fn out_of_range(column: &str) -> Error {
    Error::data(format!("the column '{column}' has a time before 1677 or after 2262, which nanoseconds can't tell"))
        .hint("declare it with 6 digits of a second: TIMESTAMP(6), where it is TIMESTAMP(9)")
}

fn damaged(e: ParquetError) -> Error {
    Error::data(format!("the file is damaged: {e}")).because(e).hint("get the file again from where it came from")
}

#[cfg(test)]
mod tests;
