//! Writes the rows of a table as parts: files that become visible whole, all those of an epoch at its commit.
//!
//! ```text
//! write    a=x/.part-<run>-<n>.json.inprogress    hidden, grows; closed when it is large or old
//! prepare  a=x/.part-<run>-<n>.json.inprogress    whole and on the disk
//! commit   a=x/part-<run>-<n>.json                renamed; the rename on the disk
//! ```
//!
//! An epoch without rows makes no file. A part never replaces a file: every run has names of its own. Overwriting is
//! [`replace`]; so is the commit at the end of a run, where it shows several parts: killed between two renames, the run
//! would have left some of its rows, and nobody would know of the others. What else a killed run leaves is hidden, and
//! no reader's business; where it had checkpoints, the run that goes on from them finishes or deletes it ([`recover`]),
//! and takes over its names.

mod commitment;
mod open_parts;
mod recover;
mod replace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_core::{Epoch, Error, EventBatch, Result, Watermark};
use tidemill_runtime::connector::{ChangelogMode, Commitment, Guarantee, Sink, SinkFactory, TableSpec, WriteMode};

use self::commitment::Prepared;
use self::open_parts::{OpenPart, OpenParts};
use self::recover::Recovered;
pub(super) use self::replace::decisions;
use self::replace::{Replacement, finish_interrupted, replaceable};
use super::options::{FilesystemOptions, placed};
use super::part::{Part, StagedPart};
use super::partition::Layout;
use super::rolling::RollingPolicy;
use crate::blocking::blocking;
use crate::format::{FileFormat, check_not_null};
use crate::local::{Folders, run_id, sync_folder};

/// How many rows are written before the size of the part is looked at.
const ROWS_BETWEEN_CHECKS: usize = 1024;

/// A folder to write to.
pub struct FilesystemSinkFactory {
    table: Arc<Table>,
}

/// What the sink is told of the table.
struct Table {
    folder: PathBuf,
    format: FileFormat,
    /// All columns, those in the path among them.
    schema: SchemaRef,
    layout: Layout,
    rolling: RollingPolicy,
    mode: WriteMode,
}

impl FilesystemSinkFactory {
    /// Writes the rows of `table`.
    ///
    /// # Errors
    /// An option has a wrong value, or a column can't be written.
    pub fn new(table: &TableSpec, mode: WriteMode) -> Result<Self> {
        let FilesystemOptions { location, format, .. } = FilesystemOptions::from_table(table)?;
        let folder = location.folder_to_write().map_err(|e| placed(&table.options, &e))?;
        let layout = Layout::of(table)?;
        let rolling = RollingPolicy::from_options(&table.options)?;
        // A column that the format can't write is refused now, not when the run begins.
        format.writer(Arc::clone(layout.schema()))?;
        let schema = Arc::clone(&table.schema);
        Ok(Self { table: Arc::new(Table { folder, format, schema, layout, rolling, mode }) })
    }
}

impl SinkFactory for FilesystemSinkFactory {
    fn changelog(&self) -> ChangelogMode {
        self.table.format.changelog()
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::ExactlyOnce
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        let table = Arc::clone(&self.table);
        Ok(Box::new(blocking(|| FilesystemSink::open(table))?))
    }
}

struct FilesystemSink {
    table: Arc<Table>,
    run: String,
    /// How many parts this run has begun.
    begun: u64,
    /// How many it had begun when it last prepared: those are prepared or committed.
    begun_prepared: u64,
    /// When parts were looked at that may be too old.
    checked: Instant,
    folders: Folders,
    open: OpenParts,
    /// Parts of the present epoch that are whole.
    closed: Vec<Part>,
    prepared: BTreeMap<Epoch, Vec<Part>>,
    /// Whether all rows of the run have come: what is committed from now on is its end.
    ended: bool,
}

