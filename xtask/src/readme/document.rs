//! A Markdown document as its examples and the text between them, so that it can be written anew.

/// The mark over a block that is run.
const MARK: &str = "<!-- run";
const OPENING: &str = "```console";
const CLOSING: &str = "```";

/// A document, in order: text, an example, text, ... and text at the end.
pub(super) struct Document {
    /// One more than there are examples; each ends where the next example's command begins.
    texts: Vec<String>,
    pub(super) examples: Vec<Example>,
}

/// One command of a block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Example {
    /// Where the command stands, from 1.
    pub(super) line: usize,
    pub(super) command: String,
    /// The lines that it prints, each with its end.
    pub(super) printed: String,
    /// The code that it ends with.
    pub(super) exit: i32,
}

impl Document {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut document = Self { texts: vec![String::new()], examples: vec![] };
        let mut lines = text.split_inclusive('\n').enumerate();
        while let Some((index, line)) = lines.next() {
            document.push_text(line);
            let Some(exit) = marked(line).map_err(|e| format!("line {}: {e}", index + 1))? else { continue };
            let opening = lines.next().map(|(_, line)| line).unwrap_or_default();
            if opening.trim_end() != OPENING {
                return Err(format!("line {}: {OPENING} must follow the mark", index + 2));
            }
            document.push_text(opening);
            document.block(&mut lines, exit)?;
        }
        Ok(document)
    }

    fn block<'a>(&mut self, lines: &mut impl Iterator<Item = (usize, &'a str)>, exit: i32) -> Result<(), String> {
        let mut begun = false;
        for (index, line) in lines {
            if line.trim_end() == CLOSING {
                self.push_text(line);
                return Ok(());
            }
            match (line.strip_prefix("$ "), begun) {
                (Some(command), _) => {
                    let command = command.trim_end().to_owned();
                    self.examples.push(Example { line: index + 1, command, printed: String::new(), exit });
                    self.texts.push(String::new());
                    begun = true;
                }
                (None, true) => self.examples.last_mut().expect("begun").printed.push_str(line),
                (None, false) => return Err(format!("line {}: a block begins with a line '$ command'", index + 1)),
            }
        }
        Err("a block of commands has no end".to_owned())
    }

    fn push_text(&mut self, line: &str) {
        self.texts.last_mut().expect("there is always a last text").push_str(line);
    }

    /// The document with what its examples hold now.
    pub(super) fn text(&self) -> String {
        let mut text = self.texts[0].clone();
        for (example, after) in self.examples.iter().zip(&self.texts[1..]) {
            text.push_str(&format!("$ {}\n{}{after}", example.command, example.printed));
        }
        text
    }
}

/// The exit code that a mark asks for, if the line is one.
fn marked(line: &str) -> Result<Option<i32>, String> {
    let Some(rest) = line.trim_end().strip_prefix(MARK) else { return Ok(None) };
    match rest.strip_suffix("-->").map(str::trim) {
        Some("") => Ok(Some(0)),
        Some(rest) => match rest.strip_prefix(": exit ").map(str::parse) {
            Some(Ok(code)) => Ok(Some(code)),
            _ => Err(format!("'{}' is neither <!-- run --> nor <!-- run: exit N -->", line.trim_end())),
        },
        None => Err(format!("'{}' is not closed", line.trim_end())),
    }
}
