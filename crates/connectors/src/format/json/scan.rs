//! The scanner: steps over the bytes of a line, and checks that they are JSON.
//!
//! It never looks for a line's end beforehand. A raw line end is no part of any JSON token, so every step stops there
//! by itself, and the end of the chunk looks like one.

use super::fault::Fault;
use super::string::{Text, find_special};

type Result<T, E = Fault> = std::result::Result<T, E>;

/// How deep arrays and objects may nest.
const MAX_DEPTH: u32 = 128;

/// A place in the bytes of a chunk.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
    depth: u32,
    ignore_value_faults: bool,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`; `ignore_value_faults` makes fields that do not parse NULL.
    pub(super) fn new(bytes: &'a [u8], ignore_value_faults: bool) -> Self {
        Self { bytes, pos: 0, depth: 0, ignore_value_faults }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn pos(&self) -> usize {
        self.pos
    }

    pub(super) fn ignore_value_faults(&self) -> bool {
        self.ignore_value_faults
    }

    /// Goes to `pos`.
    pub(super) fn seek(&mut self, pos: usize) {
        self.pos = pos;
    }

    /// How many arrays and objects are open.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// Takes back to `depth` what a fault left open.
    pub(super) fn set_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// The byte here; a line end at the end of the chunk.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.bytes.get(self.pos).copied().unwrap_or(b'\n')
    }

    /// Steps over one byte.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.pos += 1;
    }

    /// Steps over white space, short of the line's end.
    #[inline]
    pub(super) fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r') {
            self.pos += 1;
        }
    }

    /// Steps over the token that stands at `start..start + len`, if it stands here too.
    #[inline]
    pub(super) fn accept_same(&mut self, start: usize, len: usize) -> bool {
        let same = self.bytes.get(self.pos..self.pos + len) == Some(&self.bytes[start..start + len]);
        if same {
            self.pos += len;
        }
        same
    }

    /// Steps over a colon and the white space around it.
    #[inline]
    pub(super) fn colon(&mut self) -> Result<()> {
        self.space();
        if self.peek() != b':' {
            return Err(self.unexpected("a ':'"));
        }
        self.pos += 1;
        self.space();
        Ok(())
    }

    /// Steps over `[` or `{`, and the white space after it.
    #[inline]
    pub(super) fn open(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::line(self.pos, format!("arrays and objects nest deeper than {MAX_DEPTH}")));
        }
        self.pos += 1;
        self.space();
        Ok(())
    }

    /// Steps over `close`, if it comes right after the opening.
    #[inline]
    pub(super) fn close_empty(&mut self, close: u8) -> bool {
        let empty = self.peek() == close;
        if empty {
            self.pos += 1;
            self.depth -= 1;
        }
        empty
    }

    /// Steps over a comma (`true`) or `close` (`false`), and the white space before and after it.
    #[inline]
    pub(super) fn another(&mut self, close: u8) -> Result<bool> {
        self.space();
        let byte = self.peek();
        if byte == b',' {
            self.pos += 1;
            self.space();
            return Ok(true);
        }
        if byte == close {
            self.pos += 1;
            self.depth -= 1;
            return Ok(false);
        }
        Err(self.unexpected(if close == b'}' { "',' or '}'" } else { "',' or ']'" }))
    }

    /// Steps over a string.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Text<'a>> {
        if self.peek() != b'"' {
            return Err(self.unexpected("a '\"'"));
        }
        let start = self.pos + 1;
        let mut escaped = false;
        let mut at = find_special(self.bytes, start);
        while self.bytes.get(at) != Some(&b'"') {
            at = find_special(self.bytes, self.escape(at)?);
            escaped = true;
        }
        self.pos = at + 1;
        Ok(Text { raw: &self.bytes[start..at], start, escaped })
    }

    /// Checks the escape at `at`, where a string has something that is not its end.
    #[cold]
    fn escape(&self, at: usize) -> Result<usize> {
        match self.bytes.get(at).copied().unwrap_or(b'\n') {
            b'\\' => {}
            b'\n' => return Err(Fault::line(at, "the line ends within a string")),
            control => return Err(Fault::line(at, format!("a raw control character (0x{control:02x}) in a string"))),
        }
        match self.bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => match self.bytes.get(at + 2..at + 6) {
                Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => Ok(at + 6),
                _ => Err(Fault::line(at, "a '\\u' without four hexadecimal digits")),
            },
            None | Some(b'\n') => Err(Fault::line(at, "the line ends within a string")),
            Some(_) => Err(Fault::line(at, "an escape that JSON does not have")),
        }
    }

    /// Steps over a number.
    #[inline]
    pub(super) fn number(&mut self) -> Result<&'a [u8]> {
        let start = self.pos;
        if self.peek() == b'-' {
            self.pos += 1;
        }
        let first = self.pos;
        self.digits()?;
        if self.bytes[first] == b'0' && self.pos > first + 1 {
            return Err(Fault::line(first, "a number with a leading zero"));
        }
        if self.peek() == b'.' {
            self.pos += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.pos += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.pos += 1;
            }
            self.digits()?;
        }
        Ok(&self.bytes[start..self.pos])
    }

    /// Steps over one digit or more.
    #[inline]
    fn digits(&mut self) -> Result<()> {
        let start = self.pos;
        while self.peek().is_ascii_digit() {
            self.pos += 1;
        }
        if self.pos == start {
            return Err(self.unexpected("a digit"));
        }
        Ok(())
    }

    /// Steps over `true`, `false` or `null`.
    #[inline]
    pub(super) fn word(&mut self, word: &'static str) -> Result<()> {
        let end = self.pos + word.len();
        if self.bytes.get(self.pos..end) != Some(word.as_bytes()) {
            return Err(self.unexpected("a value"));
        }
        self.pos = end;
        Ok(())
    }

    /// Steps over any value, checking that it is JSON.
    #[inline]
    pub(super) fn skip_value(&mut self) -> Result<()> {
        match self.peek() {
            b'"' => self.string().map(drop),
            b'{' | b'[' => self.skip_nested(),
            b'-' | b'0'..=b'9' => self.number().map(drop),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => Err(self.unexpected("a value")),
        }
    }

    /// Steps over an array or object without recursion: one bit a level tells which of them is open.
    fn skip_nested(&mut self) -> Result<()> {
        let outside = self.depth;
        let mut objects: u128 = 0;
        loop {
            // Here stands a value.
            let opened = matches!(self.peek(), b'{' | b'[');
            if opened {
                let object = self.peek() == b'{';
                objects = objects << 1 | u128::from(object);
                self.open()?;
                if !self.close_empty(if object { b'}' } else { b']' }) {
                    self.skip_key(object)?;
                    continue;
                }
                objects >>= 1;
            } else {
                self.skip_value()?;
            }
            // A value has ended, and with it perhaps the arrays and objects around it.
            loop {
                if self.depth == outside {
                    return Ok(());
                }
                let object = objects & 1 == 1;
                if self.another(if object { b'}' } else { b']' })? {
                    self.skip_key(object)?;
                    break;
                }
                objects >>= 1;
            }
        }
    }

    #[inline]
    fn skip_key(&mut self, object: bool) -> Result<()> {
        if object {
            self.string()?;
            self.colon()?;
        }
        Ok(())
    }

    /// Steps over the line's end, where nothing but white space may come before it.
    #[inline]
    pub(super) fn end_of_line(&mut self) -> Result<()> {
        self.space();
        if self.peek() != b'\n' {
            return Err(Fault::line(self.pos, "something follows the object"));
        }
        self.pos += 1;
        Ok(())
    }

    /// What stands here is not what must.
    #[cold]
    pub(super) fn unexpected(&self, expected: &str) -> Fault {
        let problem = match self.bytes.get(self.pos) {
            None | Some(b'\n') => format!("the line ends where {expected} must stand"),
            Some(b'N' | b'I') => format!("NaN and Infinity are no JSON numbers; {expected} must stand"),
            Some(_) => format!("{expected} must stand"),
        };
        Fault::line(self.pos, problem)
    }
}
