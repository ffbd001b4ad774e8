//! The format `parquet`: columns of row groups, in whole files.

mod columns;
mod positioned;
mod read;

pub use read::{ParquetFile, RowGroupChunk};
