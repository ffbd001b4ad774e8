//! How rows stand in a file as a whole: text, record after record, or Parquet.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tidemill_core::{Result, RowKind};
use tidemill_runtime::connector::{ChangelogMode, OptionSpec, Options, TableSpec};

use super::parquet::{self, ParquetOptions, ParquetWriter};
use super::{RowEncoder, TextFormat, unknown, with_format_options};

const PARQUET: &str = "parquet";

/// A format of files, with its options.
#[derive(Debug, Clone)]
pub enum FileFormat {
    /// Records that stand one after the other.
    Text(TextFormat),
    /// Columns.
    Parquet(ParquetOptions),
}

/// Makes the bytes of one file. It does no I/O: whoever calls it has the file.
pub trait FileWriter: Send {
    /// Takes rows, and appends to `out` those bytes of the file that are ready. `kinds` says what each row does; only a
    /// format of changes is given others than `+I`.
    fn write(&mut self, rows: &RecordBatch, kinds: Option<&[RowKind]>, out: &mut Vec<u8>) -> Result<()>;

    /// About how many bytes of the file are not ready yet, and wait in memory for more rows.
    fn held_bytes(&self) -> usize;

    /// About how much memory [`Self::release`] would free, and is worth to be asked for.
    fn memory_bytes(&self) -> usize;

    /// Makes ready what waits for more rows, to free memory.
    fn release(&mut self, out: &mut Vec<u8>) -> Result<()>;

    /// Appends what the file still lacks; nothing is written after it.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

impl FileFormat {
    /// The format that a table's options ask for.
    ///
    /// # Errors
    /// `Invalid` if `format` is missing or unknown, if an option of the format has a wrong value, or if there is an
    /// option of another format.
    pub fn from_table(table: &TableSpec) -> Result<Self> {
        let options = &table.options;
        let name = options.required("format")?;
        if !names().any(|known| known == name) {
            return Err(unknown(options, name, names()));
        }
        for (key, _) in options.iter() {
            let mut others = names().filter(|other| *other != name);
            if let Some(other) = others.find(|other| key.split_once('.').is_some_and(|(head, _)| head == *other)) {
                let message = format!("'{key}' is an option of the format '{other}', and the table has '{name}'");
                return Err(options.refuse(key, message).hint("leave it out"));
            }
        }
        Ok(match name {
            PARQUET => Self::Parquet(ParquetOptions::from_options(options)?),
            _ => Self::Text(TextFormat::from_table(table, None)?),
        })
    }

    /// The end of the names of files in this format, without the dot.
    #[must_use]
    pub fn extension(&self) -> &'static str {
        match self {
            Self::Text(text) => text.extension(),
            Self::Parquet(_) => PARQUET,
        }
    }

    /// Whether it decodes only some fields of a `ROW`, where the others are not asked for.
    #[must_use]
    pub fn narrows_rows(&self) -> bool {
        match self {
            Self::Text(text) => text.narrows_rows(),
            Self::Parquet(_) => true,
        }
    }

    /// Which rows it can write.
    #[must_use]
    pub fn changelog(&self) -> ChangelogMode {
        match self {
            Self::Text(text) => text.changelog(),
            Self::Parquet(_) => ChangelogMode::Append,
        }
    }

    /// Checks that a table of this format can be read.
    ///
    /// # Errors
    /// `Invalid` if it can only be written.
    pub fn check_readable(&self, options: &Options) -> Result<()> {
        match self {
            Self::Text(text) => text.check_readable(options),
            Self::Parquet(_) => Ok(()),
        }
    }

    /// Makes a file of rows with `schema`.
    ///
    /// # Errors
    /// A column that the format can't write.
    pub fn writer(&self, schema: SchemaRef) -> Result<Box<dyn FileWriter>> {
        Ok(match self {
            Self::Text(text) => Box::new(TextWriter {
                encoder: text.encoder(schema)?,
                takes_changes: text.changelog() > ChangelogMode::Append,
            }),
            Self::Parquet(options) => Box::new(ParquetWriter::new(schema, options)?),
        })
    }
}

/// The options of a system that keeps files: its own, `format`, and those of every format of files.
pub(crate) fn with_file_format_options(own: &[OptionSpec]) -> Vec<OptionSpec> {
    [&with_format_options(own), parquet::OPTIONS].concat()
}

/// The names of all formats in `'format' = '...'`.
pub(crate) const NAMES: &[&str] = &["csv", "debezium-json", "json", PARQUET];

fn names() -> impl Iterator<Item = &'static str> + Clone {
    NAMES.iter().copied()
}

/// Text is ready as it is encoded.
struct TextWriter {
    encoder: Box<dyn RowEncoder>,
    takes_changes: bool,
}

impl FileWriter for TextWriter {
    fn write(&mut self, rows: &RecordBatch, kinds: Option<&[RowKind]>, out: &mut Vec<u8>) -> Result<()> {
        self.encoder.encode(rows, kinds.filter(|_| self.takes_changes), out)
    }

    fn held_bytes(&self) -> usize {
        0
    }

    fn memory_bytes(&self) -> usize {
        0
    }

    fn release(&mut self, _: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
