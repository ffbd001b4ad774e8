//! The options of the format, as Flink names them.

use tidemill_core::Result;
use tidemill_runtime::connector::{OptionSpec, Options};

use super::split::Dialect;

pub(super) const FIELD_DELIMITER: &str = "csv.field-delimiter";
const DISABLE_QUOTE_CHARACTER: &str = "csv.disable-quote-character";
const QUOTE_CHARACTER: &str = "csv.quote-character";
const ALLOW_COMMENTS: &str = "csv.allow-comments";
const IGNORE_PARSE_ERRORS: &str = "csv.ignore-parse-errors";
pub(super) const IGNORE_FIRST_LINE: &str = "csv.ignore-first-line";
const ARRAY_ELEMENT_DELIMITER: &str = "csv.array-element-delimiter";
const ESCAPE_CHARACTER: &str = "csv.escape-character";
pub(super) const NULL_LITERAL: &str = "csv.null-literal";
const SCIENTIFIC_NOTATION: &str = "csv.write-bigdecimal-in-scientific-notation";

/// Every option that the format knows.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        key: FIELD_DELIMITER,
        doc: "The character between fields: ',' by default. '\\t' is a tab, '\\u0001' the character 1.",
    },
    OptionSpec { key: DISABLE_QUOTE_CHARACTER, doc: "'true' takes quotes as they stand; 'false' by default." },
    OptionSpec { key: QUOTE_CHARACTER, doc: "The character around fields that hold delimiters: '\"' by default." },
    OptionSpec {
        key: ALLOW_COMMENTS,
        doc: "'true' skips lines that start with '#', blank lines, and blanks at the start of a line; \
              'false' by default.",
    },
    OptionSpec {
        key: IGNORE_PARSE_ERRORS,
        doc: "'true' reads a field that does not parse, or is missing, as NULL, and skips a record that does not \
              parse; 'false', the default, fails.",
    },
    OptionSpec {
        key: IGNORE_FIRST_LINE,
        doc: "'true' skips the first record of each input, a header; 'false' by default.",
    },
    OptionSpec {
        key: ARRAY_ELEMENT_DELIMITER,
        doc: "The character between the elements of an ARRAY and the fields of a ROW: ';' by default.",
    },
    OptionSpec {
        key: ESCAPE_CHARACTER,
        doc: "The character that takes the meaning from the next one, such as '\\'; none by default.",
    },
    OptionSpec { key: NULL_LITERAL, doc: "The text that is NULL, such as '' or 'n/a'; none by default." },
    OptionSpec {
        key: SCIENTIFIC_NOTATION,
        doc: "'true', the default, writes a DECIMAL of 100000 as 1E+5; 'false' as 100000.",
    },
];

/// How CSV is read and written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOptions {
    /// The characters that structure a record.
    pub(super) dialect: Dialect,
    /// What stands between the elements of an `ARRAY` and the fields of a `ROW`.
    pub(super) element_delimiter: u8,
    /// The text that is NULL.
    pub(super) null_literal: Option<Box<str>>,
    /// A field that does not parse is NULL and a record that does not parse is skipped, where both are errors otherwise.
    pub(in crate::format) ignore_parse_errors: bool,
    /// The first record of a file is a header.
    pub(in crate::format) ignore_first_line: bool,
    /// A decimal may be written as `1E+5`.
    pub(super) scientific_notation: bool,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            dialect: Dialect { delimiter: b',', quote: Some(b'"'), escape: None, comments: false },
            element_delimiter: b';',
            null_literal: None,
            ignore_parse_errors: false,
            ignore_first_line: false,
            scientific_notation: true,
        }
    }
}

impl CsvOptions {
    /// Reads the options of the format out of a table's.
    ///
    /// # Errors
    /// A value that an option does not take, or two options that contradict each other.
    pub fn from_options(options: &Options) -> Result<Self> {
        let quotes_disabled = options.boolean(DISABLE_QUOTE_CHARACTER, false)?;
        if quotes_disabled && options.get(QUOTE_CHARACTER).is_some() {
            let problem = format!("'{QUOTE_CHARACTER}' is set, but '{DISABLE_QUOTE_CHARACTER}' is 'true'");
            return Err(options.refuse(QUOTE_CHARACTER, problem).hint("keep the one that you need"));
        }
        let quote = character(options, QUOTE_CHARACTER)?.unwrap_or(b'"');
        let quote = (!quotes_disabled).then_some(quote);
        // Where the quote is its own escape, a doubled quote says it already.
        let escape = character(options, ESCAPE_CHARACTER)?.filter(|escape| Some(*escape) != quote);
        let comments = options.boolean(ALLOW_COMMENTS, false)?;
        let delimiter = character(options, FIELD_DELIMITER)?.unwrap_or(b',');
        let read = Self {
            dialect: Dialect { delimiter, quote, escape, comments },
            element_delimiter: character(options, ARRAY_ELEMENT_DELIMITER)?.unwrap_or(b';'),
            null_literal: options.get(NULL_LITERAL).map(Into::into),
            ignore_parse_errors: options.boolean(IGNORE_PARSE_ERRORS, false)?,
            ignore_first_line: options.boolean(IGNORE_FIRST_LINE, false)?,
            scientific_notation: options.boolean(SCIENTIFIC_NOTATION, true)?,
        };
        for (key, other) in [(QUOTE_CHARACTER, quote), (ESCAPE_CHARACTER, escape)] {
            if other == Some(delimiter) {
                let problem = format!("'{key}' and '{FIELD_DELIMITER}' are the same character");
                return Err(options.refuse(FIELD_DELIMITER, problem).hint("choose two that differ"));
            }
        }
        Ok(read)
    }
}

/// The one character of an option; `None` where it is not set.
fn character(options: &Options, key: &str) -> Result<Option<u8>> {
    let Some(written) = options.get(key) else { return Ok(None) };
    let meant = if key == FIELD_DELIMITER { unescape(written) } else { Some(written.to_owned()) };
    match meant.as_deref().map(str::as_bytes) {
        Some([b'\r' | b'\n']) => Err(options
            .refuse(key, format!("the option '{key}' is a line end"))
            .hint("line ends separate records: choose another character")),
        Some([character]) if character.is_ascii() => Ok(Some(*character)),
        _ => Err(options
            .refuse(key, format!("the option '{key}' takes a single ASCII character, not '{written}'"))
            .hint("for example ',', '|' or ';'; as a field delimiter also '\\t' or '\\u0001'")),
    }
}

/// What a text with Java's escapes means; `None` where four hexadecimal digits must follow and don't.
fn unescape(written: &str) -> Option<String> {
    let mut meant = String::new();
    let mut rest = written.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            meant.push(character);
            continue;
        }
        match rest.next() {
            Some('t') => meant.push('\t'),
            Some('b') => meant.push('\u{8}'),
            Some('f') => meant.push('\u{c}'),
            Some('n') => meant.push('\n'),
            Some('r') => meant.push('\r'),
            Some('u') => {
                let digits: String = rest.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4)?;
                meant.push(char::from_u32(code)?);
            }
            Some(itself) => meant.push(itself),
            None => return None,
        }
    }
    Some(meant)
}
