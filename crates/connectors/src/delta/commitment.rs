//! What a sink says in a checkpoint: the data files that it has prepared, and how to tell its other files from anybody else's.
//!
//! ```text
//! tidemill delta 1⏎                 the version
//! mhv3k...⏎                         the run
//! 17⏎                               how many files it had begun when it last prepared
//! 4⏎                                the epoch of that
//! 4 {"path":"part-mhv3k...-16.parquet", ...}⏎    a file that is not committed: its epoch, and the action that adds it
//! ```
//!
//! Files of the run with a lower number are in the list, or were committed before; all others were written later.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use deltalake_core::kernel::Add;
use tidemill_core::{Epoch, Error, Result};
use tidemill_runtime::connector::Commitment;

use super::data_file::number_in;

/// The first line.
const HEAD: &str = "tidemill delta 1\n";

/// What a run has prepared.
#[derive(Debug)]
pub struct Prepared {
    /// The run, as the names of its files have it.
    pub run: String,
    /// How many files it had begun when it last prepared.
    pub begun: u64,
    /// The epoch of that.
    pub epoch: Epoch,
    /// Those of them that it had not committed, by epoch.
    pub files: BTreeMap<Epoch, Vec<Add>>,
}

impl Prepared {
    /// As bytes.
    pub fn encode(&self) -> Commitment {
        let mut text = format!("{HEAD}{}\n{}\n{}\n", self.run, self.begun, self.epoch);
        for (epoch, files) in &self.files {
            for file in files {
                let action = serde_json::to_string(file).expect("an action has only text, numbers and maps of texts");
                text.push_str(&format!("{epoch} {action}\n"));
            }
        }
        Commitment(text.into_bytes())
    }

    /// Reads what [`Self::encode`] has made, of the table at `table`.
    ///
    /// # Errors
    /// `Data` if it is something else.
    pub fn decode(table: &str, Commitment(bytes): &Commitment) -> Result<Self> {
        std::str::from_utf8(bytes).ok().and_then(Self::read).ok_or_else(|| {
            Error::data(format!(
                "the checkpoint's list of prepared files of the Delta table '{}' is damaged",
                table
            ))
            .hint(
                "go on from an older checkpoint with --allow-older-checkpoint; a newer version of tidemill may have \
                     written this one",
            )
        })
    }

    fn read(text: &str) -> Option<Self> {
        let (run, text) = text.strip_prefix(HEAD)?.split_once('\n')?;
        let (begun, text) = text.split_once('\n')?;
        let (epoch, text) = text.split_once('\n')?;
        let (begun, epoch) = (begun.parse().ok()?, Epoch(epoch.parse().ok()?));
        if run.is_empty() || !run.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let mut files: BTreeMap<Epoch, Vec<Add>> = BTreeMap::new();
        for line in text.split_inclusive('\n') {
            let (of, action) = line.strip_suffix('\n')?.split_once(' ')?;
            let of = Epoch(of.parse().ok()?);
            let file: Add = serde_json::from_str(action).ok()?;
            let path = Path::new(&file.path);
            // It reaches nothing outside of its table.
            let inside = path.components().all(|component| matches!(component, Component::Normal(_)));
            number_in(path, run).filter(|number| inside && *number < begun && of <= epoch)?;
            files.entry(of).or_default().push(file);
        }
        Some(Self { run: run.to_owned(), begun, epoch, files })
    }
}

#[cfg(test)]
mod tests;
