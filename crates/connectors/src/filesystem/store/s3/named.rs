//! Which keys a URL names: one, all those in a folder, or those that fit a pattern.

use std::sync::Arc;

use glob::{MatchOptions, Pattern};
use object_store::path::{DELIMITER, Path as Key};
use tidemill_core::{Error, Result};

use crate::filesystem::store::{is_hidden, is_pattern, not_a_pattern};

/// A `*` stands for no part of two names, and for no `.` at the beginning of one: as in local patterns.
const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// What stands behind the bucket in a URL.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// The key of an object or a folder.
    key: Key,
    /// It ends in `/`, so it is the key of a folder.
    folder_only: bool,
    pattern: Option<FolderPattern>,
}

/// A pattern, and the folder in which all that fits it is.
#[derive(Debug, Clone)]
struct FolderPattern {
    pattern: Pattern,
    folder: Key,
}

impl Named {
    /// # Errors
    /// `Invalid` if `key` is no path or no pattern.
    pub(super) fn new(written: &Arc<str>, key: &str) -> Result<Self> {
        let parse = |key: &str| {
            Key::parse(key).map_err(|e| {
                Error::invalid(format!("'{written}' names no object: {e}"))
                    .because(e)
                    .hint("write s3://bucket/folder/, or s3://bucket/folder/name")
            })
        };
        let pattern = match is_pattern(key) {
            false => None,
            true => {
                let text = key.strip_suffix(DELIMITER).unwrap_or(key);
                let pattern = Pattern::new(text).map_err(|e| not_a_pattern(written, &e))?;
                let literal: Vec<_> = text.split(DELIMITER).take_while(|part| !is_pattern(part)).collect();
                Some(FolderPattern { pattern, folder: parse(&literal.join(DELIMITER))? })
            }
        };
        Ok(Self { key: parse(key)?, folder_only: key.is_empty() || key.ends_with(DELIMITER), pattern })
    }

    /// The key that one object may have.
    pub(super) fn key(&self) -> Option<&Key> {
        (!self.folder_only).then_some(&self.key)
    }

    /// The folder in which all that is named is; `None` is the whole bucket.
    pub(super) fn folder(&self) -> Option<&Key> {
        let folder = self.pattern.as_ref().map_or(&self.key, |pattern| &pattern.folder);
        (!folder.as_ref().is_empty()).then_some(folder)
    }

    /// Whether a key of the folder is named, and not hidden.
    pub(super) fn names(&self, key: &Key) -> bool {
        let below = match &self.pattern {
            None => key.as_ref().strip_prefix(self.key.as_ref()),
            Some(FolderPattern { pattern, .. }) => below_match(pattern, key.as_ref()),
        };
        below.is_some_and(|below| !below.split(DELIMITER).any(is_hidden))
    }
}

/// What stands behind the shortest beginning of a key that fits: the object itself, or a folder that it is in.
fn below_match<'k>(pattern: &Pattern, key: &'k str) -> Option<&'k str> {
    let ends = key.match_indices(DELIMITER).map(|(end, _)| end).chain([key.len()]);
    ends.map(|end| key.split_at(end)).find(|(begin, _)| pattern.matches_with(begin, OPTIONS)).map(|(_, below)| below)
}

#[cfg(test)]
mod tests;
