//! Tables in files that nobody has declared: the format by the files' names, the columns by a sample of them.
//!
//! The sample is bounded whatever the input: the first rows of at most [`MAX_FILES`] files, spread evenly over those
//! that are there. Of CSV with headers the header of each file is read, too: its columns are found by position, and in
//! another order they would be taken for each other without a word.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Infer, Inferred};

use super::location::Location;
use super::partition::USUAL_DEFAULT_NAME;
use super::source::{folders, open_text};
use super::store::{Found, MayLack, open_failed, store};
use crate::format::TimestampFormat;
use crate::format::csv::CsvSample;
use crate::format::infer::{Seen, of_text};
use crate::format::json::JsonSample;
use crate::format::parquet::ParquetSample;
use crate::format::records::{AtLineEnds, READ_BYTES, RecordReader};

/// How many files are looked at.
const MAX_FILES: usize = 32;

/// How much of a file shows the delimiter of its fields.
const HEAD_BYTES: u64 = 64 << 10;

/// A format that can be told from a file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InferredFormat {
    /// One object a line.
    Json,
    /// One record a line.
    Csv,
    /// Columns.
    Parquet,
}

impl InferredFormat {
    /// What the end of a name says, that of a compression left out.
    fn of_name(name: &str) -> Option<Self> {
        let path = Path::new(name);
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "json" | "jsonl" | "ndjson" => Some(Self::Json),
            "csv" | "tsv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            "gz" | "gzip" | "zst" | "zstd" => Self::of_name(path.file_stem()?.to_str()?),
            _ => None,
        }
    }
}

impl fmt::Display for InferredFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        })
    }
}

/// How to find out the columns of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileInference {
    /// How many rows are looked at.
    pub sample_rows: usize,
    /// The format; `None` leaves it to the files' names.
    pub format: Option<InferredFormat>,
    /// Whether the first record of a CSV file is a header; `None` leaves it to its fields.
    pub header: Option<bool>,
}

impl Infer for FileInference {
    fn infer(&self, path: &str, folder: &Path) -> Result<Inferred> {
        let files = store(&Location::new(path, folder)?)?.files(MayLack::Nothing)?;
        if files.is_empty() {
            return Err(Error::unavailable(format!("there is no file in '{path}'"))
                .hint("names that begin with '.' or '_' are those of unfinished files, and not read"));
        }
        files.iter().try_for_each(readable_twice)?;
        let format = match self.format {
            Some(format) => format,
            None => format_of(path, &files)?,
        };
        let (columns, of_format) = match format {
            InferredFormat::Json => self.json(&files)?,
            InferredFormat::Csv => self.csv(&files)?,
            InferredFormat::Parquet => (parquet(&files)?, vec![]),
        };
        let (columns, partitioned_by) = with_folders(&columns, path, &files)?;
        let own = [("connector", "filesystem"), ("path", path), ("format", &format.to_string())];
        let own = own.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let advice = format!(
            "the columns of '{path}' were inferred from at most {} rows: infer them from more with --sample N, or declare the \
             table: SHOW CREATE TABLE '{path}' gives the CREATE TABLE to begin with",
            self.sample_rows
        );
        let options = own.into_iter().chain(of_format).collect();
        Ok(Inferred { columns, partitioned_by, options, advice })
    }
}

impl FileInference {
    fn json(&self, files: &[Found]) -> Result<(SchemaRef, Vec<(String, String)>)> {
        let mut sample = JsonSample::default();
        for (file, rows) in spread(files, self.sample_rows) {
            let bytes = open_text(file)?;
            let records = RecordReader::new(bytes, Box::new(AtLineEnds), file.name.clone(), READ_BYTES);
            sample.add(records, rows).map_err(|e| at(e, file))?;
        }
        sample.finish().map_err(|e| at(e, &files[0]))
    }

    fn csv(&self, files: &[Found]) -> Result<(SchemaRef, Vec<(String, String)>)> {
        let mut sample = CsvSample::new(self.header);
        for (file, rows) in spread(files, self.sample_rows) {
            let mut head = vec![];
            let read = open_text(file)?.take(HEAD_BYTES).read_to_end(&mut head);
            read.map_err(|e| open_failed(&file.path, e))?;
            sample.add(&file.name, &head, open_text(file)?, rows)?;
        }
        if sample.has_header() {
            for file in beyond_sample(files) {
                sample.add(&file.name, &[], open_text(file)?, 0)?;
            }
        }
        sample.finish().map_err(|e| at(e, &files[0]))
    }
}

/// The sample is read before the rows are: of a pipe they would be gone.
fn readable_twice(file: &Found) -> Result<()> {
    if file.file.rereadable().map_err(|e| open_failed(&file.path, e))? {
        return Ok(());
    }
    Err(Error::invalid(format!("{} is a pipe or a device, and can be read only once", file.name))
        .hint("save it to a file first; or declare a table with the connector 'stdio' in a file for tidemill run"))
}

