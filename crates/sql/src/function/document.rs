//! The functions as a document: what `docs/sql/compatibility.md` says of each.

use std::fmt::Display;

use super::scalar::{Entry, entries};
use super::{aggregate, time};

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
    let scalar: Vec<Usage> = entries().iter().map(|e: &Entry| (e.usage, e.doc, e.difference)).collect();
    let refused: String = REFUSED.iter().map(|(names, why)| format!("| {} | {why} |\n", escaped(names))).collect();
    format!(
        "## Scalar functions\n\n{}\n## Functions of time\n\n{}\n## Aggregate functions\n\n{}\n\
         ## Refused\n\n| function | because |\n|---|---|\n{refused}",
        table(&scalar),
        table(&time::USAGES),
        table(&aggregate::USAGES)
    )
}

/// How a function is called, what it gives, and where that is not Flink's.
type Usage = (&'static str, &'static str, &'static str);

fn table(usages: &[Usage]) -> String {
    let row = |(usage, doc, difference): &Usage| {
        let differs = if difference.is_empty() { "as Flink" } else { difference };
        format!("| `{}` | {} | {differs} |\n", escaped(usage), escaped(doc))
    };
    format!("| function | gives | |\n|---|---|---|\n{}", usages.iter().map(row).collect::<String>())
}

/// A bar would end the cell.
fn escaped(text: impl Display) -> String {
    text.to_string().replace('|', "\\|")
}
