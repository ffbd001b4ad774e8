//! Finds where records end: at line ends that are not inside quotes.
//!
//! Reading is serial, so this must be fast: between two quotes the last line end is searched from the back.

use memchr::{memchr, memrchr};

use super::options::CsvOptions;
use super::split::Dialect;
use crate::format::records::Cutter;
use crate::format::text::BYTE_ORDER_MARK;

/// The cutter of a CSV input. It goes over each byte once, whatever the blocks.
pub struct CsvCutter {
    dialect: Dialect,
    /// Where the bytes that it has seen end.
    state: State,
    /// Whether a record has ended. Comments and blank lines before the first one stay with it: it may be the header.
    started: bool,
}

/// What the next byte is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The start of the input, where a byte order mark may stand.
    Input,
    /// The start of a record.
    Record,
    /// The start of a field that is not the first.
    Field,
    /// A field without quotes, or what stands behind a closing quote.
    Plain,
    /// The inside of quotes.
    Quoted,
    /// What follows a quote inside quotes: another quote, or the end of the field.
    Closed,
    /// What follows an escape in a field without quotes.
    PlainEscape,
    /// What follows an escape inside quotes.
    QuotedEscape,
    /// A comment.
    Comment,
    /// What follows a carriage return at the start of a record, where blank lines are told from records.
    Return,
}

impl CsvCutter {
    /// A cutter at the start of an input.
    #[must_use]
    pub fn new(options: &CsvOptions) -> Self {
        let started = !options.dialect.comments && !options.ignore_first_line;
        Self { dialect: options.dialect, state: State::Input, started }
    }

    /// The same, where an earlier record has ended: no byte order mark follows, and no header.
    #[must_use]
    pub fn behind_a_record(self) -> Self {
        Self { state: State::Record, started: true, ..self }
    }

    /// Goes from `at` to the next place where something changes; gives the end of the last record that has
    /// ended on the way.
    fn advance(&mut self, block: &[u8], at: &mut usize) -> Option<usize> {
        let byte = block[*at];
        match self.state {
            State::Input if BYTE_ORDER_MARK.get(*at) == Some(&byte) => *at += 1,
            State::Input if matches!(*at, 1 | 2) => self.state = State::Plain,
            State::Input => self.state = State::Record,
            State::Record if self.dialect.comments && byte == b' ' => *at += 1,
            State::Record if self.dialect.comments && byte == b'#' => self.state = State::Comment,
            State::Record if self.tells_blank_lines() && byte == b'\r' => self.enter(State::Return, at),
            State::Record | State::Return if self.tells_blank_lines() && byte == b'\n' => {
                self.enter(State::Record, at);
                return Some(*at);
            }
            State::Return => self.state = State::Plain,
            State::Record | State::Field if Some(byte) == self.dialect.quote => self.enter(State::Quoted, at),
            State::Record | State::Field => self.state = State::Plain,
            State::Plain if self.dialect.escape.is_none() && !self.dialect.comments => {
                let ended = self.skip_to_quote(block, at);
                self.started |= ended.is_some();
                return ended;
            }
            State::Plain => return self.in_plain(block, at),
            State::Quoted => self.in_quoted(block, at),
            State::Closed if Some(byte) == self.dialect.quote => self.enter(State::Quoted, at),
            State::Closed => self.state = State::Plain,
            State::PlainEscape => self.enter(State::Plain, at),
            State::QuotedEscape => self.enter(State::Quoted, at),
            State::Comment => return self.in_comment(block, at),
        }
        None
    }

    /// Whether a blank line is told from a record: where it may stand before the header, or is skipped as comments are.
    /// In a table of one column it is the header itself, which then only waits for the record behind it.
    fn tells_blank_lines(&self) -> bool {
        self.dialect.comments || !self.started
    }

    /// Steps over one byte.
    fn enter(&mut self, state: State, at: &mut usize) {
        *at += 1;
        self.state = state;
    }

    /// Where only a quote can change what a line end means: goes to the next one.
    fn skip_to_quote(&mut self, block: &[u8], at: &mut usize) -> Option<usize> {
        let start = *at;
        let found = self.dialect.quote.and_then(|quote| memchr(quote, &block[start..]));
        let until = found.map_or(block.len(), |length| start + length);
        *at = until;
        match block[start..until].last() {
            Some(b'\n') => self.state = State::Record,
            Some(byte) if *byte == self.dialect.delimiter => self.state = State::Field,
            // A quote within a field has no meaning.
            _ => *at = (until + 1).min(block.len()),
        }
        memrchr(b'\n', &block[start..until]).map(|last| start + last + 1)
    }

    fn in_plain(&mut self, block: &[u8], at: &mut usize) -> Option<usize> {
        let Some(found) = self.dialect.find_in_plain(block, *at) else {
            *at = block.len();
            return None;
        };
        *at = found + 1;
        self.state = match block[found] {
            b'\n' => State::Record,
            byte if byte == self.dialect.delimiter => State::Field,
            _ => State::PlainEscape,
        };
        let ended = self.state == State::Record;
        self.started |= ended;
        ended.then_some(*at)
    }

    fn in_comment(&mut self, block: &[u8], at: &mut usize) -> Option<usize> {
        let Some(length) = memchr(b'\n', &block[*at..]) else {
            *at = block.len();
            return None;
        };
        *at += length + 1;
        self.state = State::Record;
        Some(*at)
    }

    fn in_quoted(&mut self, block: &[u8], at: &mut usize) {
        let quote = self.dialect.quote.expect("a quote was seen");
        let Some(found) = self.dialect.find_in_quoted(quote, block, *at) else {
            *at = block.len();
            return;
        };
        *at = found + 1;
        self.state = if block[found] == quote { State::Closed } else { State::QuotedEscape };
    }
}

impl Cutter for CsvCutter {
    fn last_end(&mut self, block: &[u8], known: usize) -> Option<usize> {
        let (mut at, mut last) = (known, None);
        while at < block.len() {
            last = self.advance(block, &mut at).or(last);
        }
        last.filter(|_| self.started)
    }

    fn hint(&self) -> &'static str {
        match self.state {
            State::Quoted | State::Closed | State::QuotedEscape => {
                "a quote that the record opens is never closed: fix the record, or set \
                 'csv.disable-quote-character' = 'true' if quotes have no meaning in the input"
            }
            _ => "the input must have one record a line; is it a text file?",
        }
    }
}
