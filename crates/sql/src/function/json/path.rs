//! Paths into JSON, in the language that Flink has them in: that of Jayway's JsonPath, behind `lax` or `strict`.
//!
//! Flink reads `strict` where nothing is said, though SQL has it the other way round.

use tidemill_core::Error;

/// A path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonPath {
    /// What is not found is empty, and no error.
    pub(super) lax: bool,
    pub(super) steps: Vec<Step>,
    /// `.length()` at its end
    pub(super) length: bool,
}

/// One step, from a value to those in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// `.name`, `['name']`
    Name(String),
    /// `['a', 'b']`
    Names(Vec<String>),
    /// `[0]`; from the end where it is negative
    Index(i64),
    /// `[0, 2]`
    Indices(Vec<i64>),
    /// `[from:to]`, without the last
    Slice { from: Option<i64>, to: Option<i64> },
    /// `.*`, `[*]`
    All,
    /// `..`: the next step from here and from all below
    Below,
}

impl Step {
    /// Whether it leads to one value at most.
    pub(super) fn is_definite(&self) -> bool {
        matches!(self, Self::Name(_) | Self::Index(_))
    }
}

impl JsonPath {
    /// Reads a path.
    ///
    /// # Errors
    /// What is wrong with it, and what to write.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let (lax, path) = mode(text);
        let mut parser = Parser { path, at: 0 };
        let parsed = parser.steps().map_err(|what| {
            Error::invalid(format!("'{text}' is not a path into JSON: {what}"))
                .hint("write it as '$.name', '$[0]', '$[''a name'']', '$.list[*].name' or '$..name'")
        });
        let (steps, length) = parsed?;
        Ok(Self { lax, steps, length })
    }

    /// Whether it leads to one value at most; else to a list of values.
    pub(super) fn is_definite(&self) -> bool {
        match self.steps.split_last() {
            // Several names at the end make one object.
            Some((last, before)) => {
                before.iter().all(Step::is_definite) && (last.is_definite() || matches!(last, Step::Names(_)))
            }
            None => true,
        }
    }
}

/// Whether the path is lax, and the rest of it.
fn mode(text: &str) -> (bool, &str) {
    if let Some((word, rest)) = text.trim_start().split_once(char::is_whitespace) {
        for (mode, lax) in [("lax", true), ("strict", false)] {
            if word.eq_ignore_ascii_case(mode) {
                return (lax, rest.trim());
            }
        }
    }
    (false, text)
}

struct Parser<'a> {
    path: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.path[self.at..]
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// All steps, and whether the length is asked for at their end.
    fn steps(&mut self) -> Result<(Vec<Step>, bool), String> {
        let mut steps = vec![];
        if self.path.is_empty() {
            return Err("it is empty".to_owned());
        }
        if !self.take("$") {
            steps.push(self.name()?);
        }
        while !self.rest().is_empty() {
            if self.take("..") {
                steps.push(Step::Below);
                steps.push(if self.take("[") { self.bracket()? } else { self.name()? });
            } else if self.take(".length()") {
                return self.length(&steps).map(|()| (steps, true));
            } else if self.take(".") {
                steps.push(self.name()?);
            } else if self.take("[") {
                steps.push(self.bracket()?);
            } else {
                return Err(format!("'.' or '[' must stand before '{}'", self.rest()));
            }
        }
        Ok((steps, false))
    }

    fn length(&self, steps: &[Step]) -> Result<(), String> {
        match self.rest().is_empty() && steps.iter().all(Step::is_definite) {
            true => Ok(()),
            false => Err("length() stands at the end, behind a path to one value".to_owned()),
        }
    }

    /// A name without quotes, or `*`.
    fn name(&mut self) -> Result<Step, String> {
        let rest = self.rest();
        let name = &rest[..rest.find(['.', '[', '(']).unwrap_or(rest.len())];
        self.at += name.len();
        match name {
            "*" => Ok(Step::All),
            "" => Err("a name is missing".to_owned()),
            _ if self.rest().starts_with('(') => Err(format!("the function {name}() is not supported")),
            _ if name.contains([' ', '*']) => Err(format!("'{name}' must stand in brackets and quotes")),
            _ => Ok(Step::Name(name.to_owned())),
        }
    }

    /// What stands in brackets, behind the first.
    fn bracket(&mut self) -> Result<Step, String> {
        self.skip_space();
        let step = match self.rest().chars().next() {
            Some('*') => {
                self.at += 1;
                Step::All
            }
            Some('?' | '(') => return Err("filters are not supported, as in Flink".to_owned()),
            Some('\'' | '"') => self.names()?,
            _ => self.numbers()?,
        };
        self.skip_space();
        if self.take("]") { Ok(step) } else { Err("a bracket is not closed".to_owned()) }
    }

    fn names(&mut self) -> Result<Step, String> {
        let mut names = vec![];
        loop {
            self.skip_space();
            names.push(self.quoted()?);
            self.skip_space();
            if !self.take(",") {
                break;
            }
        }
        Ok(if names.len() == 1 { Step::Name(names.remove(0)) } else { Step::Names(names) })
    }

    /// A name in quotes, which may hold others behind a backslash.
    fn quoted(&mut self) -> Result<String, String> {
        let mut characters = self.rest().char_indices();
        let Some((_, quote @ ('\'' | '"'))) = characters.next() else { return Err("a name is missing".to_owned()) };
        let mut name = String::new();
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
                c if c == quote => {
                    self.at += at + c.len_utf8();
                    return Ok(name);
                }
                c => name.push(c),
            }
        }
        Err("a quote is not closed".to_owned())
    }

    fn numbers(&mut self) -> Result<Step, String> {
        let rest = self.rest();
        let text = &rest[..rest.find(']').ok_or("a bracket is not closed")?];
        self.at += text.len();
        let number = |text: &str| {
            text.trim().parse::<i32>().map(i64::from).map_err(|_| format!("'[{}]' is no index", text.trim()))
        };
        let bound = |text: &str| if text.trim().is_empty() { Ok(None) } else { number(text).map(Some) };
        if let Some((from, to)) = text.split_once(':') {
            let (from, to) = (bound(from)?, bound(to)?);
            return match (from, to) {
                (None, None) => Err("a slice has a begin or an end".to_owned()),
                _ => Ok(Step::Slice { from, to }),
            };
        }
        let mut indices = text.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
        Ok(if indices.len() == 1 { Step::Index(indices.remove(0)) } else { Step::Indices(indices) })
    }
}
