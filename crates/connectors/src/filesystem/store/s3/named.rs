//! Which keys a URL names: one, all those in a folder, or those that fit a pattern.

use std::sync::Arc;

use object_store::path::{DELIMITER, Path as Key};
use tidemill_core::{Error, Result};

use crate::filesystem::store::pattern::PathPattern;
use crate::filesystem::store::{is_hidden, is_pattern};

/// What stands behind the bucket in a URL.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// The key of an object or a folder.
    key: Key,
    /// It ends in `/`, so it is the key of a folder.
    folder_only: bool,
    pattern: Option<FolderPattern>,
}

/// The folder in which all that fits a pattern is, and what is tested below it.
#[derive(Debug, Clone)]
struct FolderPattern {
    folder: Key,
    below: PathPattern,
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
                let (folder, below) = PathPattern::parse(written, key)?;
                Some(FolderPattern { folder: parse(folder)?, below })
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
        match &self.pattern {
            None => {
                let below = key.as_ref().strip_prefix(self.key.as_ref());
                below.is_some_and(|below| !below.split(DELIMITER).any(is_hidden))
            }
            Some(FolderPattern { folder, below }) => {
                let names: Option<Vec<_>> = key.prefix_match(folder).map(Iterator::collect);
                names.is_some_and(|names| below.below(&names).is_some())
            }
        }
    }
}

#[cfg(test)]
mod tests;