impl FilesystemSink {
    fn open(table: Arc<Table>) -> Result<Self> {
        let mut folders = Folders::default();
        folders.ensure(&table.folder)?;
        finish_interrupted(&table.folder)?;
        if table.mode == WriteMode::Overwrite && !table.layout.partitioned() {
            // What can't be overwritten is found before the work is done.
            replaceable(&table.folder)?;
        }
        Ok(Self {
            table,
            run: run_id(),
            begun: 0,
            begun_prepared: 0,
            checked: Instant::now(),
            folders,
            open: OpenParts::default(),
            closed: vec![],
            prepared: BTreeMap::new(),
            ended: false,
        })
    }

    fn write_rows(&mut self, batch: &EventBatch) -> Result<()> {
        check_not_null(&self.table.schema, &batch.rows)?;
        let now = Instant::now();
        for (folder, rows) in self.table.layout.split(batch)? {
            for start in (0..rows.num_rows()).step_by(ROWS_BETWEEN_CHECKS) {
                let count = ROWS_BETWEEN_CHECKS.min(rows.num_rows() - start);
                self.write_to(&folder, &rows.slice(start, count), now)?;
            }
        }
        if self.table.rolling.due(self.checked, now) {
            self.checked = now;
            while let Some(folder) = self.open.find(|part| self.table.rolling.aged(part.opened(), now)) {
                self.close(&folder)?;
            }
        }
        Ok(())
    }

    fn write_to(&mut self, folder: &str, rows: &EventBatch, now: Instant) -> Result<()> {
        if !self.open.contains(folder) {
            let part = self.begin_part(folder, now)?;
            self.open.insert(folder, part);
        }
        if self.table.rolling.full(self.open.write(folder, rows)?) {
            self.close(folder)?;
        }
        Ok(())
    }

    fn begin_part(&mut self, folder: &str, now: Instant) -> Result<OpenPart> {
        let table = &self.table;
        let folder = if folder.is_empty() { table.folder.clone() } else { table.folder.join(folder) };
        self.folders.ensure(&folder)?;
        let part = Part::new(&folder, &self.run, self.begun, table.format.extension());
        self.begun += 1;
        let writer = table.format.writer(Arc::clone(table.layout.schema()))?;
        Ok(OpenPart::new(StagedPart::create(part)?, writer, now))
    }

    fn close(&mut self, folder: &str) -> Result<()> {
        self.closed.extend(self.open.close(folder)?);
        Ok(())
    }

    fn prepare_epoch(&mut self, epoch: Epoch) -> Result<()> {
        while let Some(folder) = self.open.find(|_| true) {
            self.close(&folder)?;
        }
        if self.table.mode == WriteMode::Overwrite {
            self.replaced_folders(&self.closed).iter().try_for_each(|folder| replaceable(folder).map(drop))?;
        }
        self.folders.sync()?;
        // A checkpoint may name the parts: their hidden names have to last, too.
        sync_folders(&self.closed)?;
        self.begun_prepared = self.begun;
        self.prepared.insert(epoch, std::mem::take(&mut self.closed));
        Ok(())
    }

    /// The folders whose present files the parts replace.
    fn replaced_folders(&self, parts: &[Part]) -> BTreeSet<PathBuf> {
        let written = parts.iter().map(|part| part.folder().to_owned());
        // A table without partitions is replaced by no rows, too.
        let whole = (!self.table.layout.partitioned()).then(|| self.table.folder.clone());
        written.chain(whole).collect()
    }

