//! Goes on where a killed run has stopped: what its last checkpoint names becomes visible, and what came after it goes.
//!
//! ```text
//!   in the commitment   in the folder                     then
//!   named               hidden, or visible                visible
//!   named               neither                           an error: rows are lost
//!   not named           hidden                            deleted: its rows come again
//!   number >= begun     visible                           deleted: a later checkpoint, which the user has given up, had
//!                                                         committed it, and its rows come again
//!   number < begun      visible                           stays: it was committed before
//! ```
//!
//! All of it can be done twice, so a crash while recovering is followed by another recovery. Other runs' files are left alone.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tidemill_core::{Error, Result};

use super::commitment::Prepared;
use crate::filesystem::part::Part;
use crate::local::{failed, sync_folder};

/// The table that is recovered.
pub struct Recovered<'a> {
    /// Its folder.
    pub folder: &'a Path,
    /// How the names of the folders of its partitions begin, the outermost first: `a=`.
    pub heads: Vec<&'a str>,
    /// How the names of its files end.
    pub extension: &'a str,
}

impl Recovered<'_> {
    /// Makes what was prepared visible, and takes back what the run has written since.
    ///
    /// # Errors
    /// `Data` if a prepared part is lost: then nothing is changed.
    pub fn go_back_to(&self, prepared: &Prepared) -> Result<()> {
        complete(prepared)?;
        let mut files = vec![];
        visit(self.folder, &self.heads, &mut files)?;
        let mut changed = BTreeSet::new();
        for file in &files {
            if self.came_later(file, prepared) {
                delete(file)?;
                changed.extend(file.parent());
            }
        }
        show(prepared, changed)
    }

    /// Whether the run wrote the file, and the commitment does not cover it.
    fn came_later(&self, file: &Path, prepared: &Prepared) -> bool {
        let staged = Part::of_staged(file);
        let Some(part) = staged.clone().or_else(|| Part::of_visible(file)) else { return false };
        let Some(number) = part.number_in(&prepared.run) else { return false };
        let is_of_run = part == Part::new(part.folder(), &prepared.run, number, self.extension);
        is_of_run && if staged.is_some() { !prepared.parts.contains(&part) } else { number >= prepared.begun }
    }
}

/// Makes visible what another job had prepared, and leaves alone what it has written since.
///
/// # Errors
/// `Data` if a prepared part is lost: then nothing is changed.
pub fn adopt(prepared: &Prepared) -> Result<()> {
    complete(prepared)?;
    show(prepared, BTreeSet::new())
}

/// Makes sure that no prepared part is lost.
fn complete(prepared: &Prepared) -> Result<()> {
    if let Some(lost) = prepared.parts.iter().find(|part| !part.exists()) {
        return Err(Error::data(format!(
            "the file '{}' is gone, which the run before had written and not yet shown",
            lost.staged().display()
        ))
        .hint(format!(
            "put it back under this name, or as '{}'; if it was shown after all and its rows were taken from there, \
                 an empty file will do, which may go once the run goes on",
            lost.visible().display()
        )));
    }
    Ok(())
}

/// Makes visible what was prepared; folders that have `changed` before are synced, too.
fn show<'a>(prepared: &'a Prepared, mut changed: BTreeSet<&'a Path>) -> Result<()> {
    for part in &prepared.parts {
        part.publish()?;
        changed.insert(part.folder());
    }
    changed.into_iter().try_for_each(sync_folder)
}

/// Finds the files of a table; a folder that is gone has none.
fn visit(folder: &Path, heads: &[&str], files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    for entry in entries.map_err(|e| failed("list the folder", folder, e))? {
        match heads.split_first() {
            None => files.push(entry.path()),
            Some((head, inner)) if entry.file_name().as_encoded_bytes().starts_with(head.as_bytes()) => {
                let path = entry.path();
                if path.is_dir() {
                    visit(&path, inner, files)?;
                }
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn delete(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("delete", file, e)),
        _ => Ok(()),
    }
}
