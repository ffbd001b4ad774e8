//! One part of a result: a hidden file that grows, then a visible one that does not change.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tidemill_core::Result;

use crate::local::failed;

/// How the name of a hidden file ends.
pub const STAGED: &str = ".inprogress";

/// The two names of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    staged: PathBuf,
    visible: PathBuf,
}

impl Part {
    /// The part number `number` of the run `run`.
    pub fn new(folder: &Path, run: &str, number: u64, extension: &str) -> Self {
        let name = format!("part-{run}-{number}.{extension}");
        Self { staged: folder.join(format!(".{name}{STAGED}")), visible: folder.join(name) }
    }

    /// The part whose hidden file this is, if it is one.
    pub fn of_staged(staged: &Path) -> Option<Self> {
        let name = staged.file_name()?.to_str()?.strip_prefix('.')?.strip_suffix(STAGED)?;
        Some(Self { visible: staged.with_file_name(name), staged: staged.to_owned() })
    }

    /// The part whose visible file this is, if its name is that of a part.
    pub fn of_visible(visible: &Path) -> Option<Self> {
        let name = visible.file_name()?.to_str()?;
        name.strip_prefix("part-")?;
        Some(Self { staged: visible.with_file_name(format!(".{name}{STAGED}")), visible: visible.to_owned() })
    }

    /// The number of the part among those of the run `run`, if it is one of them.
    pub fn number_in(&self, run: &str) -> Option<u64> {
        let name = self.visible.file_name()?.to_str()?;
        let (number, _) = name.strip_prefix("part-")?.strip_prefix(run)?.strip_prefix('-')?.split_once('.')?;
        number.parse().ok().filter(|parsed: &u64| parsed.to_string() == number)
    }

    /// The visible file.
    pub fn visible(&self) -> &Path {
        &self.visible
    }

    /// The hidden file.
    pub fn staged(&self) -> &Path {
        &self.staged
    }

    /// The folder of the part.
    pub fn folder(&self) -> &Path {
        self.staged.parent().unwrap_or(Path::new(""))
    }

    /// Whether the part is there, under either name.
    pub fn exists(&self) -> bool {
        self.staged.exists() || self.visible.exists()
    }

    /// Gives the part its visible name; nothing happens if it already has it.
    pub fn publish(&self) -> Result<()> {
        match fs::rename(&self.staged, &self.visible) {
            Err(e) if e.kind() == io::ErrorKind::NotFound && self.visible.exists() => Ok(()),
            other => other.map_err(|e| failed("rename", &self.staged, e)),
        }
    }

    /// Takes the visible name back.
    pub fn hide(&self) -> Result<()> {
        fs::rename(&self.visible, &self.staged).map_err(|e| failed("rename", &self.visible, e))
    }

    /// Deletes the staged file, if it is there.
    pub fn discard(&self) -> Result<()> {
        match fs::remove_file(&self.staged) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("delete", &self.staged, e)),
            _ => Ok(()),
        }
    }
}

/// A part that still grows.
#[derive(Debug)]
pub struct StagedPart {
    part: Part,
    /// `None` while it rests: the process may have fewer files open than there are parts.
    file: Option<File>,
    bytes: u64,
}

impl StagedPart {
    /// Creates the hidden file of `part`.
    pub fn create(part: Part) -> Result<Self> {
        // The name is this run's alone; should a folder be shared with another machine that made
        // the same one, neither may replace the other's rows.
        if part.visible.exists() {
            return Err(failed("create", &part.visible, io::ErrorKind::AlreadyExists.into()));
        }
        match File::create_new(&part.staged) {
            Ok(file) => Ok(Self { part, file: Some(file), bytes: 0 }),
            Err(e) => Err(failed("create", &part.staged, e)),
        }
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let written = self.file().and_then(|file| file.write_all(bytes));
        written.map_err(|e| failed("write", &self.part.staged, e))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Closes the file until it is written to again.
    pub fn rest(&mut self) {
        self.file = None;
    }

    /// Whether the file is open.
    pub fn is_open(&self) -> bool {
        self.file.is_some()
    }

    fn file(&mut self) -> io::Result<&mut File> {
        if self.file.is_none() {
            self.file = Some(File::options().append(true).open(&self.part.staged)?);
        }
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// How many bytes were appended.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Makes what was written survive a crash of the machine.
    pub fn sync(&mut self) -> Result<()> {
        let synced = self.file().and_then(|file| file.sync_all());
        synced.map_err(|e| failed("write", &self.part.staged, e))
    }

    /// Closes the file.
    pub fn into_part(self) -> Part {
        self.part
    }
}

#[cfg(test)]
mod tests;