fn parquet(files: &[Found]) -> Result<SchemaRef> {
    let mut sample = ParquetSample::default();
    for (file, _) in spread(files, MAX_FILES) {
        let input = file.file.parquet().map_err(|e| open_failed(&file.path, e))?;
        sample.add(&input).map_err(|e| at(e, file))?;
    }
    Ok(sample.finish())
}

/// The files to look at, and how many rows of each.
fn spread(files: &[Found], rows: usize) -> impl Iterator<Item = (&Found, usize)> {
    sampled(files.len()).map(move |number| (&files[number], rows.div_ceil(files.len().min(MAX_FILES))))
}

/// The files that are not among those to look at.
fn beyond_sample(files: &[Found]) -> impl Iterator<Item = &Found> {
    let sampled: BTreeSet<usize> = sampled(files.len()).collect();
    files.iter().enumerate().filter(move |(number, _)| !sampled.contains(number)).map(|(_, file)| file)
}

/// Which of so many files to look at.
fn sampled(files: usize) -> impl Iterator<Item = usize> {
    let looked_at = files.min(MAX_FILES);
    (0..looked_at).map(move |number| number * files / looked_at)
}

/// The format of which all files are, by their names.
fn format_of(path: &str, files: &[Found]) -> Result<InferredFormat> {
    let mut found: Option<(InferredFormat, &Found)> = None;
    for file in files {
        let Some(format) = InferredFormat::of_name(&file.name) else {
            return Err(Error::invalid(format!("the name of '{}' does not tell its format", file.name)).hint(
                "give --format json, csv or parquet; names that tell it end in .json, .jsonl, .ndjson, .csv, .tsv or \
                 .parquet, with .gz or .zst behind if compressed",
            ));
        };
        match found {
            Some((other, first)) if other != format => {
                return Err(Error::invalid(format!(
                    "'{path}' holds files of several formats: '{}' and '{}'",
                    first.name, file.name
                ))
                .hint("narrow the path with a pattern, such as '*.json'"));
            }
            _ => found = found.or(Some((format, file))),
        }
    }
    found.map(|(format, _)| format).ok_or_else(|| Error::internal("a path without files has no format"))
}

/// The columns of the files, and those that folders such as `day=2026-11-29` say.
///
/// # Errors
/// `Invalid` if only some files stand in such folders: without a word, columns would be missing that most rows have.
fn with_folders(columns: &SchemaRef, path: &str, files: &[Found]) -> Result<(SchemaRef, Vec<String>)> {
    let names = folder_names(&files[0]);
    let mut seen = vec![Seen::Nothing; names.len()];
    for file in files {
        if folder_names(file) != names {
            return Err(other_folders(path, &files[0], file));
        }
        let folders = folders(file);
        let values = folders.iter().map(|(_, value)| if value == USUAL_DEFAULT_NAME { "" } else { value.as_str() });
        seen.iter_mut().zip(values).for_each(|(seen, value)| seen.merge(of_text(value)));
    }
    if let Some(number) = (0..names.len()).find(|number| names[..*number].contains(&names[*number])) {
        return Err(Error::invalid(format!(
            "'{}' stands in two folders that say the column '{}'",
            files[0].name, names[number]
        ))
        .hint("declare the table with a CREATE TABLE, and query that"));
    }
    // What a folder says is a whole number, a date, or text.
    let data_type = |seen: &Seen| match seen {
        Seen::Integer | Seen::Date => seen.data_type(TimestampFormat::Sql),
        _ => DataType::Utf8View,
    };
    // A column that the files have too is read from the path, as in any partitioned table.
    let in_files = columns.fields().iter().filter(|field| !names.contains(field.name())).cloned();
    let in_paths = names.iter().zip(&seen).map(|(name, seen)| Arc::new(Field::new(name, data_type(seen), true)));
    Ok((Arc::new(Schema::new(in_files.chain(in_paths).collect::<Vec<_>>())), names))
}

/// The columns that a file's folders say, the outermost first.
fn folder_names(file: &Found) -> Vec<String> {
    folders(file).into_iter().map(|(name, _)| name).collect()
}

/// Two files whose folders do not say the same columns.
fn other_folders(path: &str, first: &Found, other: &Found) -> Error {
    let (in_first, in_other) = (folder_names(first), folder_names(other));
    let (file, lacks) = match in_first.iter().find(|name| !in_other.contains(name)) {
        Some(name) => (other, Some(name)),
        None => (first, in_other.iter().find(|name| !in_first.contains(name))),
    };
    let message = match lacks {
        Some(name) => format!("'{path}' holds files in folders '{name}=...', and '{}' is in none", file.name),
        None => format!("the folders of '{}' and '{}' are not of the same columns in order", first.name, other.name),
    };
    Error::invalid(message).hint(
        "move the file away, narrow the path with a pattern such as 'folder/*=*/*', or declare the table with a \
         CREATE TABLE",
    )
}

/// Names the file in an error.
fn at(error: Error, file: &Found) -> Error {
    error.context(&file.name)
}

#[cfg(test)]
mod tests;
