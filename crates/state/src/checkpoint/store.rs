//! Writes checkpoints one after the other, finds the last, and reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidemill_core::{Epoch, Error, ErrorKind, Result};

use super::chains::{self, Chain};
use super::files::{
    MANIFEST, epoch_of_rest, epochs, manifest_name, number, parts_name, read_manifest, read_state,
    staged_manifest_name, summary,
};
use super::job::JobIdentity;
use super::manifest::{FORMAT, Manifest, Owner, SectionParts};
use super::place::Place;
use super::pulse::Pulse;
use super::run::Run;
use super::savepoint::SavepointWriter;
use super::writer::PartsWriter;
use crate::section::{State, StateChanges};
use crate::spill::SpillFolder;

/// What to do where checkpoints are of another job.
const OTHER_JOB: &str = "run the file and the --parallelism that the checkpoints are of, or give this job a --data-dir of \
                         its own, where it can begin from a savepoint of that one ('tidemill savepoint')";

/// What to do where another run has the epoch.
const ANOTHER_PROCESS: &str = "stop one of the two, or give each a place of its own ('execution.checkpointing.dir'); the \
                               last checkpoint there is whole";

/// What a job hands over at a cut.
#[derive(Debug)]
pub struct Snapshot {
    /// The number of the cut.
    pub epoch: Epoch,
    /// The job has come to the end of its input.
    pub finished: bool,
    /// What has changed since the snapshot before; owners that are not named are as they were.
    pub changes: Vec<(Owner, StateChanges)>,
    /// The longest that a task took no row because of the cut.
    pub longest_pause: Duration,
}

/// How many checkpoints are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention(pub usize);

/// What a checkpoint has cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Bytes of parts and manifest.
    pub bytes: u64,
}

/// A checkpoint that is there.
#[derive(Debug)]
pub struct Summary {
    /// Its number.
    pub epoch: Epoch,
    /// Its manifest, or why that can't be read.
    pub manifest: Result<Manifest>,
    /// The bytes that were written for it, parts and manifest; 0 where the manifest can't be read.
    pub written_bytes: u64,
}

/// The checkpoints of one job in one place.
#[derive(Debug)]
pub struct CheckpointStore {
    place: Place,
    run: Run,
    retention: Retention,
    job: JobIdentity,
    /// The savepoint that the job began from.
    origin: Option<String>,
    /// Is shared while a savepoint is made: then what it is made of has to stay.
    hold: Arc<()>,
    /// The checkpoints that are kept, the last one last.
    kept: Vec<Manifest>,
    /// Files of epochs after the last, of a run that was killed or of one that is alive: that is not known before this
    /// run has these epochs itself.
    strangers: Vec<String>,
    passed_over: Option<(Epoch, Error)>,
    pulse: Pulse,
    /// Where state that is read is put, if not into memory.
    spill: Option<SpillFolder>,
}

impl CheckpointStore {
    /// The checkpoints in `place` of a job, of which `retention` are kept.
    #[must_use]
    pub fn new(place: Place, retention: Retention, job: impl Into<JobIdentity>) -> Self {
        Self {
            place,
            run: Run::draw(),
            retention,
            job: job.into(),
            origin: None,
            hold: Arc::default(),
            kept: vec![],
            strangers: vec![],
            passed_over: None,
            pulse: Pulse::default(),
            spill: None,
        }
    }

    /// The same; the state that it reads goes into files of `folder` instead of into memory.
    #[must_use]
    pub fn spilling(self, folder: SpillFolder) -> Self {
        Self { spill: Some(folder), ..self }
    }

    /// The job begins from this savepoint: its checkpoints say so.
    pub fn begin_from(&mut self, savepoint: &str) {
        self.origin = Some(savepoint.to_owned());
    }

    /// Makes a savepoint of the last checkpoint, if there is one. Until that is done nothing is deleted here.
    #[must_use]
    pub fn savepoint(&self) -> Option<SavepointWriter> {
        let last = self.kept.last()?;
        Some(SavepointWriter::new(self.place.clone(), last.clone(), Arc::clone(&self.hold)))
    }

