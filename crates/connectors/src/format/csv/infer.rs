//! The columns of CSV that nobody has declared, found out from the header and the first records.
//!
//! The first record is a header if each of its fields is text (no number, date or word that means a boolean) and no
//! two are the same: that is the convention of most readers. Without a header the columns are `f0`, `f1`, ...

use std::io::Read;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use tidemill_core::{Error, Result};

use super::CsvCutter;
use super::fault::{ends_with_returns, returns_alone};
use super::options::{CsvOptions, FIELD_DELIMITER, IGNORE_FIRST_LINE, NULL_LITERAL};
use super::split::{Dialect, Fields};
use crate::format::infer::{Seen, columns, of_text};
use crate::format::records::{READ_BYTES, RecordReader};
use crate::format::text::BYTE_ORDER_MARK;
use crate::format::text::temporal::TimestampFormat;

/// The delimiters that are looked for, the most usual first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// What a sample of records has shown.
#[derive(Debug)]
pub struct CsvSample {
    options: CsvOptions,
    /// Whether the first record is a header, if somebody has said so.
    header: Option<bool>,
    /// The file whose first record decided, and that record if it is a header.
    first: Option<(Arc<str>, Option<Vec<String>>)>,
    seen: Vec<Seen>,
}

impl CsvSample {
    /// Nothing seen yet; `header` says whether the first record is one, `None` leaves that to its fields.
    #[must_use]
    pub fn new(header: Option<bool>) -> Self {
        Self { options: CsvOptions::default(), header, first: None, seen: vec![] }
    }

    /// Looks at the header of the file `name`, which begins with the bytes `head`, and at its first `rows` rows.
    ///
    /// # Errors
    /// The file can't be read, or its header is not that of the files before it.
    pub fn add<R: Read>(&mut self, name: &Arc<str>, head: &[u8], input: R, rows: usize) -> Result<()> {
        if self.first.is_none() {
            self.options.dialect.delimiter = delimiter(head);
        }
        let mut reader =
            RecordReader::new(input, Box::new(CsvCutter::new(&self.options)), Arc::clone(name), READ_BYTES);
        let (mut left, mut first) = (rows, true);
        while (first || left > 0)
            && let Some(block) = reader.next_records()?
        {
            let mut fields = Fields::new(self.options.dialect, block.as_slice());
            if first && block.starts_with(BYTE_ORDER_MARK) {
                fields.seek(BYTE_ORDER_MARK.len());
            }
            while (first || left > 0) && fields.pos() < block.len() {
                if fields.skip_blank_line() {
                    continue;
                }
                let start = fields.pos();
                let record = record(&mut fields, &self.options.dialect);
                if first {
                    check_first(name, &block[start..fields.pos()])?;
                }
                if std::mem::take(&mut first) && self.is_header(name, &record)? {
                    continue;
                }
                if left > 0 {
                    left -= 1;
                    self.record(&record);
                }
            }
        }
        Ok(())
    }

    /// Whether the files that were looked at have a header.
    #[must_use]
    pub fn has_header(&self) -> bool {
        matches!(self.first, Some((_, Some(_))))
    }

    /// Whether the first record of a file is a header.
    fn is_header(&mut self, name: &Arc<str>, record: &[String]) -> Result<bool> {
        match &self.first {
            None => {
                let header = self.header.unwrap_or_else(|| looks_like_a_header(record)).then(|| record.to_vec());
                let found = header.is_some();
                self.first = Some((Arc::clone(name), header));
                Ok(found)
            }
            Some((_, None)) => Ok(false),
            Some((_, Some(header))) if header == record => Ok(true),
            Some((first, Some(_))) => Err(Error::data(format!(
                "'{name}' does not have the header of '{first}': columns are found by position"
            ))
            .hint("query files with different columns one by one, and UNION ALL the results")),
        }
    }

    fn record(&mut self, record: &[String]) {
        if self.seen.len() < record.len() {
            self.seen.resize(record.len(), Seen::Nothing);
        }
        self.seen.iter_mut().zip(record).for_each(|(seen, field)| seen.merge(of_text(field)));
    }

    /// The columns, and the options that read them.
    ///
    /// # Errors
    /// `Data` if there was no record.
    pub fn finish(mut self) -> Result<(SchemaRef, Vec<(String, String)>)> {
        let Some((_, header)) = self.first else {
            return Err(Error::data("there is no record that would show the columns"));
        };
        let has_header = header.is_some();
        let names = header.unwrap_or_default();
        self.seen.resize(self.seen.len().max(names.len()), Seen::Nothing);
        let named = self.seen.into_iter().enumerate().map(|(number, seen)| (name(&names, number), seen)).collect();
        let fields = columns(&unique(named), TimestampFormat::Sql);
        let mut options = vec![(NULL_LITERAL.to_owned(), String::new())];
        if has_header {
            options.push((IGNORE_FIRST_LINE.to_owned(), "true".to_owned()));
        }
        match self.options.dialect.delimiter {
            b',' => {}
            b'\t' => options.push((FIELD_DELIMITER.to_owned(), "\\t".to_owned())),
            other => options.push((FIELD_DELIMITER.to_owned(), char::from(other).to_string())),
        }
        Ok((Arc::new(Schema::new(fields)), options))
    }
}

/// The fields of the record at the cursor, as they are meant.
fn record(fields: &mut Fields<'_>, dialect: &Dialect) -> Vec<String> {
    let (mut record, mut aside) = (vec![], vec![]);
    loop {
        let field = fields.step();
        let value = field.text(fields.bytes(), dialect, &mut aside);
        record.push(String::from_utf8_lossy(value.text).into_owned());
        if field.last {
            return record;
        }
    }
}

/// Of the first record names are made, so it must be text; and a file that is one record has other ends of lines.
fn check_first(name: &str, record: &[u8]) -> Result<()> {
    if let Err(e) = std::str::from_utf8(record) {
        let message = format!("{name}: the first record is not UTF-8 from its byte {} on", e.valid_up_to() + 1);
        return Err(Error::data(message).hint("convert the file first, for example: iconv -f LATIN1 -t UTF-8"));
    }
    if ends_with_returns(record) {
        return Err(returns_alone().context(name));
    }
    Ok(())
}

fn looks_like_a_header(record: &[String]) -> bool {
    let names: Vec<&str> = record.iter().map(|name| name.trim()).collect();
    let distinct = names.iter().enumerate().all(|(number, name)| !names[..number].contains(name));
    distinct && names.iter().all(|name| of_text(name) == Seen::Text)
}

/// The delimiter that stands most often in the first line that is not blank; the comma where none does.
fn delimiter(head: &[u8]) -> u8 {
    let mut lines = head.split(|byte| *byte == b'\n');
    let line = lines.find(|line| !matches!(line, [] | [b'\r'])).unwrap_or_default();
    let count = |delimiter: u8| line.iter().filter(|byte| **byte == delimiter).count();
    // Of those that stand as often as each other, the last of an iterator is the greatest.
    DELIMITERS.into_iter().rev().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',')
}

fn name(header: &[String], number: usize) -> String {
    let given = header.get(number).map(|name| name.trim()).filter(|name| !name.is_empty());
    given.map_or_else(|| format!("f{number}"), str::to_owned)
}

/// A number follows a name that is taken.
fn unique(fields: Vec<(String, Seen)>) -> Vec<(String, Seen)> {
    let mut named: Vec<(String, Seen)> = vec![];
    for (name, seen) in fields {
        let taken = |name: &str| named.iter().any(|(other, _)| other == name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(name.clone());
        named.push((free, seen));
    }
    named
}
