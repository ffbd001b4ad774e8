//! `INSERT OVERWRITE`: the parts of a run in the place of all visible files of the folders that they are in.
//!
//! A file system renames one file at a time, so a replacement has a moment in which it is decided:
//!
//! ```text
//! prepare   new parts hidden, whole, on the disk                      a crash leaves the old rows
//! decide    .overwrite-<run>: what goes, what comes; on the disk      from here on a crash loses nothing:
//! finish    folder by folder: old files deleted, new parts renamed    the next run that opens a sink on
//!           .overwrite-<run> deleted                                  the table finishes what is decided
//! ```
//!
//! The order within a folder is chosen so that rows are never there twice: between the first deletion and the last
//! rename a reader finds too little, which a sum shows, instead of too much, which it hides. Before anything is
//! deleted, every new part must be there.
//!
//! Hidden files (`.` or `_` before the name) stay. A folder inside is refused, not emptied: it may be somebody's
//! table, and left alone it would be read with the new rows.
//!
//! An `INSERT INTO` that shows several parts at its end decides in the same way, with nothing that goes
//! ([`Replacement::show`]): killed between two renames, it would have left some of its rows.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use tidemill_core::{Error, Result};

use crate::filesystem::part::{Part, STAGED};
use crate::local::{failed, sync_folder};

/// How the name of a decision begins; the run follows.
const DECISION: &str = ".overwrite-";

/// The first line of a decision.
const HEAD: &[u8] = b"tidemill overwrite 1\n";

/// A replacement that is decided.
#[derive(Debug, PartialEq, Eq)]
pub struct Replacement {
    table: PathBuf,
    /// The decision.
    decision: PathBuf,
    /// The files that go.
    old: Vec<PathBuf>,
    /// The parts that come.
    new: Vec<Part>,
}

impl Replacement {
    /// Decides that `parts` replace the visible files of `folders`, all of them in the folder `table` or below.
    pub fn decide(table: &Path, run: &str, folders: &BTreeSet<PathBuf>, parts: &[Part]) -> Result<Self> {
        let old = folders.iter().map(|folder| replaceable(folder)).collect::<Result<Vec<_>>>()?.concat();
        let decision = table.join(format!("{DECISION}{run}"));
        let replacement = Self { table: table.to_owned(), decision, old, new: parts.to_vec() };
        let text = replacement.encode()?;
        parts.iter().map(Part::folder).collect::<BTreeSet<_>>().into_iter().try_for_each(sync_folder)?;
        let staged = table.join(format!("{DECISION}{run}{STAGED}"));
        match replacement.record(&staged, &text) {
            Ok(()) => Ok(replacement),
            Err(e) => {
                // It is not decided: the parts may be taken back, and no later run may wait for them.
                delete(&staged).and(delete(&replacement.decision)).map_err(|left| e.clone().hint(left.to_string()))?;
                Err(e)
            }
        }
    }

    /// Puts the decision on the disk.
    fn record(&self, staged: &Path, text: &[u8]) -> Result<()> {
        let written = File::create(staged).and_then(|mut file| {
            file.write_all(text)?;
            file.sync_all()
        });
        written.map_err(|e| failed("write", staged, e))?;
        fs::rename(staged, &self.decision).map_err(|e| failed("rename", staged, e))?;
        sync_folder(&self.table)
    }

    /// Does what is decided; what is done already stays done.
    pub fn finish(&self) -> Result<()> {
        self.complete().and_then(|()| self.put_in_place()).map_err(|e| match e.hint_text() {
            Some(_) => e,
            None => e.hint(format!("the next run that writes to the table finishes {}", self.what())),
        })
    }

    /// Does what is decided where nothing goes. If a part can't be shown, none is, and it is not decided any more.
    ///
    /// # Errors
    /// What failed, with the parts, which are the caller's again; with none where they could not be taken back.
    pub fn show(self) -> Result<(), (Error, Vec<Part>)> {
        let Err(e) = self.put_in_place() else { return Ok(()) };
        match self.withdraw() {
            Ok(()) => Err((e, self.new)),
            Err(left) => {
                let hint = format!("the next run that writes to the table finishes it: it can't be taken back, {left}");
                Err((e.hint(hint), vec![]))
            }
        }
    }

    /// Hides the new parts again, then forgets the decision. In between a crash leaves what the next run finishes.
    fn withdraw(&self) -> Result<()> {
        self.new.iter().filter(|part| part.visible().exists()).try_for_each(Part::hide)?;
        self.new.iter().map(Part::folder).collect::<BTreeSet<_>>().into_iter().try_for_each(sync_folder)?;
        self.forget()
    }

