//! The format `parquet`: columns of row groups, compressed, with their types in the file.

mod columns;
mod cuts;
mod infer;
mod options;
mod positioned;
mod read;
mod write;

pub use infer::ParquetSample;
pub use options::{OPTIONS, ParquetOptions};
pub use read::{ParquetFile, RowsChunk};
pub use write::ParquetWriter;
