//! JSON lines, straight into Arrow and back: one object a line, read by a schema in a single pass.
//!
//! ```text
//! Buffer of lines ─► JsonDecoder ─► Object ─► Column ─► RecordBatch ─► JsonEncoder ─► lines
//!                     lines, errors   keys      one value (scalar, text, nested)
//! ```
//!
//! Options, coercions and results are those of Flink's `json` format. The differences are on purpose, and loud:
//!
//! | Input | Flink | Here |
//! | --- | --- | --- |
//! | a fraction into an integer column (`12.7`) | cut to `12` (an error for `TINYINT`, `SMALLINT`) | an error; `12.0` and `1e3` are read |
//! | `1` or `"yes"` into `BOOLEAN` | `FALSE` | an error; `"true"` and `"false"` are read, in any case |
//! | a number past the range of `DOUBLE` (`1e400`) | infinity | an error |
//! | the 30th of February in a timestamp | the 28th or 29th | an error |
//! | a raw control character in a string | kept | an error, as JSON has it |
//! | half a surrogate pair (`\ud800`) | `?` | U+FFFD, the replacement character |
//! | the fraction of a `TIME` | dropped | kept to the millisecond |

mod column;
mod decode;
mod encode;
mod fault;
mod infer;
mod nested;
mod object;
mod options;
mod scalar;
mod scan;
mod string;
mod text;

#[cfg(test)]
mod tests;

pub use decode::JsonDecoder;
pub use encode::JsonEncoder;
pub use infer::JsonSample;
pub use options::{JsonOptions, OPTIONS};
pub(in crate::format) use options::{TIMESTAMP_FORMAT_DOC, timestamp_format};

pub use super::text::temporal::TimestampFormat;

/// The format's name.
const NAME: &str = "json";
