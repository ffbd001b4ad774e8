//! Printed rows in a form that can be compared: final rows, sorted.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::folder::names;

/// The rows that a changelog leaves, one JSON object a line, sorted.
///
/// How many changes led to a row is not promised, so what was withdrawn again is not in it, and
/// `+U` counts as `+I`. A row that was withdrawn before it came stays, as `-D`.
#[must_use]
pub fn final_rows(lines: &str) -> String {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    let mut other = vec![];
    for line in lines.lines() {
        let change = line.strip_prefix(r#"{"op":""#).and_then(|rest| rest.split_at_checked(2));
        match change {
            Some(("+I" | "+U", row)) => *counts.entry(row).or_default() += 1,
            Some(("-D" | "-U", row)) => *counts.entry(row).or_default() -= 1,
            _ => other.push(line.to_owned()),
        }
    }
    for (row, count) in counts {
        let op = if count > 0 { "+I" } else { "-D" };
        other.extend((0..count.abs()).map(|_| format!(r#"{{"op":"{op}{row}"#)));
    }
    sorted(other)
}

/// The rows in the sinks' folders: for each folder a line `-- out/name`, then its lines, sorted.
///
/// # Panics
/// If a file can't be read, or is a part that never became visible.
#[must_use]
pub fn written_rows(out: &Path, wanted: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for name in names(out).iter().filter(|name| wanted(name)) {
        let mut lines = vec![];
        for part in names(&out.join(name)) {
            assert!(!part.starts_with('.'), "{part} was left in out/{name}");
            let part = fs::read_to_string(out.join(name).join(part)).expect("a part can be read");
            lines.extend(part.lines().map(str::to_owned));
        }
        write!(text, "-- out/{name}\n{}", sorted(lines)).expect("a string takes all");
    }
    text
}

fn sorted(mut lines: Vec<String>) -> String {
    lines.sort();
    lines.iter().fold(String::new(), |text, line| text + line + "\n")
}
