//! How rows stand in bytes, whatever brought the bytes.
//!
//! A format knows no file and no pipe; a system knows no format but by name. So every system
//! reads and writes every format that is in the list here.

pub mod csv;
mod debezium_json;
mod file;
pub(crate) mod infer;
pub mod json;
mod not_null;
pub mod parquet;
pub mod records;
mod text;

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::{Schema, SchemaRef};
use tidemill_core::{Error, Result, RowKind};
use tidemill_runtime::connector::{
    ChangelogMode, DecodeError, Decoded, OptionSpec, Options, ScanRequest, TableSpec, nearest,
};

use self::csv::{CsvCutter, CsvDecoder, CsvEncoder, CsvOptions};
use self::debezium_json::DebeziumJsonEncoder;
pub use self::file::{FileFormat, FileWriter};
pub(crate) use self::file::{NAMES as FILE_NAMES, with_file_format_options};
use self::json::{JsonDecoder, JsonEncoder, JsonOptions};
pub(crate) use self::not_null::check_not_null;
use self::records::{AtLineEnds, Cutter};
pub(crate) use self::text::shown::sql_type;
pub use self::text::temporal::TimestampFormat;

/// The names of text in `'format' = '...'`.
pub(crate) const NAMES: &[&str] = &["csv", "debezium-json", "json"];

const FORMAT: OptionSpec = OptionSpec {
    key: "format",
    doc: "How rows stand in the bytes: csv, or json (one object a line); in files also parquet. To write changes: \
          debezium-json.",
};

/// A format of text, with its options: records that stand one after the other.
#[derive(Debug, Clone)]
pub enum TextFormat {
    /// Fields by position, one record a line.
    Csv {
        /// The columns that a record has, in their order.
        record: SchemaRef,
        /// How records are read and written.
        options: CsvOptions,
    },
    /// One JSON object a line.
    Json(JsonOptions),
    /// One change a line, to be written only.
    DebeziumJson(JsonOptions),
}

/// Makes rows of whole records; a pure function, called from many threads at once.
pub trait RecordDecoder: Send + Sync {
    /// Decodes every row of `records`, which begins where a record begins and ends where one ends.
    /// `first_of_file` says that nothing came before it (a byte order mark or a header may be there).
    /// Offsets count lines.
    fn decode(&self, records: &Buffer, first_of_file: bool) -> Result<Decoded, DecodeError>;
}

/// Makes bytes of rows.
pub trait RowEncoder: Send {
    /// Appends the rows to `out`, each ended by a line end; `kinds` adds each row's kind. A format that takes changes
    /// writes rows without kinds as added.
    fn encode(&self, rows: &RecordBatch, kinds: Option<&[RowKind]>, out: &mut Vec<u8>) -> Result<()>;
}

impl TextFormat {
    /// The format that a table asks for.
    ///
    /// # Errors
    /// `Invalid` if the option `format` is missing and there is no `default`, if it names no format of the list, if an
    /// option of the format has a wrong value, or if the format does not have a column's type.
    pub fn from_table(table: &TableSpec, default: Option<&str>) -> Result<Self> {
        let options = &table.options;
        let name = match options.get("format").or(default) {
            Some(name) => name,
            None => options.required("format")?,
        };
        match name {
            "csv" => {
                let (record, csv) = (record(table), CsvOptions::from_options(options)?);
                // A column that is not asked for has a place all the same: its type is checked with the others.
                CsvDecoder::new(Arc::clone(&record), &record, csv.clone())
                    .map_err(|error| at_format(options, &error))?;
                Ok(Self::Csv { record, options: csv })
            }
            "json" => Ok(Self::Json(JsonOptions::from_options(options)?)),
            debezium_json::NAME => Ok(Self::DebeziumJson(debezium_json::options(options)?)),
            _ => Err(unknown(options, name, text_names())),
        }
    }

