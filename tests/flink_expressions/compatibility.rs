//! `docs/sql/compatibility.md` is written from the table of functions and from the known differences; a test fails
//! where it is older than they are.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use libtest_mimic::Failed;

use super::differences::Differences;
use super::files;

/// How many expressions stand for all of one reason.
const EXAMPLES: usize = 3;

const HEAD: &str = "# Compatibility with Flink SQL

Written from the table of functions and from the tests; `TIDEMILL_GOLDEN=accept` with the test `flink_expressions` writes
it anew. Every expression of `tests/flink` is compared with the answer of Flink 2.2, its type and its value.

";

/// Fails where the document is not what it would be now.
pub fn check(accepts: bool) -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/sql/compatibility.md");
    let document = format!("{HEAD}{}\n{}", tidemill_sql::function::document(), differences());
    if accepts {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, document).unwrap();
        return Ok(());
    }
    match fs::read_to_string(path) {
        Ok(written) if written == document => Ok(()),
        _ => Err("docs/sql/compatibility.md is out of date: run this test with TIDEMILL_GOLDEN=accept".into()),
    }
}

/// Every reason, with some of its expressions.
fn differences() -> String {
    let mut text = "## Other answers than Flink's\n\n| why | for example |\n|---|---|\n".to_owned();
    // A reason that stands in several files is told once.
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files(".differences.tsv") {
        for (reason, expressions) in Differences::read(&file).by_reason() {
            let escaped = expressions.iter().map(|e| format!("`{}`", e.replace('|', "\\|")));
            reasons.entry(reason.to_owned()).or_default().extend(escaped);
        }
    }
    for (reason, expressions) in reasons {
        let shown = expressions[..expressions.len().min(EXAMPLES)].join(", ");
        let more = expressions.len().saturating_sub(EXAMPLES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text += &format!("| {reason} | {shown}{more} |\n");
    }
    text
}
