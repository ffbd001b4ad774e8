//! Goes on where a killed run has stopped: what its last checkpoint names is committed, and what came after it goes.
//!
//! ```text
//!   the table's transaction of the run     then
//!   the epoch of the checkpoint            all is committed
//!   an earlier one, or none                the files of the checkpoint that came after it are committed
//!   a later one                            a later checkpoint, which the user has given up, had committed it: an entry
//!                                          takes its files out of the table, as their rows come again
//! ```
//!
//! Data files of the run that are neither in the commitment nor in the log are deleted. All of it can be done twice, so a
//! crash while recovering is followed by another recovery. Other runs' files are left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use deltalake_core::kernel::Add;
use tidemill_core::{Epoch, Error, Result};
use tidemill_runtime::connector::{Commitment, WriteMode};
use walkdir::{DirEntry, WalkDir};

use super::DeltaSink;
use crate::blocking::blocking;
use crate::delta::commitment::Prepared;
use crate::delta::data_file::{delete, number_in};
use crate::delta::log::{self, Change, Named, Replaces};

impl DeltaSink {
    /// Makes what was prepared visible, and takes back what the run has written since.
    ///
    /// # Errors
    /// `Data` if a prepared file is lost: then nothing is changed.
    pub(super) async fn go_on(&mut self, commitment: &Commitment) -> Result<()> {
        let Prepared { run, begun, epoch, files } = self.prepared_before(commitment)?;
        (self.run, self.begun, self.begun_prepared, self.epoch) = (run, begun, begun, epoch);
        self.log.refresh(&self.table.columns, self.table.mode).await?;
        let committed = self.log.committed(&self.application()).await?;
        let named = self.log.named(&self.run).await?;
        let left: Vec<Add> =
            files.into_iter().filter(|(of, _)| Some(*of) > committed).flat_map(|(_, adds)| adds).collect();
        blocking(|| self.tidy_up(&left, &named))?;
        if committed > Some(epoch) {
            self.take_back(&named).await?;
        } else if !left.is_empty() {
            self.change(left, Replaces::Nothing).await?;
        }
        // No name comes twice in a log, though its first file was taken out.
        self.begun = self.begun.max(named.last_key_value().map_or(0, |(last, _)| last + 1));
        Ok(())
    }

    /// Commits what another job had prepared, if it has not been, as that job would have; what it has written since stays.
    ///
    /// # Errors
    /// `Data` if a prepared file is lost: then nothing is changed.
    pub(super) async fn take_over(&mut self, commitment: &Commitment) -> Result<()> {
        let Prepared { run, epoch, files, .. } = self.prepared_before(commitment)?;
        let own = (std::mem::replace(&mut self.run, run), std::mem::replace(&mut self.epoch, epoch));
        let done = self.commit_left(files).await;
        (self.run, self.epoch) = own;
        done
    }

    async fn commit_left(&mut self, files: BTreeMap<Epoch, Vec<Add>>) -> Result<()> {
        self.log.refresh(&self.table.columns, self.table.mode).await?;
        let committed = self.log.committed(&self.application()).await?;
        let left: Vec<Add> =
            files.into_iter().filter(|(of, _)| Some(*of) > committed).flat_map(|(_, adds)| adds).collect();
        self.all_there(&left)?;
        match left.is_empty() {
            true => Ok(()),
            false => self.change(left, Replaces::Nothing).await,
        }
    }

    fn prepared_before(&self, commitment: &Commitment) -> Result<Prepared> {
        match self.table.mode {
            WriteMode::Overwrite => Err(Error::internal("a run that overwrites has no checkpoint to go on from")),
            WriteMode::Append => Prepared::decode(&self.table.path.written, commitment),
        }
    }

    /// Takes out of the table what was committed after the checkpoint. The files stay, for those who read an older version
    /// of the table.
    async fn take_back(&mut self, named: &BTreeMap<u64, Named>) -> Result<()> {
        if named.range(self.begun..).any(|(_, became)| *became == Named::Rewritten) {
            return Err(Error::data(format!(
                "rows that were committed to the Delta table '{}' after the checkpoint are in other files since",
                self.table.path.written
            ))
            .hint(
                "restore the table to a version before it was compacted (RESTORE), or go on from the newest checkpoint",
            ));
        }
        self.change(vec![], Replaces::Later { run: self.run.clone(), begun: self.begun }).await
    }

    /// An entry that leaves the table at the epoch of the checkpoint.
    async fn change(&mut self, adds: Vec<Add>, replaces: Replaces) -> Result<()> {
        let change = Change { adds, replaces, transaction: self.transaction(self.epoch)? };
        Ok(self.log.commit(&change, &self.table.columns, self.table.mode).await?)
    }

    /// Deletes what the run has written and no entry names. Of `left`, all must be there.
    fn tidy_up(&self, left: &[Add], named: &BTreeMap<u64, Named>) -> Result<()> {
        let folder = &self.table.path.folder;
        let left = self.all_there(left)?;
        let came_later = |file: &&PathBuf| {
            let number =
                number_in(file, &self.run).filter(|number| *number >= self.begun && !named.contains_key(number));
            number.is_some() && !left.contains(*file)
        };
        data_files(folder)?.iter().filter(came_later).try_for_each(|file| delete(file))
    }

    /// The files that these actions add.
    fn all_there(&self, left: &[Add]) -> Result<BTreeSet<PathBuf>> {
        let left: BTreeSet<PathBuf> = left.iter().map(|add| self.table.path.folder.join(&add.path)).collect();
        if let Some(lost) = left.iter().find(|file| !file.exists()) {
            return Err(Error::data(format!(
                "the file '{}' is gone, which the run before had written and not yet committed",
                lost.display()
            ))
            .hint(
                "put it back under this name; without it the job can only begin anew, with a new --data-dir and table",
            ));
        }
        Ok(left)
    }
}

/// The files of a table, but for those of its log; a folder that is gone has none.
fn data_files(table: &Path) -> Result<Vec<PathBuf>> {
    let is_log = |entry: &DirEntry| entry.depth() == 1 && entry.file_name() == OsStr::new(log::FOLDER);
    let mut files = vec![];
    for entry in WalkDir::new(table).into_iter().filter_entry(|entry| !is_log(entry)) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => files.push(entry.into_path()),
            Ok(_) => {}
            // Gone since its folder was listed.
            Err(e) if e.io_error().is_some_and(|io| io.kind() == std::io::ErrorKind::NotFound) => {}
            Err(e) => {
                return Err(Error::unavailable(format!("cannot list the folder '{}': {e}", table.display())).because(e));
            }
        }
    }
    Ok(files)
}
