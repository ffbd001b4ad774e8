//! What a sink says in a checkpoint: the parts that it has prepared, and how to tell its other files from anybody else's.
//!
//! ```text
//! tidemill parts 1⏎                 the version
//! mhv3k...⏎                         the run
//! 17⏎                               how many parts it had begun when it last prepared
//! a=x/part-mhv3k...-16.json␀ ...    the prepared parts that are not committed, from the table's folder on
//! ```
//!
//! Parts of the run with a lower number are in the list, or were committed before; all others were written later.

use std::path::{Component, Path};

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::Commitment;

use crate::filesystem::part::Part;

/// The first line.
const HEAD: &str = "tidemill parts 1\n";

/// What a run has prepared.
#[derive(Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The run, as the names of its parts have it.
    pub run: String,
    /// How many parts it had begun when it last prepared.
    pub begun: u64,
    /// Those of them that it had not committed.
    pub parts: Vec<Part>,
}

impl Prepared {
    /// As bytes, for the table in the folder `table`.
    pub fn encode(&self, table: &Path) -> Commitment {
        let mut text = format!("{HEAD}{}\n{}\n", self.run, self.begun).into_bytes();
        for part in &self.parts {
            let path = part.visible().strip_prefix(table).expect("parts are in the folder of their table");
            text.extend_from_slice(path.as_os_str().as_encoded_bytes());
            text.push(0);
        }
        Commitment(text)
    }

    /// Reads what [`Self::encode`] has made; the table may have moved to another folder since.
    ///
    /// # Errors
    /// `Data` if it is something else.
    pub fn decode(table: &Path, Commitment(bytes): &Commitment) -> Result<Self> {
        std::str::from_utf8(bytes).ok().and_then(|text| Self::read(table, text)).ok_or_else(|| {
            Error::data(format!("the checkpoint's list of prepared files in '{}' is damaged", table.display())).hint(
                "go on from an older checkpoint with --allow-older-checkpoint; a newer version of tidemill may have \
                 written this one",
            )
        })
    }

    fn read(table: &Path, text: &str) -> Option<Self> {
        let (run, text) = text.strip_prefix(HEAD)?.split_once('\n')?;
        let (begun, text) = text.split_once('\n')?;
        let begun = begun.parse().ok()?;
        if run.is_empty() || !run.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let part = |path: &str| {
            let path = Path::new(path.strip_suffix('\0')?);
            // It reaches nothing outside of its table.
            let inside = path.components().all(|component| matches!(component, Component::Normal(_)));
            let part = Part::of_visible(&table.join(path))?;
            part.number_in(run).filter(|number| inside && *number < begun)?;
            Some(part)
        };
        let parts = text.split_inclusive('\0').map(part).collect::<Option<_>>()?;
        Some(Self { run: run.to_owned(), begun, parts })
    }
}

#[cfg(test)]
mod tests;