    /// The end of the names of files in this format, without the dot.
    #[must_use]
    pub fn extension(&self) -> &'static str {
        match self {
            Self::Csv { .. } => "csv",
            Self::Json(_) | Self::DebeziumJson(_) => "json",
        }
    }

    /// Which rows it can write.
    #[must_use]
    pub fn changelog(&self) -> ChangelogMode {
        match self {
            Self::Csv { .. } | Self::Json(_) => ChangelogMode::Append,
            Self::DebeziumJson(_) => ChangelogMode::Retract,
        }
    }

    /// Checks that a table of this format can be read.
    ///
    /// # Errors
    /// `Invalid` if it can only be written.
    pub fn check_readable(&self, options: &Options) -> Result<()> {
        match self {
            Self::Csv { .. } | Self::Json(_) => Ok(()),
            Self::DebeziumJson(_) => Err(at_format(options, &debezium_json::not_readable())),
        }
    }

    /// A decoder of the requested columns.
    pub fn decoder(&self, request: &ScanRequest) -> Result<Arc<dyn RecordDecoder>> {
        let columns = Arc::clone(&request.columns);
        match self {
            Self::Csv { options: CsvOptions { ignore_parse_errors: true, .. }, .. } if request.keep_rejected => {
                Err(nothing_rejected("csv"))
            }
            Self::Json(JsonOptions { ignore_parse_errors: true, .. }) if request.keep_rejected => {
                Err(nothing_rejected("json"))
            }
            Self::Csv { record, options } => {
                Ok(Arc::new(CsvDecoder::new(columns, record, options.clone())?.keep_rejected(request.keep_rejected)))
            }
            Self::Json(options) => {
                Ok(Arc::new(JsonDecoder::new(columns, options.clone())?.keep_rejected(request.keep_rejected)))
            }
            Self::DebeziumJson(_) => Err(debezium_json::not_readable()),
        }
    }

    /// Whether it decodes only some fields of a `ROW`: in CSV they stand by their position.
    #[must_use]
    pub fn narrows_rows(&self) -> bool {
        matches!(self, Self::Json(_))
    }

    /// What finds the ends of records, from the beginning of an input on, or else from a place where one has ended.
    #[must_use]
    pub fn cutter(&self, first: bool) -> Box<dyn Cutter> {
        match self {
            Self::Csv { options, .. } if first => Box::new(CsvCutter::new(options)),
            Self::Csv { options, .. } => Box::new(CsvCutter::new(options).behind_a_record()),
            Self::Json(_) | Self::DebeziumJson(_) => Box::new(AtLineEnds),
        }
    }

    /// An encoder for rows of `schema`.
    pub fn encoder(&self, schema: SchemaRef) -> Result<Box<dyn RowEncoder>> {
        match self {
            Self::Csv { options: CsvOptions { ignore_first_line: true, .. }, .. } => Err(Error::invalid(
                "'csv.ignore-first-line' is for reading: what is written has no header, so its first row would be lost",
            )
            .hint("declare the table that is written without the option")),
            Self::Csv { options, .. } => Ok(Box::new(CsvEncoder::new(schema, options.clone())?)),
            Self::Json(options) => Ok(Box::new(JsonEncoder::new(schema, options.clone())?)),
            Self::DebeziumJson(options) => Ok(Box::new(DebeziumJsonEncoder::new(schema, options.clone())?)),
        }
    }
}

/// The options of a system that takes a format: its own, `format`, and those of every format.
pub(crate) fn with_format_options(own: &[OptionSpec]) -> Vec<OptionSpec> {
    [own, &[FORMAT], csv::OPTIONS, json::OPTIONS, debezium_json::OPTIONS].concat()
}

/// The columns that stand in a table's records: those that the path of a file says are not among them.
fn record(table: &TableSpec) -> SchemaRef {
    let fields = table.schema.fields().iter();
    let stands = |name: &str| !table.partitioned_by.iter().any(|column| &**column == name);
    Arc::new(Schema::new(fields.filter(|field| stands(field.name())).cloned().collect::<Vec<_>>()))
}

/// Both a dead-letter output and the option say what becomes of a row that does not parse.
fn nothing_rejected(format: &str) -> Error {
    Error::invalid(format!("with '{format}.ignore-parse-errors' = 'true' no row is left for the dead-letter table"))
        .hint("leave out the option, or the SET 'tidemill.dead-letter...'")
}

/// An error of a format, with the place where the format is named.
fn at_format(options: &Options, error: &Error) -> Error {
    let placed = options.refuse("format", error.message());
    match error.hint_text() {
        Some(hint) => placed.hint(hint),
        None => placed,
    }
}

/// The names of the formats of text.
fn text_names() -> impl Iterator<Item = &'static str> + Clone {
    NAMES.iter().copied()
}

fn unknown(options: &Options, name: &str, known: impl Iterator<Item = &'static str> + Clone) -> Error {
    let error = options.refuse("format", format!("the format '{name}' is not supported"));
    match nearest(name, known.clone()) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None => error.hint(format!("supported formats: {}", known.collect::<Vec<_>>().join(", "))),
    }
}

impl RecordDecoder for CsvDecoder {
    fn decode(&self, records: &Buffer, first_of_file: bool) -> Result<Decoded, DecodeError> {
        Self::decode(self, records, first_of_file)
    }
}

impl RowEncoder for CsvEncoder {
    fn encode(&self, rows: &RecordBatch, kinds: Option<&[RowKind]>, out: &mut Vec<u8>) -> Result<()> {
        Self::encode(self, rows, kinds, out)
    }
}

impl RecordDecoder for JsonDecoder {
    fn decode(&self, records: &Buffer, first_of_file: bool) -> Result<Decoded, DecodeError> {
        Self::decode(self, records, first_of_file)
    }
}

impl RowEncoder for JsonEncoder {
    fn encode(&self, rows: &RecordBatch, kinds: Option<&[RowKind]>, out: &mut Vec<u8>) -> Result<()> {
        Self::encode(self, rows, kinds, out)
    }
}

#[cfg(test)]
mod tests;
