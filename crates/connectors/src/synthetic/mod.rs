//! What systems that make up their rows have in common: one partition, whose chunks are ranges of row numbers.
//!
//! A row is a function of its number and a seed, and of nothing else. So any core can make any chunk, and every reading,
//! of whatever columns, sees the same rows: a batch can be compared with the live run over "the same" input.

mod pace;
mod random;
mod source;

use std::ops::Range;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tidemill_core::Result;

pub use self::pace::Pace;
pub use self::random::{Draws, Sequence};
pub use self::source::SyntheticSource;

/// Makes rows by their numbers.
///
/// # Contract
/// - A value depends on its row's number and its column alone: not on the range, nor on the other columns.
pub trait Recipe: Send + Sync {
    /// The rows with these numbers, from 0: `columns` of them, which the table has.
    fn generate(&self, columns: &SchemaRef, rows: Range<u64>) -> Result<RecordBatch>;

    /// About how many bytes a row of `columns` takes in memory.
    fn row_bytes(&self, columns: &SchemaRef) -> usize;

    /// Whether it makes only some fields of a `ROW`, where the others are not asked for.
    fn narrows_rows(&self) -> bool {
        false
    }
}
