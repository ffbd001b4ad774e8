//! The scalar functions, one table: a function that is not in it is refused by name.
//!
//! A function that has Flink's name and another answer would be wrong in both drivers, and no reconciliation could
//! tell. So each is compared with what a real Flink answers (`tests/flink`), and what differs is in its entry.

mod call;
mod comparison;
mod digest;
mod encoding;
mod length;
mod numeric;
mod pattern;
mod printf;
mod regex_cache;
mod rounding;
mod string;
mod substring;
mod url;

use std::sync::Arc;

use datafusion::execution::SessionStateDefaults;
use datafusion::logical_expr::ScalarUDF;

use super::AsWritten;
use super::current_watermark::{self, CurrentWatermark};
use super::json;
pub(crate) use call::{Evaluate, Function, Parameter, Returns, Row, evaluated};
pub(crate) use comparison::BETWEEN_SYMMETRIC;
pub(crate) use length::{BINARY, CHAR, VARBINARY, VARCHAR};
pub(crate) use pattern::{LIKE, SIMILAR_TO};
pub(crate) use regex_cache::compiled;

/// Functions of DataFusion's that answer as Flink's do, and what they are called with.
///
/// `get_field` stands for the access to a field of a ROW.
const OF_DATAFUSION: [(&str, &str, &str); 2] = [
    ("coalesce", "COALESCE(value, ...)", "the first value that is not NULL"),
    ("get_field", "row.field", "a field of a ROW"),
];

/// Functions that the parser writes as what they abbreviate.
const REWRITTEN: [(&str, &str, &str); 4] = [
    ("if", "IF(condition, value, other)", "the value where the condition is TRUE, else the other"),
    ("ifnull", "IFNULL(value, other)", "the other where the value is NULL"),
    ("mod", "MOD(a, b)", "the remainder, with the sign of a; also a % b"),
    ("nullif", "NULLIF(value, other)", "NULL where they are equal, else the value"),
];

/// Every scalar function.
#[must_use]
pub fn scalars() -> Vec<Arc<ScalarUDF>> {
    let all = SessionStateDefaults::default_scalar_functions();
    let named = |name: &str| OF_DATAFUSION.iter().any(|(known, ..)| *known == name);
    let theirs = all.into_iter().filter(|function| named(function.name()));
    let ours = table().map(|f| ScalarUDF::from(f.clone()).with_aliases(f.names[1..].iter().copied()));
    theirs
        .chain(
            ours.chain(rounding::functions())
                .chain(json::functions())
                .chain([CurrentWatermark.into(), AsWritten.into()])
                .map(Arc::new),
        )
        .collect()
}

/// Our own functions.
fn table() -> impl Iterator<Item = &'static Function> {
    let parts: [&'static [Function]; 10] = [
        &length::FUNCTIONS,
        &string::FUNCTIONS,
        &substring::FUNCTIONS,
        &pattern::FUNCTIONS,
        &encoding::FUNCTIONS,
        &digest::FUNCTIONS,
        &url::FUNCTIONS,
        &numeric::FUNCTIONS,
        &comparison::FUNCTIONS,
        &printf::FUNCTIONS,
    ];
    parts.into_iter().flatten().chain(super::collection::functions())
}

/// What a document says of a function.
pub(crate) struct Entry {
    /// How it is called.
    pub(crate) usage: &'static str,
    /// What it gives.
    pub(crate) doc: &'static str,
    /// Where its answer is not Flink's; empty where it is.
    pub(crate) difference: &'static str,
}

/// The functions that a text can call, in the order of their names.
pub(crate) fn entries() -> Vec<Entry> {
    let rewritten = REWRITTEN.iter().map(|&(_, usage, doc)| Entry { usage, doc, difference: "" });
    let theirs = OF_DATAFUSION.iter().map(|&(_, usage, doc)| Entry { usage, doc, difference: "" });
    let rounding = rounding::USAGES.iter().map(|&(usage, doc, difference)| Entry { usage, doc, difference });
    let (usage, doc, difference) = current_watermark::USAGE;
    let watermark = Entry { usage, doc, difference };
    let json = json::USAGES.iter().map(|&(usage, doc, difference)| Entry { usage, doc, difference });
    let ours = table().map(|f| Entry { usage: f.usage, doc: f.doc, difference: f.difference });
    let mut entries: Vec<Entry> =
        theirs.chain(rewritten).chain(ours).chain(rounding).chain(json).chain([watermark]).collect();
    entries.sort_by_key(|entry| entry.usage);
    entries
}

/// The names by which functions are called.
pub(crate) fn names() -> Vec<String> {
    let ours = table().flat_map(|f| f.names.iter().copied()).filter(|name| !name.contains(' '));
    let rewritten = REWRITTEN.iter().map(|(name, ..)| *name);
    ours.chain(rewritten)
        .chain(json::NAMES)
        .chain(["ceil", "coalesce", "current_watermark", "floor", "round", "truncate"])
        .map(str::to_owned)
        .collect()
}