    fn commit_epoch(&mut self, epoch: Epoch) -> Result<()> {
        while let Some((&first, parts)) = self.prepared.first_key_value().filter(|(first, _)| **first <= epoch) {
            let decided = match self.table.mode {
                WriteMode::Append if self.decides(parts) => Some(self.decide(&BTreeSet::new(), parts)?),
                WriteMode::Append => publish(parts).map(|()| None)?,
                WriteMode::Overwrite => Some(self.decide(&self.replaced_folders(parts), parts)?),
            };
            // From here on the parts can't be taken back; those of a replacement can only be put in place.
            self.prepared.remove(&first);
            match (decided, self.table.mode) {
                (None, _) => {}
                (Some(replacement), WriteMode::Overwrite) => replacement.finish()?,
                (Some(addition), WriteMode::Append) => {
                    if let Err((e, hidden)) = addition.show() {
                        self.prepared.insert(first, hidden);
                        return Err(e);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether these parts are decided before the first of them is renamed. One rename is whole, or has not happened. A
    /// live run that is not at its end has shown other epochs, or will: killed, it has left some of its rows in any case,
    /// and readers of the table would meet a decision at every commit.
    fn decides(&self, parts: &[Part]) -> bool {
        self.ended && parts.len() > 1
    }

    fn decide(&self, replaced: &BTreeSet<PathBuf>, parts: &[Part]) -> Result<Replacement> {
        Replacement::decide(&self.table.folder, &self.run, replaced, parts)
    }

    fn prepared_before(&self, commitment: &Commitment) -> Result<Prepared> {
        match self.table.mode {
            WriteMode::Overwrite => Err(Error::internal("a run that overwrites has no checkpoint to go on from")),
            WriteMode::Append => Prepared::decode(&self.table.folder, commitment),
        }
    }

    fn go_on(&mut self, commitment: &Commitment) -> Result<()> {
        let prepared = self.prepared_before(commitment)?;
        let table = &self.table;
        let heads = table.layout.heads();
        Recovered { folder: &table.folder, heads, extension: table.format.extension() }.go_back_to(&prepared)?;
        (self.run, self.begun, self.begun_prepared) = (prepared.run, prepared.begun, prepared.begun);
        Ok(())
    }

    fn discard(&mut self) -> Result<()> {
        let prepared = std::mem::take(&mut self.prepared).into_values().flatten();
        let parts = self.open.take().into_iter().chain(std::mem::take(&mut self.closed)).chain(prepared);
        // Every part is tried, whatever happens to the one before it.
        let outcomes: Vec<Result<()>> = parts.map(|part| part.discard()).collect();
        outcomes.into_iter().collect::<Result<()>>()?;
        self.folders.remove_empty()
    }
}

#[async_trait]
impl Sink for FilesystemSink {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        blocking(|| self.write_rows(batch))
    }

    async fn progress(&mut self, watermark: Watermark) -> Result<()> {
        self.ended = watermark == Watermark::MAX;
        Ok(())
    }

    async fn prepare(&mut self, epoch: Epoch) -> Result<()> {
        blocking(|| self.prepare_epoch(epoch))
    }

    fn commitment(&self) -> Commitment {
        let parts = self.prepared.values().flatten().cloned().collect();
        Prepared { run: self.run.clone(), begun: self.begun_prepared, parts }.encode(&self.table.folder)
    }

    async fn commit(&mut self, epoch: Epoch) -> Result<()> {
        blocking(|| self.commit_epoch(epoch))
    }

    async fn recover(&mut self, commitment: &Commitment) -> Result<()> {
        blocking(|| self.go_on(commitment))
    }

    async fn adopt(&mut self, commitment: &Commitment) -> Result<()> {
        blocking(|| recover::adopt(&self.prepared_before(commitment)?))
    }

    async fn abort(&mut self) -> Result<()> {
        blocking(|| self.discard())
    }
}

/// Makes parts visible; all of them, or if one can't be renamed, none.
fn publish(parts: &[Part]) -> Result<()> {
    for (number, part) in parts.iter().enumerate() {
        if let Err(e) = part.publish() {
            return Err(match parts[..number].iter().try_for_each(Part::hide) {
                Ok(()) => e,
                Err(left) => e.hint(format!("also, what was renamed could not be renamed back: {left}")),
            });
        }
    }
    sync_folders(parts)
}

/// Makes the names of parts survive a crash of the machine.
fn sync_folders(parts: &[Part]) -> Result<()> {
    let folders: BTreeSet<&Path> = parts.iter().map(Part::folder).collect();
    folders.into_iter().try_for_each(sync_folder)
}

#[cfg(test)]
mod tests;
