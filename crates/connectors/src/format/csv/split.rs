//! Steps over the fields of a record: where each begins and ends, and what it means.

use memchr::{memchr, memchr_iter, memchr2, memchr3};

/// The characters that structure a record; all of them are ASCII, and none is a line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    /// Stands around a field; doubled, it is part of one. Only at the start of a field does it have a meaning.
    pub(super) quote: Option<u8>,
    /// Takes the meaning from the next character.
    pub(super) escape: Option<u8>,
    /// Whether lines that start with `#`, blank lines, and blanks at the start of a line are skipped.
    pub(super) comments: bool,
}

impl Dialect {
    /// Where the first delimiter, line end or escape stands, from `at` on.
    #[inline]
    pub(super) fn find_in_plain(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let found = match self.escape {
            None => memchr2(self.delimiter, b'\n', &bytes[at..]),
            Some(escape) => memchr3(self.delimiter, b'\n', escape, &bytes[at..]),
        };
        found.map(|length| at + length)
    }

    /// Where the first `quote` or escape stands, from `at` on.
    #[inline]
    pub(super) fn find_in_quoted(&self, quote: u8, bytes: &[u8], at: usize) -> Option<usize> {
        let found = match self.escape {
            None => memchr(quote, &bytes[at..]),
            Some(escape) => memchr2(quote, escape, &bytes[at..]),
        };
        found.map(|length| at + length)
    }

    /// Writes to `out` the characters that the inside of a field means.
    fn unescape(&self, field: &Field, raw: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let doubled = self.quote.filter(|_| field.quoted);
        let mut rest = raw.iter();
        while let Some(byte) = rest.next() {
            let escaped = Some(*byte) == self.escape;
            // The scanner has seen that something follows, and that a quote within a quoted field is doubled.
            let second = if escaped || Some(*byte) == doubled { rest.next() } else { None };
            out.push(match second.unwrap_or(byte) {
                b'0' if escaped => 0,
                b'n' if escaped => b'\n',
                b'r' if escaped => b'\r',
                b't' if escaped => b'\t',
                itself => *itself,
            });
        }
    }
}

/// One field, as it stands in the chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    /// Where its inside begins.
    pub(super) start: usize,
    /// Where its inside ends.
    pub(super) end: usize,
    quoted: bool,
    /// Whether escapes or doubled quotes are among its bytes.
    altered: bool,
    /// Whether no other follows in its record.
    pub(super) last: bool,
    /// What is wrong with it.
    pub(super) damage: Option<Damage>,
}

/// Why a field is not one that CSV has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// The input ends before the quote that would close the one here.
    Unclosed(usize),
    /// Something other than blanks stands between the closing quote and the delimiter, here.
    AfterQuote(usize),
    /// The input ends with the escape character here.
    EscapedEnd(usize),
}

impl Field {
    /// The characters that are meant, and where they stand in the chunk, if they do.
    #[inline]
    pub(super) fn text<'a>(&self, bytes: &'a [u8], dialect: &Dialect, aside: &'a mut Vec<u8>) -> Value<'a> {
        let raw = &bytes[self.start..self.end];
        if self.altered {
            dialect.unescape(self, raw, aside);
            return Value { text: aside, chunk: bytes, start: None };
        }
        Value { text: raw, chunk: bytes, start: Some(self.start) }
    }
}

/// The text of a field or of a part of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) text: &'a [u8],
    /// The bytes that the field was read from.
    pub(super) chunk: &'a [u8],
    /// Where in them the text stands, if it does.
    pub(super) start: Option<usize>,
}

impl<'a> Value<'a> {
    /// The parts between the delimiters.
    pub(super) fn parts(self, delimiter: u8) -> impl Iterator<Item = Value<'a>> {
        let mut next = Some(0);
        std::iter::from_fn(move || {
            let from = next?;
            let end = memchr(delimiter, &self.text[from..]).map(|length| from + length);
            next = end.map(|end| end + 1);
            let text = &self.text[from..end.unwrap_or(self.text.len())];
            Some(Value { text, start: self.start.map(|start| start + from), ..self })
        })
    }

    /// Whether there is nothing but blanks.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }
}

/// Goes over the fields of a chunk, one after the other.
pub(super) struct Fields<'a> {
    dialect: Dialect,
    bytes: &'a [u8],
    pos: usize,
    /// How many line ends were part of a field.
    inner_lines: u64,
}