    /// What it is to those who read an error.
    fn what(&self) -> &'static str {
        if self.old.is_empty() { "the writing" } else { "the overwriting" }
    }

    /// Makes sure that no part is lost: before anything is deleted.
    fn complete(&self) -> Result<()> {
        let Some(lost) = self.new.iter().find(|part| !part.exists()) else { return Ok(()) };
        let (lost, decision) = (lost.staged().display(), self.decision.display());
        Err(Error::data(format!("{} of '{}' lacks '{lost}'", self.what(), self.table.display()))
            .hint(format!("nothing was deleted: put the file back, or delete '{decision}' to keep what is there")))
    }

    fn put_in_place(&self) -> Result<()> {
        let folders = self.old.iter().filter_map(|file| file.parent()).chain(self.new.iter().map(Part::folder));
        for folder in folders.collect::<BTreeSet<_>>() {
            self.old.iter().filter(|file| file.parent() == Some(folder)).try_for_each(|file| delete(file))?;
            self.new.iter().filter(|part| part.folder() == folder).try_for_each(Part::publish)?;
            sync_folder(folder)?;
        }
        self.forget()
    }

    /// Deletes the decision: nothing is left to do.
    fn forget(&self) -> Result<()> {
        delete(&self.decision)?;
        sync_folder(&self.table)
    }

    /// The decision as bytes: the head, then for each file `-` (it goes) or `+` (it comes), its path from the table's
    /// folder on, and a zero byte, which no name has.
    fn encode(&self) -> Result<Vec<u8>> {
        let mut text = HEAD.to_vec();
        let files = self.old.iter().map(|old| (b'-', old.as_path()));
        for (sign, file) in files.chain(self.new.iter().map(|new| (b'+', new.staged()))) {
            let path = file.strip_prefix(&self.table).ok().and_then(Path::to_str).ok_or_else(|| {
                Error::invalid(format!("cannot overwrite '{}': its name is not UTF-8", file.display()))
                    .hint("rename the file, or delete it")
            })?;
            text.push(sign);
            text.extend_from_slice(path.as_bytes());
            text.push(0);
        }
        Ok(text)
    }

    fn decode(table: &Path, decision: PathBuf, text: &[u8]) -> Option<Self> {
        let mut read = Self { table: table.to_owned(), decision, old: vec![], new: vec![] };
        let files = text.strip_prefix(HEAD)?;
        for file in files.split_inclusive(|byte| *byte == 0) {
            let (sign, path) = file.strip_suffix(&[0])?.split_first()?;
            let path = Path::new(std::str::from_utf8(path).ok()?);
            // A decision reaches nothing outside of its table.
            if !path.components().all(|part| matches!(part, Component::Normal(_))) {
                return None;
            }
            match sign {
                b'-' => read.old.push(table.join(path)),
                b'+' => read.new.push(Part::of_staged(&table.join(path))?),
                _ => return None,
            }
        }
        Some(read)
    }
}

/// The decisions of a table that are not at their end.
///
/// # Errors
/// `Unavailable` if its folder can't be listed.
pub fn decisions(table: &Path) -> Result<Vec<PathBuf>> {
    Ok(entries(table)?.iter().filter(|entry| is_decision(&entry.file_name())).map(fs::DirEntry::path).collect())
}

fn is_decision(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(DECISION) && !name.ends_with(STAGED))
}

/// Finishes what a run has decided that did not come to its end.
pub fn finish_interrupted(table: &Path) -> Result<()> {
    for path in decisions(table)? {
        let text = match fs::read(&path) {
            Ok(text) => text,
            // The run that decided it is still there, and has just finished it.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(failed("read", &path, e)),
        };
        let replacement = Replacement::decode(table, path.clone(), &text).ok_or_else(|| {
            Error::data(format!("'{}' is not the record of an INSERT OVERWRITE", path.display()))
                .hint("delete the file if it is not yours")
        })?;
        replacement.finish()?;
    }
    Ok(())
}

/// The visible files of a folder, which may not be there yet.
///
/// # Errors
/// It has a visible folder, too, or a file that is no part: nobody's file is deleted by mistake.
pub fn replaceable(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![];
    for entry in entries(folder)? {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") || name.as_encoded_bytes().starts_with(b"_") {
            continue;
        }
        let path = entry.path();
        if path.is_dir() {
            return Err(Error::invalid(format!(
                "cannot overwrite '{}': it has the folder '{}'",
                folder.display(),
                name.display()
            ))
            .hint("move the folder away, or name its columns in PARTITIONED BY if it is a partition"));
        }
        if !name.as_encoded_bytes().starts_with(b"part-") {
            return Err(Error::invalid(format!(
                "cannot overwrite '{}': the file '{}' in it is no part of a table",
                folder.display(),
                name.display()
            ))
            .hint(
                "move the file away; a table's folder holds files called part-..., and nothing else that is visible",
            ));
        }
        files.push(path);
    }
    files.sort();
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    let listed = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    listed.map_err(|e| failed("list the folder", folder, e))
}

fn delete(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("delete", file, e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
