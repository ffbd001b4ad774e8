//! The format `parquet`: columns of row groups, compressed, with their types in the file.

mod columns;
mod cuts;
mod footer;
mod infer;
mod input;
mod options;
mod positioned;
mod read;
mod rejected;
mod write;

pub use infer::ParquetSample;
pub use input::{Fetching, ParquetInput, RemoteFile};
pub use options::{OPTIONS, ParquetOptions};
pub use read::ParquetFile;
pub use write::ParquetWriter;
