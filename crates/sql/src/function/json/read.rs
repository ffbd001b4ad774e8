//! From text to a JSON value, by the rules of RFC 8259.
//!
//! As in Flink, what stands behind the value is not looked at, and values nest no deeper than [`MAX_DEPTH`].

use std::borrow::Cow;

use super::value::{Json, Object};

/// How deep arrays and objects may be nested.
const MAX_DEPTH: usize = 1_000;

/// The text is not JSON; the byte at which it stops to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotJson(pub(super) usize);

/// The first value of a text.
pub(super) fn read(text: &str) -> Result<Json<'_>, NotJson> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    // Words and numbers end where a space is, or the text.
    let ends = match value {
        Json::Null | Json::Boolean(_) => {
            !reader.peek().is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'))
        }
        Json::Number(_) => reader.peek().is_none_or(is_space),
        _ => true,
    };
    if ends { Ok(value) } else { Err(NotJson(reader.at)) }
}

/// The inside of a string without its escapes; `None` where they are none. A quote needs none here.
pub(super) fn unescaped(inside: &str) -> Option<String> {
    let mut out = String::with_capacity(inside.len());
    let mut reader = Reader { text: inside, at: 0 };
    while let Some(next) = inside[reader.at..].find('\\') {
        out.push_str(&inside[reader.at..reader.at + next]);
        reader.at += next + 1;
        out.push(reader.escape().ok()?);
    }
    out.push_str(&inside[reader.at..]);
    Some(out)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), NotJson> {
        if self.take(byte) { Ok(()) } else { Err(NotJson(self.at)) }
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json<'a>, NotJson> {
        self.skip_space();
        match self.peek() {
            Some(b'{' | b'[') if depth == MAX_DEPTH => Err(NotJson(self.at)),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => {
                self.at += 1;
                self.string().map(Json::Text)
            }
            Some(b't') => self.word("true", Json::Boolean(true)),
            Some(b'f') => self.word("false", Json::Boolean(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => self.number().map(|text| Json::Number(Cow::Borrowed(text))),
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, NotJson> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        Err(NotJson(self.at))
    }

    fn array(&mut self, depth: usize) -> Result<Json<'a>, NotJson> {
        self.at += 1;
        let mut elements = vec![];
        self.skip_space();
        if self.take(b']') {
            return Ok(Json::Array(elements));
        }
        loop {
            elements.push(self.value(depth)?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Json::Array(elements));
            }
            self.expect(b',')?;
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>, NotJson> {
        self.at += 1;
        let mut members = vec![];
        self.skip_space();
        if self.take(b'}') {
            return Ok(Json::Object(Object(members)));
        }
        loop {
            self.skip_space();
            self.expect(b'"')?;
            let name = self.string()?;
            self.skip_space();
            self.expect(b':')?;
            members.push((name, self.value(depth)?));
            self.skip_space();
            if self.take(b'}') {
                return Ok(Json::Object(Object(members)));
            }
            self.expect(b',')?;
        }
    }

    /// The rest of a number: no zero before other digits, and a digit on each side of the point.
    fn number(&mut self) -> Result<&'a str, NotJson> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'-') {
                self.take(b'+');
            }
            let exponent = self.at;
            self.digits()?;
            // Nobody can compute with more.
            self.text[exponent..self.at].parse::<i32>().map_err(|_| NotJson(exponent))?;
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) -> Result<(), NotJson> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(NotJson(self.at)) }
    }

    /// The rest of a string, behind its opening quote.
    fn string(&mut self) -> Result<Cow<'a, str>, NotJson> {
        let mut copied = self.at;
        let mut unescaped = String::new();
        loop {
            match self.peek() {
                Some(b'"') => {
                    let rest = &self.text[copied..self.at];
                    self.at += 1;
                    return Ok(match unescaped.is_empty() {
                        true => Cow::Borrowed(rest),
                        false => Cow::Owned(unescaped + rest),
                    });
                }
                Some(b'\\') => {
                    unescaped.push_str(&self.text[copied..self.at]);
                    self.at += 1;
                    unescaped.push(self.escape()?);
                    copied = self.at;
                }
                Some(0x20..) => self.at += 1,
                _ => return Err(NotJson(self.at)),
            }
        }
    }

    /// The rest of an escape, behind its backslash.
    fn escape(&mut self) -> Result<char, NotJson> {
        let kind = self.peek().ok_or(NotJson(self.at))?;
        self.at += 1;
        Ok(match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.unicode()?,
            _ => return Err(NotJson(self.at - 1)),
        })
    }

    /// One character of one or two escapes; half a pair by itself is none, and becomes `?`, as in Flink.
    fn unicode(&mut self) -> Result<char, NotJson> {
        let first = self.hex()?;
        if let 0xD800..=0xDBFF = first
            && self.text.as_bytes()[self.at..].starts_with(b"\\u")
        {
            let back = self.at;
            self.at += 2;
            let second = self.hex()?;
            if let 0xDC00..=0xDFFF = second {
                let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or('?'));
            }
            self.at = back;
        }
        Ok(char::from_u32(first).unwrap_or('?'))
    }

    fn hex(&mut self) -> Result<u32, NotJson> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).ok_or(NotJson(self.at))?;
        let mut code = 0;
        for digit in digits {
            code = code * 16 + char::from(*digit).to_digit(16).ok_or(NotJson(self.at))?;
        }
        self.at += 4;
        Ok(code)
    }
}
