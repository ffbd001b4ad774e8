//! CSV, straight into Arrow and back: one record a line, its fields matched to the table's columns by position.
//!
//! ```text
//! Buffer of records ─► CsvDecoder ─► Fields ─► Slot ─► Column ─► RecordBatch ─► CsvEncoder ─► records
//!                    records, errors  split    NULLs  one value
//! ```
//!
//! Options, types and results are those of Flink's `csv` format, which reads and writes with Jackson. The differences
//! are on purpose, and all but the last are loud, in Flink or here:
//!
//! | Input | Flink | Here |
//! | --- | --- | --- |
//! | `12.0` or `1e3` into an integer column | an error | read; `12.7` is an error |
//! | `1` or `yes` into `BOOLEAN` | `FALSE` | an error; `true` and `false` are read, in any case |
//! | a number past the range of `DOUBLE` (`1e400`) | infinity | an error |
//! | the 30th of February | a day of March, or the 28th or 29th | an error |
//! | a blank line, where the table has several columns | an error | no row |
//! | with quotes disabled, a value that has a delimiter | written, and reads back as two | an error |
//! | an array's element that has the element delimiter | written, and reads back as two | an error |
//! | the null literal in place of a `ROW` with several fields | an error | NULL |
//! | a carriage return that no line feed follows | ends the record | is part of the field |

mod column;
mod cut;
mod decode;
mod encode;
mod fault;
mod infer;
mod nested;
mod options;
mod slot;
mod split;
mod write;

#[cfg(test)]
mod tests;

pub use cut::CsvCutter;
pub use decode::CsvDecoder;
pub use encode::CsvEncoder;
pub use infer::CsvSample;
pub use options::{CsvOptions, OPTIONS};

/// The format's name.
const NAME: &str = "csv";
