//! The options of the format, as Flink names them.

use tidemill_core::Result;
use tidemill_runtime::connector::{OptionSpec, Options};

use crate::format::text::temporal::TimestampFormat;

pub(super) const TIMESTAMP_FORMAT: &str = "json.timestamp-format.standard";
/// What the option does, also in formats that are made of this one.
pub(in crate::format) const TIMESTAMP_FORMAT_DOC: &str = "How timestamps are written: 'SQL' (2026-11-29 10:00:00.000, the \
    default) or 'ISO-8601' (2026-11-29T10:00:00.000); TIMESTAMP_LTZ ends in Z.";
const IGNORE_PARSE_ERRORS: &str = "json.ignore-parse-errors";
const FAIL_ON_MISSING_FIELD: &str = "json.fail-on-missing-field";
const IGNORE_NULL_FIELDS: &str = "json.encode.ignore-null-fields";

/// Every option that the format knows.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec { key: TIMESTAMP_FORMAT, doc: TIMESTAMP_FORMAT_DOC },
    OptionSpec {
        key: IGNORE_PARSE_ERRORS,
        doc: "'true' reads a field that does not parse as NULL, and skips a line that does not parse; \
              'false', the default, fails.",
    },
    OptionSpec {
        key: FAIL_ON_MISSING_FIELD,
        doc: "'true' fails where a line lacks a column's field; 'false', the default, reads NULL.",
    },
    OptionSpec {
        key: IGNORE_NULL_FIELDS,
        doc: "'true' leaves out fields that are NULL where rows are written; 'false', the default, writes null.",
    },
];

/// How JSON is read and written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JsonOptions {
    /// How timestamps are written.
    pub timestamp_format: TimestampFormat,
    /// A field that does not parse is NULL and a line that does not parse is skipped, where both are errors otherwise.
    pub ignore_parse_errors: bool,
    /// A field that is not there is an error, where it is NULL otherwise.
    pub fail_on_missing_field: bool,
    /// A field that is NULL is not written, where it is written as `null` otherwise.
    pub ignore_null_fields: bool,
}

impl JsonOptions {
    /// Reads the options of the format out of a table's.
    ///
    /// # Errors
    /// A value that an option does not take, or two options that contradict each other.
    pub fn from_options(options: &Options) -> Result<Self> {
        let read = Self {
            timestamp_format: timestamp_format(options, TIMESTAMP_FORMAT)?,
            ignore_parse_errors: options.boolean(IGNORE_PARSE_ERRORS, false)?,
            fail_on_missing_field: options.boolean(FAIL_ON_MISSING_FIELD, false)?,
            ignore_null_fields: options.boolean(IGNORE_NULL_FIELDS, false)?,
        };
        if read.ignore_parse_errors && read.fail_on_missing_field {
            return Err(options
                .refuse(
                    FAIL_ON_MISSING_FIELD,
                    format!("'{FAIL_ON_MISSING_FIELD}' and '{IGNORE_PARSE_ERRORS}' can't both be 'true'"),
                )
                .hint("keep the one that you need"));
        }
        Ok(read)
    }
}

/// How timestamps are written, as the option `key` says.
pub(in crate::format) fn timestamp_format(options: &Options, key: &str) -> Result<TimestampFormat> {
    let formats = [("SQL", TimestampFormat::Sql), ("ISO-8601", TimestampFormat::Iso8601)];
    options.one_of(key, &formats, TimestampFormat::Sql)
}
