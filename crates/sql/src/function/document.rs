//! The functions as a document: what `docs/sql/compatibility.md` says of each.

use std::fmt::Display;

use super::scalar::{Entry, entries};
use super::{aggregate, chance, present_time, time};

/// What the functions whose value is another each time do to a run.
const NO_REPLAY: &str = "A live run asks the clock for each batch of rows, and its time never goes back: all calls on the \
way of a row through a task are told one moment. No run gives these values again, so `tidemill check` names the place of \
each call, and `tidemill reconcile` refuses a file whose rows depend on one. Rows that are updated can't be grouped or \
ranked by way of such a value.";

/// The tables of functions, in Markdown.
#[must_use]
pub fn document() -> String {
    let scalar: Vec<Usage> = entries().iter().map(|e: &Entry| (e.usage, e.doc, e.difference)).collect();
    format!(
        "## Scalar functions\n\n{}\n## Functions of time\n\n{}\n## The present time, and chance\n\n{}\n{NO_REPLAY}\n\n\
         ## Aggregate functions\n\n{}",
        table(&scalar),
        table(&time::USAGES),
        table(&[&present_time::USAGES[..], &chance::USAGES[..]].concat()),
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