    /// Where they are.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Beats while the place does what it is asked for.
    #[must_use]
    pub fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }

    /// All checkpoints in a place, the oldest first; damaged ones too.
    ///
    /// # Errors
    /// `Unavailable` if the place can't be read.
    pub async fn list(place: &Place) -> Result<Vec<Summary>> {
        let epochs = epochs(place).await?;
        let mut found = vec![];
        for epoch in epochs {
            found.push(summary(place, epoch).await);
        }
        Ok(found)
    }

    /// Finds the checkpoint to go on from: the last one, or with `allow_older` the last that can be read whole; later
    /// ones are deleted. So is what runs that were killed have left of epochs up to that one. What there is of later
    /// epochs may be of a run that is alive, and is deleted when this run has them. `None` if there is none.
    ///
    /// # Errors
    /// `Data` if the checkpoint is damaged, `Invalid` if it is of another job, `Unavailable` if another process writes
    /// there meanwhile.
    pub async fn resume(&mut self, allow_older: bool) -> Result<Option<BTreeMap<Owner, State>>> {
        let epochs = epochs(&self.place).await?;
        let mut state = None;
        let mut damage = None;
        for &epoch in epochs.iter().rev() {
            match self.read(epoch).await {
                Ok((manifest, read)) => {
                    self.origin.clone_from(&manifest.origin);
                    self.kept.push(manifest);
                    state = Some(read);
                    break;
                }
                // What could not be read this once is whole the next time.
                Err(e) if allow_older && e.kind() == ErrorKind::Data => {
                    damage.get_or_insert((epoch, e));
                }
                Err(e) => return Err(self.explain(epoch, e, &epochs).await),
            }
        }
        // Before anything counts as damaged, or is deleted: another process may have put a newer one in place.
        let names = self.names_if_alone(epochs.last().copied(), None).await?;
        if state.is_some() {
            self.passed_over = damage.map(|(epoch, e)| (Epoch(epoch), e));
        } else if let Some((epoch, e)) = damage {
            let none = format!("none of the checkpoints in '{}' can be read; checkpoint {epoch}", self.place);
            let hint = e.hint_text().map(str::to_owned).unwrap_or_else(|| {
                "bring back what is missing there, or give the job a new --data-dir: it then begins anew".to_owned()
            });
            return Err(e.context(none).hint(hint));
        }
        self.forget_others(&epochs, &names).await?;
        Ok(state)
    }

    /// The last checkpoint, if it was damaged and an older one is gone on from; and how it was damaged.
    #[must_use]
    pub fn passed_over(&self) -> Option<&(Epoch, Error)> {
        self.passed_over.as_ref()
    }

    /// The checkpoint that was written or resumed last.
    #[must_use]
    pub fn last(&self) -> Option<&Manifest> {
        self.kept.last()
    }

    /// Why one of the checkpoints that were listed can't be gone on from.
    async fn explain(&self, epoch: u64, e: Error, listed: &[u64]) -> Error {
        if e.kind() == ErrorKind::Invalid {
            return e;
        }
        // What another process has deleted, because it has a newer one, is not damaged.
        if e.kind() == ErrorKind::Data
            && let Err(another) = self.names_if_alone(listed.last().copied(), None).await
        {
            return another;
        }
        let has_older = listed.iter().any(|&older| older < epoch);
        let hint = match (e.hint_text(), has_older) {
            (Some(hint), _) => hint.to_owned(),
            (None, true) => "bring the file back, or go on from the checkpoint before with --allow-older-checkpoint: \
                             what was written since is taken back where the sink can, and written again"
                .to_owned(),
            (None, false) => {
                "bring the file back, or give the job a new --data-dir: it then begins anew, and what it has written \
                 stays and comes again"
                    .to_owned()
            }
        };
        e.context(format!("checkpoint {epoch} in '{}'", self.place)).hint(hint)
    }

    async fn read(&self, epoch: u64) -> Result<(Manifest, BTreeMap<Owner, State>)> {
        let manifest = read_manifest(&self.place, epoch).await?;
        if manifest.savepoint.is_some() {
            return Err(Error::invalid(format!("'{}' is a savepoint, not a place for checkpoints", self.place))
                .hint("begin from it with --from-savepoint, and a --data-dir of the job's own"));
        }
        if manifest.plan != self.job.plan {
            return Err(self.foreign(&manifest));
        }
        // Older versions did not tell them.
        if !manifest.operators.is_empty() && manifest.operators != self.job.operators {
            return Err(self.foreign_operators(&manifest));
        }
        let state = read_state(&self.place, &manifest, self.spill.as_ref()).await?;
        Ok((manifest, state))
    }

    /// The same where only settings of operators differ, or the way of their rows.
    fn foreign_operators(&self, manifest: &Manifest) -> Error {
        let then = manifest.operators.values();
        let mut differing = then.zip(self.job.operators.values()).filter(|(then, now)| then != now);
        let why = match differing.clone().find(|(then, now)| then.words != now.words).or_else(|| differing.next()) {
            Some((then, now)) if then.words != now.words => {
                format!(": '{}' was: {}; and is: {}", then.name, then.words, now.words)
            }
            Some((then, _)) => format!(": the columns of '{}' come from others", then.name),
            None => String::new(),
        };
        let message = format!("the checkpoints in '{}' are of another job than this one{why}", self.place);
        Error::invalid(message).hint(OTHER_JOB)
    }

    /// Says where the job differs from the one that wrote the checkpoint.
    fn foreign(&self, manifest: &Manifest) -> Error {
        let then = manifest.plan.lines().map(Some).chain(std::iter::repeat(None));
        let now = self.job.plan.lines().map(Some).chain(std::iter::repeat(None));
        let differing = then.zip(now).take_while(|(a, b)| a.is_some() || b.is_some()).find(|(a, b)| a != b);
        let (then, now) = differing.unwrap_or_default();
        let mut message = format!("the checkpoints in '{}' are of another job than this one", self.place);
        let line = |line: Option<&str>| line.map_or("nothing".to_owned(), |line| format!("'{}'", line.trim()));
        let _ = write!(message, ": where that one has {}, this one has {}", line(then), line(now));
        Error::invalid(message).hint(OTHER_JOB)
    }

    /// The names that are there, if none is of a checkpoint after `last` other than `own`: that is of another process.
    async fn names_if_alone(&self, last: Option<u64>, own: Option<u64>) -> Result<Vec<String>> {
        let names = self.place.names().await?;
        self.pulse.beat();
        let mut epochs = names.iter().filter_map(|name| number(name, MANIFEST));
        match epochs.find(|&epoch| Some(epoch) > last && Some(epoch) != own) {
            Some(epoch) => Err(self.another_process(epoch)),
            None => Ok(names),
        }
    }

    fn another_process(&self, epoch: u64) -> Error {
        let message = format!("another process writes to '{}': checkpoint {epoch} there is of another run", self.place);
        Error::unavailable(message).hint(ANOTHER_PROCESS)
    }

    /// Deletes what no kept checkpoint names, of the checkpoints that were listed and of what is called `names`.
    async fn forget_others(&mut self, epochs: &[u64], names: &[String]) -> Result<()> {
        let last = self.kept.last().map(|manifest| manifest.epoch);
        let mut older = vec![];
        for &epoch in epochs.iter().filter(|epoch| last.is_some_and(|last| **epoch < last)) {
            match read_manifest(&self.place, epoch).await {
                Ok(manifest) => older.push(manifest),
                // It is of no use to anybody.
                Err(e) if e.kind() == ErrorKind::Data => {}
                Err(e) => return Err(e),
            }
        }
        self.kept.splice(0..0, older);
        self.clean(epochs, names).await
    }

    /// Keeps as many as are wanted, and deletes the others of the checkpoints that were listed, and the files that none of
    /// them names.
    async fn clean(&mut self, epochs: &[u64], names: &[String]) -> Result<()> {
        let surplus = self.kept.len().saturating_sub(self.retention.0.max(1));
        self.kept.drain(..surplus);
        let kept: BTreeSet<u64> = self.kept.iter().map(|kept| kept.epoch).collect();
        // Manifests first: none may name a file that is gone.
        for epoch in epochs.iter().filter(|epoch| !kept.contains(*epoch)) {
            self.place.delete(&manifest_name(*epoch)).await?;
        }
        let named: BTreeSet<String> =
            self.kept.iter().flat_map(|kept| kept.files.keys().copied().map(parts_name)).collect();
        let last = kept.last().copied();
        for name in names.iter().filter(|name| !named.contains(*name)) {
            match epoch_of_rest(name) {
                // A run that is still at an epoch which is past does not get it any more ([`Self::claim`]).
                Some(epoch) if Some(epoch) <= last => self.place.delete(name).await?,
                Some(_) => self.strangers.push(name.clone()),
                None => {}
            }
        }
        Ok(())
    }

    /// Writes a checkpoint. When it returns, the checkpoint outlives a crash; if it fails, that is not known. Those that
    /// are too many now are still there ([`Self::drop_oldest`]).
    ///
    /// # Errors
    /// `Unavailable` if the place can't be written, or another process writes there; nothing of the other's is touched.
    pub async fn write(&mut self, snapshot: Snapshot) -> Result<Written> {
        let written = self.write_next(snapshot).await;
        // What another process has deleted, because it has a newer checkpoint, is not damaged.
        if written.as_ref().is_err_and(|e| e.kind() == ErrorKind::Data) {
            self.names_if_alone(self.last_epoch(), None).await?;
        }
        written
    }

    async fn write_next(&mut self, snapshot: Snapshot) -> Result<Written> {
        let Snapshot { epoch: Epoch(epoch), finished, changes, longest_pause } = snapshot;
        let last = self.kept.last();
        let chains = chains::next(last, changes);
        let file = self.run.file(epoch);
        let mut writer = PartsWriter::new(&self.place, &self.pulse, file);
        let mut state: BTreeMap<Owner, Vec<SectionParts>> = BTreeMap::new();
        for (owner, sections) in chains {
            let mut written = vec![];
            for (section, Chain { links, upserts }) in sections {
                let mut parts = vec![];
                for link in links {
                    writer.write(link, &mut parts).await?;
                }
                written.push(SectionParts { name: section.name.into_owned(), number: section.number, upserts, parts });
            }
            state.insert(owner, written);
        }
        let part_bytes = writer.finish().await?;
        let mut files: BTreeMap<u64, u64> = last.map(|last| last.files.clone()).unwrap_or_default();
        files.insert(file, part_bytes);
        let named: BTreeSet<u64> =
            state.values().flatten().flat_map(|section| &section.parts).map(|part| part.file).collect();
        files.retain(|file, _| named.contains(file));
        let manifest = Manifest {
            format: FORMAT,
            program: concat!("tidemill ", env!("CARGO_PKG_VERSION")).to_owned(),
            epoch,
            run: self.run.number(),
            created_ms: now_ms(),
            finished,
            longest_pause_us: u64::try_from(longest_pause.as_micros()).unwrap_or(u64::MAX),
            plan: self.job.plan.clone(),
            operators: self.job.operators.clone(),
            origin: self.origin.clone(),
            savepoint: None,
            files,
            state,
        };
        let bytes = part_bytes + self.claim(&manifest).await?;
        self.kept.push(manifest);
        Ok(Written { bytes })
    }

    /// Puts a manifest in place, which makes its epoch this run's; gives its bytes.
    async fn claim(&self, manifest: &Manifest) -> Result<u64> {
        let epoch = manifest.epoch;
        let text = manifest.encode()?;
        let bytes = text.len() as u64;
        let put = self.place.put(&manifest_name(epoch), &staged_manifest_name(self.run.file(epoch)), text).await?;
        self.pulse.beat();
        // It may be this one, where a store was asked twice because its first answer was lost.
        if !put && !read_manifest(&self.place, epoch).await.is_ok_and(|found| found == *manifest) {
            return Err(self.another_process(epoch));
        }
        // A run that others have overtaken finds the name free again once they have deleted what is too old.
        self.names_if_alone(self.last_epoch(), Some(epoch)).await?;
        Ok(bytes)
    }

    fn last_epoch(&self) -> Option<u64> {
        self.kept.last().map(|manifest| manifest.epoch)
    }

    /// Deletes the checkpoints that are too many, and the files that only they named, if no savepoint is made; also what
    /// other runs have left of the epoch that was written.
    ///
    /// # Errors
    /// `Unavailable` if one can't be deleted; the next run will.
    pub async fn drop_oldest(&mut self) -> Result<()> {
        self.drop_strangers().await?;
        if Arc::strong_count(&self.hold) > 1 {
            return Ok(());
        }
        let surplus = self.kept.len().saturating_sub(self.retention.0.max(1));
        let dropped: Vec<Manifest> = self.kept.drain(..surplus).collect();
        for manifest in &dropped {
            self.place.delete(&manifest_name(manifest.epoch)).await?;
            self.pulse.beat();
        }
        let named: BTreeSet<u64> = self.kept.iter().flat_map(|kept| kept.files.keys().copied()).collect();
        let gone: BTreeSet<u64> = dropped.iter().flat_map(|manifest| manifest.files.keys().copied()).collect();
        for file in gone.difference(&named) {
            self.place.delete(&parts_name(*file)).await?;
            self.pulse.beat();
        }
        Ok(())
    }

    /// Deletes what others have left of the last epoch. It is this run's, so none of them will name it.
    async fn drop_strangers(&mut self) -> Result<()> {
        let last = self.last_epoch();
        let (gone, later): (Vec<String>, Vec<String>) =
            std::mem::take(&mut self.strangers).into_iter().partition(|name| epoch_of_rest(name) == last);
        self.strangers = later;
        for name in &gone {
            self.place.delete(name).await?;
            self.pulse.beat();
        }
        Ok(())
    }
}

pub(super) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
