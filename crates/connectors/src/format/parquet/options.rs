//! The options of the format, as Flink names them.

use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use tidemill_core::Result;
use tidemill_runtime::connector::{OptionSpec, Options};

const COMPRESSION: &str = "parquet.compression";

/// Every option that the format knows.
pub const OPTIONS: &[OptionSpec] = &[OptionSpec {
    key: COMPRESSION,
    doc: "How the columns of files that are written are compressed: SNAPPY (default), ZSTD, GZIP or UNCOMPRESSED.",
}];

/// How Parquet is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParquetOptions {
    /// How columns are compressed.
    pub compression: Compression,
}

impl ParquetOptions {
    /// Reads the options of the format out of a table's.
    ///
    /// # Errors
    /// A value that an option does not take.
    pub fn from_options(options: &Options) -> Result<Self> {
        let codecs = [
            ("SNAPPY", Compression::SNAPPY),
            ("ZSTD", Compression::ZSTD(ZstdLevel::default())),
            ("GZIP", Compression::GZIP(GzipLevel::default())),
            ("UNCOMPRESSED", Compression::UNCOMPRESSED),
        ];
        Ok(Self { compression: options.one_of(COMPRESSION, &codecs, Compression::SNAPPY)? })
    }
}
