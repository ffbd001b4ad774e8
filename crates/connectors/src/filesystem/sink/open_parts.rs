//! The parts that grow: one a folder, of which not too many have their file open, whatever the number of partitions.

use std::collections::BTreeMap;
use std::time::Instant;

use tidemill_core::{Error, EventBatch, Result};

use crate::filesystem::part::{Part, StagedPart};
use crate::format::FileWriter;

/// How many parts may have their file open. The one that was written to least recently rests for another.
const OPEN_MAX: usize = 100;

/// How many encoded bytes are gathered before they are written to the file.
const WRITE_BYTES: usize = 256 << 10;

/// How many bytes all parts together may hold back in memory. Then those with the most give theirs away, until half is left.
const HELD_BYTES_MAX: usize = 64 << 20;

/// A part that grows.
pub struct OpenPart {
    staged: StagedPart,
    writer: Box<dyn FileWriter>,
    /// Bytes of the file that are not in it yet.
    encoded: Vec<u8>,
    /// What the writer holds back.
    held_bytes: usize,
    opened: Instant,
    /// When it was written to, as a count of writes.
    used: u64,
}

impl OpenPart {
    /// A part without rows.
    pub fn new(staged: StagedPart, writer: Box<dyn FileWriter>, now: Instant) -> Self {
        Self { staged, writer, encoded: vec![], held_bytes: 0, opened: now, used: 0 }
    }

    /// When it was begun.
    pub fn opened(&self) -> Instant {
        self.opened
    }

    fn write(&mut self, batch: &EventBatch) -> Result<()> {
        self.writer.write(&batch.rows, batch.kinds.as_deref(), &mut self.encoded)?;
        self.held_bytes = self.writer.held_bytes();
        if self.encoded.len() < WRITE_BYTES { Ok(()) } else { self.spill() }
    }

    fn release(&mut self) -> Result<()> {
        self.writer.release(&mut self.encoded)?;
        self.held_bytes = self.writer.held_bytes();
        self.spill()
    }

    fn finish(&mut self) -> Result<()> {
        self.writer.finish(&mut self.encoded)?;
        self.spill()?;
        self.staged.sync()
    }

    fn spill(&mut self) -> Result<()> {
        let written = self.staged.write(&self.encoded);
        self.encoded.clear();
        written
    }

    /// What waits in memory.
    fn waiting_bytes(&self) -> usize {
        self.encoded.len() + self.held_bytes
    }

    /// About how large the file would be, were it closed now.
    fn bytes(&self) -> u64 {
        self.staged.bytes() + self.encoded.len() as u64 + self.held_bytes as u64
    }
}

/// The parts that grow, by folder.
#[derive(Default)]
pub struct OpenParts {
    parts: BTreeMap<String, OpenPart>,
    writes: u64,
    /// What waits in memory, of all parts.
    waiting_bytes: usize,
}

impl OpenParts {
    /// Whether a part grows in the folder.
    pub fn contains(&self, folder: &str) -> bool {
        self.parts.contains_key(folder)
    }

    /// The first folder with such a part.
    pub fn find(&self, wanted: impl Fn(&OpenPart) -> bool) -> Option<String> {
        self.parts.iter().find(|(_, part)| wanted(part)).map(|(folder, _)| folder.clone())
    }

    /// Adds a part.
    pub fn insert(&mut self, folder: &str, part: OpenPart) {
        self.parts.insert(folder.to_owned(), part);
        self.rest();
    }

    /// Writes rows to the folder's part, and says how large it now is.
    pub fn write(&mut self, folder: &str, rows: &EventBatch) -> Result<u64> {
        self.writes += 1;
        let no_part = || Error::internal(format!("no part grows in the folder '{folder}'"));
        let part = self.parts.get_mut(folder).ok_or_else(no_part)?;
        part.used = self.writes;
        let (was_open, waited) = (part.staged.is_open(), part.waiting_bytes());
        part.write(rows)?;
        self.waiting_bytes = self.waiting_bytes - waited + part.waiting_bytes();
        let (bytes, opened) = (part.bytes(), !was_open && part.staged.is_open());
        if opened {
            self.rest();
        }
        self.release()?;
        Ok(bytes)
    }

    /// Closes files until there are not too many.
    fn rest(&mut self) {
        let mut open: Vec<&mut OpenPart> = self.parts.values_mut().filter(|part| part.staged.is_open()).collect();
        if open.len() <= OPEN_MAX {
            return;
        }
        open.sort_unstable_by_key(|part| part.used);
        // Half of them at once, so that this is seldom looked at.
        open.iter_mut().take(OPEN_MAX / 2).for_each(|part| part.staged.rest());
    }

    /// Gives what waits in memory to the files, if it is too much.
    fn release(&mut self) -> Result<()> {
        if self.waiting_bytes <= HELD_BYTES_MAX {
            return Ok(());
        }
        let mut parts: Vec<&mut OpenPart> = self.parts.values_mut().collect();
        parts.sort_unstable_by_key(|part| std::cmp::Reverse(part.waiting_bytes()));
        for part in parts {
            if self.waiting_bytes <= HELD_BYTES_MAX / 2 {
                break;
            }
            let waited = part.waiting_bytes();
            part.release()?;
            part.staged.rest();
            self.waiting_bytes = self.waiting_bytes - waited + part.waiting_bytes();
        }
        Ok(())
    }

    /// Ends the folder's part, whole and on the disk. On an error it stays among those that grow.
    pub fn close(&mut self, folder: &str) -> Result<Option<Part>> {
        if let Some(part) = self.parts.get_mut(folder) {
            let waited = part.waiting_bytes();
            part.finish()?;
            self.waiting_bytes -= waited;
        }
        Ok(self.parts.remove(folder).map(|part| part.staged.into_part()))
    }

    /// Takes all parts, as they are.
    pub fn take(&mut self) -> Vec<Part> {
        self.waiting_bytes = 0;
        std::mem::take(&mut self.parts).into_values().map(|part| part.staged.into_part()).collect()
    }
}