impl<'a> Fields<'a> {
    pub(super) fn new(dialect: Dialect, bytes: &'a [u8]) -> Self {
        Self { dialect, bytes, pos: 0, inner_lines: 0 }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn pos(&self) -> usize {
        self.pos
    }

    /// Goes to `pos`.
    pub(super) fn seek(&mut self, pos: usize) {
        self.pos = pos;
    }

    /// How many line ends were part of a field since this was last asked.
    pub(super) fn take_inner_lines(&mut self) -> u64 {
        std::mem::take(&mut self.inner_lines)
    }

    /// Steps over a blank line if one begins here.
    #[inline]
    pub(super) fn skip_blank_line(&mut self) -> bool {
        let blank = match self.bytes[self.pos..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            [b'\r'] => 1,
            _ => return false,
        };
        self.pos += blank;
        true
    }

    /// Steps over blanks at the start of a line, and a line that is a comment or blank; `true` if it was one.
    pub(super) fn skip_comment(&mut self) -> bool {
        while self.bytes.get(self.pos) == Some(&b' ') {
            self.pos += 1;
        }
        if self.pos == self.bytes.len() || self.skip_blank_line() {
            return true;
        }
        if self.bytes[self.pos] != b'#' {
            return false;
        }
        let end = memchr(b'\n', &self.bytes[self.pos..]);
        self.pos = end.map_or(self.bytes.len(), |length| self.pos + length + 1);
        true
    }

    /// Steps over the field here and what ends it. A damaged field ends where the rules for the others have its end, so
    /// that the next record is found.
    #[inline]
    pub(super) fn step(&mut self) -> Field {
        match self.dialect.quote {
            Some(quote) if self.bytes.get(self.pos) == Some(&quote) => self.quoted(quote),
            _ => self.plain(self.pos),
        }
    }

    #[inline]
    fn plain(&mut self, start: usize) -> Field {
        let (mut at, mut altered, mut damage) = (start, false, None);
        let end = loop {
            match self.dialect.find_in_plain(self.bytes, at) {
                None => break self.bytes.len(),
                Some(end) if Some(self.bytes[end]) != self.dialect.escape => break end,
                Some(escape) => {
                    altered = true;
                    at = self.escaped(escape, &mut damage);
                }
            }
        };
        let last = self.bytes.get(end) != Some(&self.dialect.delimiter);
        self.pos = (end + 1).min(self.bytes.len());
        // A carriage return belongs to the line end, unless an escape says otherwise.
        let cut = last && end > at && self.bytes[end - 1] == b'\r';
        Field { start, end: end - usize::from(cut), quoted: false, altered, last, damage }
    }

    /// Steps over an escape and the character after it.
    #[cold]
    fn escaped(&mut self, escape: usize, damage: &mut Option<Damage>) -> usize {
        match self.bytes.get(escape + 1) {
            None => *damage = Some(Damage::EscapedEnd(escape)),
            Some(character) => self.inner_lines += u64::from(*character == b'\n'),
        }
        (escape + 2).min(self.bytes.len())
    }

    fn quoted(&mut self, quote: u8) -> Field {
        let opening = self.pos;
        let (mut at, mut altered, mut damage) = (opening + 1, false, None);
        let close = loop {
            match self.dialect.find_in_quoted(quote, self.bytes, at) {
                None => {
                    damage = Some(Damage::Unclosed(opening));
                    break self.bytes.len();
                }
                Some(found) if self.bytes[found] == quote && self.bytes.get(found + 1) != Some(&quote) => break found,
                Some(found) => {
                    altered = true;
                    at = (found + 2).min(self.bytes.len());
                }
            }
        };
        self.inner_lines += memchr_iter(b'\n', &self.bytes[opening..close]).count() as u64;
        let after = (close + 1).min(self.bytes.len());
        let (last, junk) = self.after_quote(after);
        damage = damage.or(junk);
        Field { start: opening + 1, end: close, quoted: true, altered, last, damage }
    }

    /// Steps over what follows a closing quote, up to the next field: nothing but blanks, if all is well.
    #[inline]
    fn after_quote(&mut self, start: usize) -> (bool, Option<Damage>) {
        match self.bytes.get(start) {
            Some(byte) if *byte == self.dialect.delimiter => {
                self.pos = start + 1;
                return (false, None);
            }
            Some(b'\n') => {
                self.pos = start + 1;
                return (true, None);
            }
            _ => {}
        }
        let rest = self.plain(start);
        let between = &self.bytes[start..rest.end];
        let junk = between.iter().position(|byte| *byte > b' ').map(|length| Damage::AfterQuote(start + length));
        (rest.last, junk)
    }
}
