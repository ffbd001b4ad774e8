//! One data file of a Delta table: it grows, is closed, and is then described to the log.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use arrow::array::RecordBatch;
use deltalake_core::kernel::Add;
use parquet::basic::Compression;
use tidemill_core::Result;

use super::columns::Columns;
use super::partition::Partition;
use super::stats;
use crate::format::FileWriter;
use crate::format::parquet::{ParquetOptions, ParquetWriter};
use crate::local::{failed, sync_folder};

/// How many encoded bytes are gathered before they are written to the file.
const WRITE_BYTES: usize = 256 << 10;

/// How the names of all data files end.
const EXTENSION: &str = ".parquet";

/// The name of the data file number `number` of the run `run`.
pub fn name(run: &str, number: u64) -> String {
    format!("part-{run}-{number}{EXTENSION}")
}

/// The number of the data file at `path` among those of the run `run`, if it is one of them.
pub fn number_in(path: &Path, run: &str) -> Option<u64> {
    let found = path.file_name()?.to_str()?;
    let number = found.strip_prefix("part-")?.strip_prefix(run)?.strip_prefix('-')?.strip_suffix(EXTENSION)?;
    number.parse().ok().filter(|&number| name(run, number) == found)
}

/// Deletes a data file, if it is there.
pub fn delete(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("delete", file, e)),
        _ => Ok(()),
    }
}

/// A data file that grows. Its file is opened for each write: there may be more partitions than a process may have open.
pub struct DataFile {
    /// From the table's folder on.
    path: String,
    file: PathBuf,
    writer: ParquetWriter,
    /// Bytes of the file that are not in it yet.
    encoded: Vec<u8>,
    /// What the writer holds back.
    held_bytes: usize,
    written_bytes: u64,
    /// Whether there is a file, and it is this one.
    created: bool,
}

impl DataFile {
    /// A file without rows, at `path` from the folder `table` on.
    pub fn new(table: &Path, path: String, columns: &Columns) -> Result<Self> {
        let options = ParquetOptions { compression: Compression::SNAPPY };
        let writer = ParquetWriter::new(columns.file.clone(), &options)?;
        let file = table.join(&path);
        Ok(Self { path, file, writer, encoded: vec![], held_bytes: 0, written_bytes: 0, created: false })
    }

    /// Where it is, if something of it was written.
    pub fn into_file(self) -> Option<PathBuf> {
        self.created.then_some(self.file)
    }

    /// Appends rows.
    pub fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        self.writer.write(rows, None, &mut self.encoded)?;
        self.held_bytes = self.writer.held_bytes();
        if self.encoded.len() < WRITE_BYTES { Ok(()) } else { self.spill() }
    }

    /// Gives what waits in memory to the file.
    pub fn release(&mut self) -> Result<()> {
        self.writer.release(&mut self.encoded)?;
        self.held_bytes = self.writer.held_bytes();
        self.spill()
    }

    /// What waits in memory.
    pub fn waiting_bytes(&self) -> usize {
        self.encoded.len() + self.held_bytes
    }

    /// About how large the file would be, were it closed now.
    pub fn bytes(&self) -> u64 {
        self.written_bytes + self.waiting_bytes() as u64
    }

    /// Ends the file, whole and on the disk, and gives the action that adds it to the table.
    pub fn finish(&mut self, partition: &Partition, columns: &Columns) -> Result<Add> {
        let metadata = self.writer.finish_file(&mut self.encoded)?;
        self.held_bytes = 0;
        self.spill()?;
        let synced = File::open(&self.file).and_then(|file| file.sync_all());
        synced.map_err(|e| failed("write", &self.file, e))?;
        // A checkpoint may name the file: its name has to last, too.
        self.file.parent().map_or(Ok(()), sync_folder)?;
        // A clock before 1970 only costs the time that is told.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        Ok(Add {
            path: self.path.clone(),
            partition_values: partition.values(columns),
            size: i64::try_from(self.written_bytes).unwrap_or(i64::MAX),
            modification_time: i64::try_from(now).unwrap_or(i64::MAX),
            data_change: true,
            stats: Some(stats::of_file(&columns.file, &metadata)),
            ..Add::default()
        })
    }

    fn spill(&mut self) -> Result<()> {
        if self.encoded.is_empty() {
            return Ok(());
        }
        let mut options = File::options();
        // The name is this run's alone; should a folder be shared with another machine that made the same one, neither
        // may replace the other's rows.
        let options = if self.created { options.append(true) } else { options.write(true).create_new(true) };
        let failed = |e| failed("write", &self.file, e);
        let mut file = options.open(&self.file).map_err(failed)?;
        self.created = true;
        file.write_all(&self.encoded).map_err(failed)?;
        self.written_bytes += self.encoded.len() as u64;
        self.encoded.clear();
        Ok(())
    }
}
