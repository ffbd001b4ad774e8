//! Printed rows in a form that can be compared: final rows, sorted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::duckdb::duckdb;
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

/// The rows in the sinks' folders: for each folder a line `-- out/name`, then its lines, sorted; for each
/// partition a line `-- out/name/a=x` and its own. DuckDB reads Parquet.
///
/// # Panics
/// If a file can't be read, or is a part that never became visible.
#[must_use]
pub fn written_rows(out: &Path, wanted: impl Fn(&str) -> bool) -> String {
    let folders = names(out).into_iter().filter(|name| wanted(name));
    folders.map(|name| rows_of_folder(&out.join(&name), &format!("out/{name}"))).collect()
}

fn rows_of_folder(folder: &Path, shown: &str) -> String {
    let (mut lines, mut inner) = (vec![], String::new());
    let parts = names(folder);
    for part in &parts {
        assert!(!part.starts_with('.'), "{part} was left in {shown}");
        let path = folder.join(part);
        match path.is_dir() {
            true => inner += &rows_of_folder(&path, &format!("{shown}/{part}")),
            false => lines.extend(rows_of_file(&path)),
        }
    }
    if lines.is_empty() && !inner.is_empty() {
        return inner;
    }
    format!("-- {shown}\n{}{inner}", sorted(without_withdrawn(lines)))
}

/// Of changes in the form of Debezium those rows that are left, as ones that come; other lines as they are.
fn without_withdrawn(lines: Vec<String>) -> Vec<String> {
    let (came, went) = (r#"{"before":null,"after":"#, r#"{"before":"#);
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    let mut other = vec![];
    for line in &lines {
        let row = |head, end| line.strip_prefix(head).and_then(|rest: &str| rest.strip_suffix(end));
        match (row(came, r#","op":"c"}"#), row(went, r#","after":null,"op":"d"}"#)) {
            (Some(row), _) => *counts.entry(row).or_default() += 1,
            (None, Some(row)) => *counts.entry(row).or_default() -= 1,
            (None, None) => other.push(line.clone()),
        }
    }
    for (row, count) in counts {
        let line = if count > 0 {
            format!(r#"{came}{row},"op":"c"}}"#)
        } else {
            format!("{row} was withdrawn before it came")
        };
        other.extend((0..count.abs()).map(|_| line.clone()));
    }
    other
}

fn rows_of_file(path: &Path) -> Vec<String> {
    if path.extension().is_some_and(|extension| extension == "parquet") {
        let query = format!("SELECT * FROM read_parquet('{}', hive_partitioning = false)", path.display());
        return duckdb(&query).iter().map(ToString::to_string).collect();
    }
    let text = fs::read_to_string(path).expect("a part can be read");
    text.lines().map(str::to_owned).collect()
}

fn sorted(mut lines: Vec<String>) -> String {
    lines.sort();
    lines.iter().fold(String::new(), |text, line| text + line + "\n")
}
