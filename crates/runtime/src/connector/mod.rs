//! The contracts between the engine and the systems that it reads from and writes to.
//!
//! ```text
//! Connector ──source()──► Source ──open()──► PartitionReader ──next_chunk()──► Chunk ──decode()──► Decoded
//!     │                                       one a partition, serial            CPU only, in parallel
//!     └──────sink()─────► SinkFactory ──open()──► Sink ──write · prepare · commit
//! ```
//!
//! A connector knows no operator and no SQL. It sees a [`TableSpec`]: columns, options, a folder.

mod infer;
mod options;
mod quantity;
mod registry;
mod sink;
mod source;

pub use infer::{Infer, Inferred};
pub use options::{OptionSpec, Options, nearest};
pub use quantity::{duration, memory_size};
pub use registry::Connectors;
pub use sink::{ChangelogMode, Commitment, Guarantee, Sink, SinkFactory, WriteMode};
pub use source::{
    Chunk, DecodeError, Decoded, Discovery, Opened, PartitionReader, ReadPartition, Rejected, ScanRequest, Source,
};

use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tidemill_core::Result;

/// A declared table, as a connector needs to see it.
#[derive(Debug, Clone)]
pub struct TableSpec {
    /// The table's name, for messages.
    pub name: Arc<str>,
    /// The physical columns, in the order of the declaration.
    pub schema: SchemaRef,
    /// The columns of `PARTITIONED BY`, in its order; the path of a file says their values.
    pub partitioned_by: Vec<Arc<str>>,
    /// The `WITH` options, `connector` left out.
    pub options: Options,
    /// Where relative paths start: the folder of the SQL file.
    pub folder: PathBuf,
}

/// One system: what it is called in `'connector' = '...'`, and how to make its sources and sinks.
///
/// # Contract
/// - `options` lists every key that `source` or `sink` reads; a key that is not listed never
///   reaches them (checked by the planner).
/// - `source` and `sink` validate every option, and do no I/O: a bad configuration fails before
///   anything runs.
/// - `sink` is asked to overwrite only where `overwrites` is true (checked by the planner).
pub trait Connector: Send + Sync {
    /// The word in `'connector' = '...'`.
    fn name(&self) -> &'static str;

    /// Every option that the connector knows.
    fn options(&self) -> &'static [OptionSpec];

    /// The values of the option `format`. An option whose key begins with one of them and a point is for that format alone.
    fn formats(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a table may be `PARTITIONED BY` some of its columns.
    fn partitioned(&self) -> bool {
        false
    }

    /// Makes a source, or says that the system can't be read.
    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>>;

    /// Whether `INSERT OVERWRITE` can write to its tables.
    fn overwrites(&self) -> bool {
        false
    }

    /// Makes a sink that treats the table's present rows as `mode` says, or says that the system can't be written.
    fn sink(&self, table: &TableSpec, mode: WriteMode) -> Result<Arc<dyn SinkFactory>>;
}
