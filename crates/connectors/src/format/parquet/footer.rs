//! What the end of a Parquet file says: its columns, and where their bytes are.

use std::sync::Arc;

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader};
use tidemill_core::{Error, Result};

use super::input::ParquetInput;

/// How much is read at first: the whole footer of most files.
const FIRST_READ_BYTES: u64 = 64 << 10;

/// Reads the footer, with at most one more read where it is long.
///
/// # Errors
/// `Unavailable` if it can't be read, `Data` if this is not a whole Parquet file.
pub(super) fn footer(file: &ParquetInput) -> Result<ArrowReaderMetadata> {
    // Where pages stand is of use where a row group is read page by page.
    let pages = match file {
        ParquetInput::Local(_) => PageIndexPolicy::Optional,
        ParquetInput::Remote(_) => PageIndexPolicy::Skip,
    };
    let mut reader =
        ParquetMetaDataReader::new().with_column_index_policy(PageIndexPolicy::Skip).with_offset_index_policy(pages);
    let mut tail_bytes = FIRST_READ_BYTES.min(file.bytes());
    loop {
        let tail = file.read_at(file.bytes() - tail_bytes, tail_bytes)?;
        match reader.try_parse_sized(&tail, file.bytes()) {
            Ok(()) => break,
            Err(ParquetError::NeedMoreData(needed)) if needed as u64 > tail_bytes => tail_bytes = needed as u64,
            Err(e) => return Err(not_parquet(e)),
        }
    }
    let metadata = reader.finish().map_err(not_parquet)?;
    ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new()).map_err(not_parquet)
}

pub(super) fn not_parquet(e: ParquetError) -> Error {
    Error::data(format!("this is not a whole Parquet file: {e}"))
        .because(e)
        .hint("a file that is still being written has no footer yet; is 'format' right?")
}
