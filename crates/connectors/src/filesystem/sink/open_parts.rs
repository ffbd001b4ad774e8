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

/// How many bytes of memory all parts together may take for what they hold back. Then those with the most give theirs
/// away, until half is left.
const HELD_BYTES_MAX: usize = 64 << 20;

/// A part that grows.
pub struct OpenPart {
    staged: StagedPart,
    writer: Box<dyn FileWriter>,
    /// Bytes of the file that are not in it yet.
    encoded: Vec<u8>,
    /// What the writer holds back, as bytes of the file.
    held_bytes: usize,
    /// The memory that this takes.
    memory_bytes: usize,
    opened: Instant,
    /// When it was written to, as a count of writes.
    used: u64,
}

impl OpenPart {
    /// A part without rows.
    pub fn new(staged: StagedPart, writer: Box<dyn FileWriter>, now: Instant) -> Self {
        Self { staged, writer, encoded: vec![], held_bytes: 0, memory_bytes: 0, opened: now, used: 0 }
    }

    /// When it was begun.
    pub fn opened(&self) -> Instant {
        self.opened
    }

    fn write(&mut self, batch: &EventBatch) -> Result<()> {
        self.writer.write(&batch.rows, batch.kinds.as_deref(), &mut self.encoded)?;
        self.look_at_writer();
        if self.encoded.len() < WRITE_BYTES { Ok(()) } else { self.spill() }
    }

    fn release(&mut self) -> Result<()> {
        self.writer.release(&mut self.encoded)?;
        self.look_at_writer();
        self.spill()
    }

    fn look_at_writer(&mut self) {
        self.held_bytes = self.writer.held_bytes();
        self.memory_bytes = self.writer.memory_bytes();
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
        self.encoded.len() + self.memory_bytes
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use parquet::basic::Compression;

    use super::*;
    use crate::format::parquet::{ParquetOptions, ParquetWriter};

    /// A row a part is next to nothing in the file, and for each column the table of a dictionary in memory.
    #[test]
    fn parts_of_few_rows_give_away_what_their_columns_allocate() {
        let folder = tempfile::tempdir().unwrap();
        let column = |number: usize| (format!("c{number}"), Arc::new(Int64Array::from(vec![1])) as ArrayRef);
        let rows = RecordBatch::try_from_iter((0..10).map(column)).unwrap();
        let options = ParquetOptions { compression: Compression::SNAPPY };
        let mut parts = OpenParts::default();
        for number in 0..300 {
            let staged = StagedPart::create(Part::new(folder.path(), "r", number, "parquet")).unwrap();
            let writer = Box::new(ParquetWriter::new(rows.schema(), &options).unwrap());
            let name = number.to_string();
            parts.insert(&name, OpenPart::new(staged, writer, Instant::now()));
            parts.write(&name, &EventBatch::append(rows.clone())).unwrap();
            let allocated: usize = parts.parts.values().map(|part| part.writer.memory_bytes()).sum();
            assert!(allocated <= HELD_BYTES_MAX, "{allocated} bytes of {} parts", number + 1);
        }
        assert!(parts.parts.values().any(|part| part.staged.bytes() > 0), "some have a row group in their file");
    }
}
