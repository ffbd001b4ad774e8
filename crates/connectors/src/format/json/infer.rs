//! The columns of JSON lines that nobody has declared, found out from the first of them.

use std::io::Read;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use serde_json::Value;
use tidemill_core::{Error, Result};

use crate::format::infer::{Seen, columns, merge_field, of_json_number, of_json_string};
use crate::format::records::RecordReader;
use crate::format::text::BYTE_ORDER_MARK;
use crate::format::text::shown::excerpt;
use crate::format::text::temporal::TimestampFormat;

/// What a sample of lines has shown.
#[derive(Debug, Default)]
pub struct JsonSample {
    fields: Vec<(String, Seen)>,
    /// The first line that is no object, for the case that none is.
    not_an_object: Option<String>,
}

impl JsonSample {
    /// Looks at the first `rows` rows of a file. What is no object is left to the reading of it, which says what is
    /// wrong there.
    ///
    /// # Errors
    /// The file can't be read, or is one JSON array.
    pub fn add<R: Read>(&mut self, mut records: RecordReader<R>, rows: usize) -> Result<()> {
        let (mut left, mut first) = (rows, true);
        while left > 0
            && let Some(lines) = records.next_records()?
        {
            let mark = if std::mem::take(&mut first) { BYTE_ORDER_MARK } else { b"" };
            let lines = lines.as_slice().strip_prefix(mark).unwrap_or(&lines);
            let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
            for line in lines.take(left) {
                left -= 1;
                self.line(line)?;
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Result<()> {
        match serde_json::from_slice(line) {
            Ok(Value::Object(object)) => {
                object.into_iter().for_each(|(name, value)| merge_field(&mut self.fields, name, seen(&value)));
            }
            _ if self.fields.is_empty() && line.trim_ascii_start().starts_with(b"[") => {
                return Err(Error::data("it is one JSON array, and must have one object a line")
                    .hint("jq -c '.[]' makes lines of it"));
            }
            _ => drop(self.not_an_object.get_or_insert_with(|| excerpt(line))),
        }
        Ok(())
    }

    /// The columns, in the order in which they came, and the options that read them.
    ///
    /// # Errors
    /// `Data` if no line was an object with a field.
    pub fn finish(self) -> Result<(SchemaRef, Vec<(String, String)>)> {
        if self.fields.is_empty() {
            return Err(match self.not_an_object {
                Some(line) => Error::data(format!("no line of the sample is a JSON object; the first is: {line}")),
                None => Error::data("there is no row that would show the columns"),
            });
        }
        let iso = self.fields.iter().any(|(_, seen)| seen.has_iso_timestamps());
        let format = if iso { TimestampFormat::Iso8601 } else { TimestampFormat::Sql };
        let schema = Arc::new(Schema::new(columns(&self.fields, format)));
        let standard = iso.then(|| (super::options::TIMESTAMP_FORMAT.to_owned(), "ISO-8601".to_owned()));
        Ok((schema, standard.into_iter().collect()))
    }
}

fn seen(value: &Value) -> Seen {
    match value {
        Value::Null => Seen::Nothing,
        Value::Bool(_) => Seen::Boolean,
        Value::Number(number) => of_json_number(number.as_str()),
        Value::String(text) => of_json_string(text),
        Value::Array(elements) => {
            let mut all = Seen::Nothing;
            elements.iter().for_each(|element| all.merge(seen(element)));
            Seen::Array(Box::new(all))
        }
        Value::Object(object) => {
            let mut fields = vec![];
            object.iter().for_each(|(name, value)| merge_field(&mut fields, name.clone(), seen(value)));
            Seen::Row(fields)
        }
    }
}
