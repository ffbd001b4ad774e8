//! Patterns that paths fit, the same for files of this machine and objects of a bucket.

use glob::Pattern;
use tidemill_core::{Error, Result};

use super::{SIGNS, is_hidden};

/// What stands between two names of a path.
const DELIMITER: char = '/';

/// What the paths below a folder are tested with, name by name. Without any name it is the folder itself.
///
/// A name that begins with `.` or `_` is hidden: only what writes that beginning out stands for it.
#[derive(Debug, Clone, Default)]
pub(super) struct PathPattern {
    parts: Vec<Part>,
    folders_only: bool,
}

/// What stands for one name, or for several.
#[derive(Debug, Clone)]
enum Part {
    /// `**`: any number of folders.
    Folders,
    Name(Pattern),
}

impl Part {
    fn fits(&self, name: &str) -> bool {
        match self {
            Self::Folders => !is_hidden(name),
            Self::Name(pattern) => pattern.matches(name) && (!is_hidden(name) || same_begin(pattern.as_str(), name)),
        }
    }
}

/// Whether a pattern writes out what a hidden name begins with.
fn same_begin(pattern: &str, name: &str) -> bool {
    pattern.chars().next() == name.chars().next()
}

impl PathPattern {
    /// Takes a pattern apart: the folder in which all that fits it is, and what is tested below that folder.
    ///
    /// # Errors
    /// `Invalid` if `text` is no pattern.
    pub(super) fn parse<'t>(written: &str, text: &'t str) -> Result<(&'t str, Self)> {
        // The place in the message is that in the whole text.
        Pattern::new(text).map_err(|e| not_a_pattern(written, &e))?;
        let (folder, below) = split(text);
        let mut parts = vec![];
        for name in below.split(DELIMITER).filter(|name| !name.is_empty() && *name != ".") {
            parts.push(match name {
                "**" => Part::Folders,
                name => Part::Name(Pattern::new(name).map_err(|e| not_a_pattern(written, &e))?),
            });
        }
        Ok((folder, Self { parts, folders_only: text.ends_with(DELIMITER) }))
    }

    /// What stands in a path behind its shortest beginning that fits: nothing if that is the path itself, else the way
    /// to it from a folder that fits. `None` if the path does not fit, or is hidden in that folder.
    pub(super) fn below<'p, N: AsRef<str>>(&self, path: &'p [N]) -> Option<&'p [N]> {
        let mut split = (0..=path.len()).map(|end| path.split_at(end));
        let (_, below) = split.find(|(begin, _)| fits(&self.parts, begin))?;
        let named = !below.is_empty() || !self.folders_only;
        (named && !below.iter().any(|name| is_hidden(name.as_ref()))).then_some(below)
    }

    /// Whether something in a folder may fit, where that is so of all the folders that it is in.
    pub(super) fn may_fit_in<N: AsRef<str>>(&self, folder: &[N]) -> bool {
        let Some(name) = folder.last() else { return true };
        let name: &str = name.as_ref();
        let mut in_place = self.parts.iter().take_while(|part| matches!(part, Part::Name(_)));
        match in_place.nth(folder.len() - 1) {
            Some(part) => part.fits(name),
            // It is below what fits already, or any name behind `**` may be meant.
            None => !is_hidden(name) || self.parts.iter().any(|part| part.fits(name)),
        }
    }
}

/// A pattern up to its last `/` before the first sign of a pattern, and what stands behind.
pub(super) fn split(text: &str) -> (&str, &str) {
    let sign = text.find(SIGNS).unwrap_or(text.len());
    text.split_at(text[..sign].rfind(DELIMITER).map_or(0, |slash| slash + DELIMITER.len_utf8()))
}

/// Whether names are those that the parts stand for, one after the other.
fn fits<N: AsRef<str>>(parts: &[Part], names: &[N]) -> bool {
    let Some((part, more_parts)) = parts.split_first() else { return names.is_empty() };
    let fits_first = |more: &[Part]| match names.split_first() {
        Some((name, more_names)) => part.fits(name.as_ref()) && fits(more, more_names),
        None => false,
    };
    match part {
        Part::Folders => fits(more_parts, names) || fits_first(parts),
        Part::Name(_) => fits_first(more_parts),
    }
}

fn not_a_pattern(written: &str, e: &glob::PatternError) -> Error {
    Error::invalid(format!("'{written}' is not a pattern for files: {e}"))
        .hint("write * for any characters in a name, ** for any folders, and [*] for the character itself")
}

#[cfg(test)]
mod tests;
