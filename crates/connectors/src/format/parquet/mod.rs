//! Parquet: columns, compressed, with their types in the file.

mod options;
mod write;

pub use options::{OPTIONS, ParquetOptions};
pub use write::ParquetWriter;
