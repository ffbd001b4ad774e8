//! A type and a value, or an error, in the form in which Flink's answers are recorded.

/// What an expression gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// As messages name it; `-` where the expression was refused before it ran.
    pub sql_type: String,
    /// A text that is the same for the same value, or `error: ...`.
    pub value: String,
}

/// How far results of `SIN` and its kind may lie apart: the last bits are not Flink's promise, nor Java's.
const ULPS: u64 = 2;

impl Answer {
    /// A line of a recording: expression, type and value.
    pub fn recorded(line: &str) -> (&str, Self) {
        let mut parts = line.splitn(3, '\t');
        let mut next = || parts.next().unwrap_or_else(|| panic!("three columns in {line:?}"));
        let (expression, sql_type, value) = (next(), next(), next());
        (expression, Self { sql_type: without_lengths(sql_type), value: value.to_owned() })
    }

    /// An error while planning or running.
    pub fn error(message: &str) -> Self {
        let first = message.lines().next().unwrap_or_default();
        Self { sql_type: "-".to_owned(), value: format!("error: {first}") }
    }

    fn is_error(&self) -> bool {
        self.value.starts_with("error: ")
    }

    /// Errors agree whatever they say, and whether they come early or late.
    pub fn agrees_with(&self, flink: &Self) -> bool {
        if self.is_error() || flink.is_error() {
            return self.is_error() && flink.is_error();
        }
        self.sql_type == flink.sql_type && (self.value == flink.value || self.is_near(flink))
    }

    fn is_near(&self, flink: &Self) -> bool {
        let (Ok(ours), Ok(theirs)) = (self.value.parse::<f64>(), flink.value.parse::<f64>()) else { return false };
        self.sql_type == "DOUBLE"
            && ours.signum() == theirs.signum()
            && ours.to_bits().abs_diff(theirs.to_bits()) <= ULPS
    }
}

/// Flink's type as Tidemill keeps it: without lengths, without NOT NULL, times in units of three digits.
fn without_lengths(sql_type: &str) -> String {
    let mut kept = String::new();
    let mut rest = sql_type;
    while let Some(next) = rest.chars().next() {
        let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        if word.is_empty() {
            kept.extend((next != '`').then_some(next));
            rest = &rest[next.len_utf8()..];
            continue;
        }
        rest = &rest[word.len()..];
        let modifier = rest.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        let precision = modifier.and_then(|(digits, _)| digits.parse::<u32>().ok());
        let (name, consumed) = match word {
            "CHAR" | "VARCHAR" => ("STRING".to_owned(), true),
            "BINARY" | "VARBINARY" => ("BYTES".to_owned(), true),
            "TIME" => ("TIME".to_owned(), true),
            "TIMESTAMP" | "TIMESTAMP_LTZ" => match precision {
                Some(digits) => (format!("{word}({})", digits.div_ceil(3).max(1) * 3), true),
                None => (word.to_owned(), false),
            },
            other => (other.to_owned(), false),
        };
        kept.push_str(&name);
        if let Some((_, after)) = modifier.filter(|_| consumed) {
            rest = after;
        }
    }
    kept.replace(" NOT NULL", "")
}
