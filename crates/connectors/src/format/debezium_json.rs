//! Changes as Debezium has them, one JSON object a line, written as Flink's `debezium-json` writes them.
//!
//! ```text
//! +I, +U   {"before":null,"after":{...},"op":"c"}
//! -U, -D   {"before":{...},"after":null,"op":"d"}
//! ```
//!
//! An update is a deletion and an insertion, since its two rows may stand far apart. Reading comes with change data
//! capture; until then the lines can be read as `json` with the columns `before`, `after` and `op`.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tidemill_core::{Error, Result, RowKind};
use tidemill_runtime::connector::{OptionSpec, Options};

use super::RowEncoder;
use super::json::{JsonEncoder, JsonOptions, TIMESTAMP_FORMAT_DOC, timestamp_format};

/// The format's name.
pub const NAME: &str = "debezium-json";

const TIMESTAMP_FORMAT: &str = "debezium-json.timestamp-format.standard";
const DECIMAL_AS_PLAIN_NUMBER: &str = "debezium-json.encode.decimal-as-plain-number";
const IGNORE_NULL_FIELDS: &str = "debezium-json.encode.ignore-null-fields";

/// Every option that the format knows.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec { key: TIMESTAMP_FORMAT, doc: TIMESTAMP_FORMAT_DOC },
    OptionSpec { key: DECIMAL_AS_PLAIN_NUMBER, doc: "Only 'true': decimals are always written without an exponent." },
    OptionSpec {
        key: IGNORE_NULL_FIELDS,
        doc: "'true' leaves out fields that are NULL, also 'before' and 'after'; 'false', the default, writes null.",
    },
];

/// Reads the options of the format out of a table's.
///
/// # Errors
/// A value that an option does not take.
pub fn options(options: &Options) -> Result<JsonOptions> {
    if !options.boolean(DECIMAL_AS_PLAIN_NUMBER, true)? {
        let message = format!("'{DECIMAL_AS_PLAIN_NUMBER}' can't be 'false'");
        return Err(options
            .refuse(DECIMAL_AS_PLAIN_NUMBER, message)
            .hint("leave it out: decimals are written without an exponent, as the same number"));
    }
    Ok(JsonOptions {
        timestamp_format: timestamp_format(options, TIMESTAMP_FORMAT)?,
        ignore_null_fields: options.boolean(IGNORE_NULL_FIELDS, false)?,
        ..JsonOptions::default()
    })
}

/// Reading is not there yet.
pub fn not_readable() -> Error {
    Error::invalid(format!("the format '{NAME}' can't be read yet: that comes with change data capture"))
        .hint("read the lines with 'format' = 'json' and the columns before, after and op")
}

/// Writes changes.
#[derive(Debug)]
pub struct DebeziumJsonEncoder {
    rows: JsonEncoder,
    /// What stands before and behind a row that comes.
    comes: [&'static [u8]; 2],
    /// The same of a row that goes.
    goes: [&'static [u8]; 2],
}

impl DebeziumJsonEncoder {
    /// An encoder of rows with `schema`.
    ///
    /// # Errors
    /// A column's type is not one that JSON has.
    pub fn new(schema: SchemaRef, options: JsonOptions) -> Result<Self> {
        let (comes, goes): ([&[u8]; 2], [&[u8]; 2]) = match options.ignore_null_fields {
            false => (
                [b"{\"before\":null,\"after\":", b",\"op\":\"c\"}\n"],
                [b"{\"before\":", b",\"after\":null,\"op\":\"d\"}\n"],
            ),
            true => ([b"{\"after\":", b",\"op\":\"c\"}\n"], [b"{\"before\":", b",\"op\":\"d\"}\n"]),
        };
        Ok(Self { rows: JsonEncoder::new(schema, options)?, comes, goes })
    }
}

impl RowEncoder for DebeziumJsonEncoder {
    fn encode(&self, rows: &RecordBatch, kinds: Option<&[RowKind]>, out: &mut Vec<u8>) -> Result<()> {
        if kinds.is_some_and(|kinds| kinds.len() != rows.num_rows()) {
            return Err(Error::internal("changes to encode do not have a kind each"));
        }
        let objects = self.rows.objects(rows)?;
        for row in 0..rows.num_rows() {
            let [before, behind] = match kinds.map_or(RowKind::Insert, |kinds| kinds[row]) {
                RowKind::Insert | RowKind::UpdateAfter => self.comes,
                RowKind::UpdateBefore | RowKind::Delete => self.goes,
            };
            out.extend_from_slice(before);
            objects.write(row, out);
            out.extend_from_slice(behind);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
