//! What a program wrote, in a form that doesn't depend on the order of its rows or on how it writes numbers and times.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::Path;

use walkdir::WalkDir;

/// The rows of an answer, as a multiset: how many, and a sum of their hashes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) rows: u64,
    digest: u64,
}

impl Answer {
    /// The lines of all CSV files under `folder`.
    pub(super) fn under(folder: &Path) -> Result<Self, String> {
        let mut answer = Self::default();
        for entry in WalkDir::new(folder) {
            let entry = entry.map_err(|e| format!("cannot walk {}: {e}", folder.display()))?;
            // What is hidden is nobody's answer: checksums, and what was left of a part.
            if entry.file_type().is_file() && !entry.file_name().to_string_lossy().starts_with('.') {
                let failed = |e| format!("cannot read {}: {e}", entry.path().display());
                // Line by line: the peak of a process that is started begins with what this one had.
                for line in BufReader::new(File::open(entry.path()).map_err(failed)?).lines() {
                    answer.add(&line.map_err(failed)?);
                }
            }
        }
        Ok(answer)
    }

    fn add(&mut self, line: &str) {
        let mut hasher = DefaultHasher::new();
        line.split(',').for_each(|field| normal(field).hash(&mut hasher));
        self.rows += 1;
        self.digest = self.digest.wrapping_add(hasher.finish());
    }
}

/// A field without quotes, exponent, zeros behind a point, and the `T` of a time.
fn normal(field: &str) -> String {
    let bare = field.trim_matches('"');
    // Flink writes some whole decimals as 1.808E+4.
    if bare.contains("E+")
        && let Ok(number) = bare.parse::<f64>()
    {
        return number.to_string();
    }
    let time = bare.len() >= 16 && bare.as_bytes()[4] == b'-' && bare.as_bytes()[10] == b'T';
    let spaced = if time { bare.replacen('T', " ", 1) } else { bare.to_owned() };
    if spaced.contains('.') { spaced.trim_end_matches('0').trim_end_matches('.').to_owned() } else { spaced }
}

#[cfg(test)]
mod tests;
