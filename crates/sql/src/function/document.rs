//! The functions as a document: what `docs/sql/compatibility.md` says of each.

use std::fmt::Display;

use super::scalar::{Entry, entries};

/// Functions of Flink's that are refused by name, and why.
const REFUSED: [(&str, &str); 2] = [
    (
        "NOW, CURRENT_TIMESTAMP, CURRENT_ROW_TIMESTAMP, CURRENT_DATE, CURRENT_TIME, LOCALTIME, LOCALTIMESTAMP, \
         PROCTIME, UNIX_TIMESTAMP()",
        "the present time is another in each run, so that a live run and its batch could not agree",
    ),
    ("RAND, RAND_INTEGER, UUID", "their answer differs from run to run, so no replay could give it again"),
];

/// The tables of functions, in Markdown.
#[must_use]
pub fn document() -> String {
    let row = |entry: &Entry| {
        let differs = if entry.difference.is_empty() { "as Flink" } else { entry.difference };
        format!("| `{}` | {} | {differs} |\n", escaped(entry.usage), escaped(entry.doc))
    };
    let functions: String = entries().iter().map(row).collect();
    let refused: String = REFUSED.iter().map(|(names, why)| format!("| {} | {why} |\n", escaped(names))).collect();
    format!(
        "## Scalar functions\n\n| function | gives | |\n|---|---|---|\n{functions}\n\
         ## Refused\n\n| function | because |\n|---|---|\n{refused}"
    )
}

/// A bar would end the cell.
fn escaped(text: impl Display) -> String {
    text.to_string().replace('|', "\\|")
}
