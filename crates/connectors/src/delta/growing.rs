//! The data files that grow, one a partition, and how much of them waits in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;

use arrow::array::RecordBatch;
use deltalake_core::kernel::Add;
use tidemill_core::Result;

use super::columns::Columns;
use super::data_file::DataFile;
use super::partition::Partition;

/// How large a file gets before the next one is begun.
const FILE_BYTES: u64 = 128 << 20;

/// How many bytes all files together may hold back in memory. Then those with the most give theirs away, until half is left.
const HELD_BYTES_MAX: usize = 64 << 20;

/// How many rows are written before the size of a file is looked at.
const ROWS_BETWEEN_CHECKS: usize = 1024;

/// The files that grow, by partition.
#[derive(Default)]
pub struct GrowingFiles {
    files: BTreeMap<Partition, DataFile>,
    /// What waits in memory, of all files.
    waiting_bytes: usize,
}

impl GrowingFiles {
    /// Writes rows to the partition's file, which `begin` makes where none grows, and gives the files that are full.
    pub fn write(
        &mut self,
        partition: &Partition,
        rows: &RecordBatch,
        columns: &Columns,
        mut begin: impl FnMut() -> Result<DataFile>,
    ) -> Result<Vec<Add>> {
        let mut full = vec![];
        for start in (0..rows.num_rows()).step_by(ROWS_BETWEEN_CHECKS) {
            let some = rows.slice(start, ROWS_BETWEEN_CHECKS.min(rows.num_rows() - start));
            if !self.files.contains_key(partition) {
                self.files.insert(partition.clone(), begin()?);
            }
            if self.append(partition, &some)? >= FILE_BYTES {
                full.extend(self.close(partition, columns)?);
            }
        }
        Ok(full)
    }

    /// Writes rows to the partition's file, and says how large it now is.
    fn append(&mut self, partition: &Partition, rows: &RecordBatch) -> Result<u64> {
        let Some(file) = self.files.get_mut(partition) else { return Ok(0) };
        let waited = file.waiting_bytes();
        file.write(rows)?;
        self.waiting_bytes = self.waiting_bytes - waited + file.waiting_bytes();
        let bytes = file.bytes();
        self.release()?;
        Ok(bytes)
    }

    /// Gives what waits in memory to the files, if it is too much.
    fn release(&mut self) -> Result<()> {
        if self.waiting_bytes <= HELD_BYTES_MAX {
            return Ok(());
        }
        let mut files: Vec<&mut DataFile> = self.files.values_mut().collect();
        files.sort_unstable_by_key(|file| std::cmp::Reverse(file.waiting_bytes()));
        for file in files {
            if self.waiting_bytes <= HELD_BYTES_MAX / 2 {
                break;
            }
            let waited = file.waiting_bytes();
            file.release()?;
            self.waiting_bytes = self.waiting_bytes - waited + file.waiting_bytes();
        }
        Ok(())
    }

    /// Ends all files, whole and on the disk. On an error those that are left are still among the ones that grow.
    pub fn close_all(&mut self, columns: &Columns, closed: &mut Vec<Add>) -> Result<()> {
        while let Some((partition, _)) = self.files.first_key_value() {
            let partition = partition.clone();
            closed.extend(self.close(&partition, columns)?);
        }
        Ok(())
    }

    fn close(&mut self, partition: &Partition, columns: &Columns) -> Result<Option<Add>> {
        let Some(file) = self.files.get_mut(partition) else { return Ok(None) };
        let waited = file.waiting_bytes();
        let add = file.finish(partition, columns)?;
        self.waiting_bytes -= waited;
        self.files.remove(partition);
        Ok(Some(add))
    }

    /// Takes all files, as they are: where each is of which something was written.
    pub fn take(&mut self) -> Vec<PathBuf> {
        self.waiting_bytes = 0;
        std::mem::take(&mut self.files).into_values().filter_map(DataFile::into_file).collect()
    }
}
