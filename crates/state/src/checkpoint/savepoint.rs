//! Savepoints: a checkpoint that stands by itself, is the user's, and that another job can begin from.
//!
//! It has the form of a checkpoint in a place of its own, with all parts in one file, so whatever reads checkpoints reads it.
//! No run writes or deletes there.

use std::collections::BTreeMap;
use std::process;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tidemill_core::{Epoch, Error, ErrorKind, Result};
use xxhash_rust::xxh3::xxh3_64;

use super::chains::Link;
use super::files::{
    MANIFEST, PARTS, epochs, manifest_name, number, parts_name, read_manifest, read_state, staged_manifest_name,
};
use super::job::OperatorIdentity;
use super::manifest::{Manifest, Owner, PartRef, SectionParts};
use super::place::{Place, UNFINISHED};
use super::pulse::Pulse;
use super::run::Run;
use super::store::{Written, now_ms};
use super::writer::PartsWriter;
use crate::section::{Section, State, StateChanges};
use crate::spill::SpillFolder;

/// What a job had come to, for another job to begin from.
#[derive(Debug)]
pub struct Savepoint {
    place: Place,
    manifest: Manifest,
    id: String,
}

impl Savepoint {
    /// The savepoint in a place.
    ///
    /// # Errors
    /// `Invalid` if there is none, `Data` if it is damaged or was made of a checkpoint that does not tell its operators,
    /// `Unavailable` if it can't be read.
    pub async fn open(place: Place) -> Result<Self> {
        let none = |what: &str| {
            Error::invalid(format!("there is no savepoint in '{place}'{what}"))
                .hint("make one with 'tidemill savepoint --data-dir DIR TO', and give the same TO to --from-savepoint")
        };
        let found = epochs(&place).await.map_err(|e| match e.hint_text() {
            Some(_) => e,
            None => e.hint("give --from-savepoint the folder or URL that 'tidemill savepoint' was given as TO"),
        })?;
        let &[epoch] = &found[..] else { return Err(none("")) };
        let manifest = read_manifest(&place, epoch).await.map_err(|e| e.context(format!("the savepoint '{place}'")))?;
        let Some(id) = manifest.savepoint.clone() else { return Err(none(": that is a checkpoint")) };
        if manifest.operators.is_empty() {
            return Err(Error::data(format!(
                "the savepoint '{place}' was made of a checkpoint that does not say which operators it is of"
            ))
            .hint(format!(
                "it was written by {}: run the job once with this version, stop it, and make the savepoint then",
                manifest.program
            )));
        }
        Ok(Self { place, manifest, id })
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What tells it from all others.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The number of the cut that it is.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.manifest.epoch()
    }

    /// The job that it is of, in words.
    #[must_use]
    pub fn plan(&self) -> &str {
        self.manifest.plan()
    }

    /// The operators of that job, by the names that it gave.
    #[must_use]
    pub fn operators(&self) -> &BTreeMap<String, OperatorIdentity> {
        &self.manifest.operators
    }

    /// The whole state, by owner. With `spill` it goes into files there instead of into memory.
    ///
    /// # Errors
    /// `Data` if it is damaged, `Unavailable` if it can't be read.
    pub async fn read(&self, spill: Option<&SpillFolder>) -> Result<BTreeMap<Owner, State>> {
        let read = read_state(&self.place, &self.manifest, spill).await;
        read.map_err(|e| e.context(format!("the savepoint '{}'", self.place)))
    }
}

/// Makes a savepoint of a checkpoint. What the checkpoint names stays until this is dropped.
#[derive(Debug)]
pub struct SavepointWriter {
    from: Place,
    checkpoint: Manifest,
    /// What is another since the checkpoint.
    newer: BTreeMap<Owner, State>,
    _hold: Arc<()>,
}

impl SavepointWriter {
    pub(super) fn new(from: Place, checkpoint: Manifest, hold: Arc<()>) -> Self {
        Self { from, checkpoint, newer: BTreeMap::new(), _hold: hold }
    }

    /// Makes one of the last checkpoint in a place, where nobody else may write meanwhile.
    ///
    /// # Errors
    /// `Invalid` if there is none, `Data` if its manifest is damaged, `Unavailable` if the place can't be read.
    pub async fn of_last(from: Place) -> Result<Self> {
        let Some(&last) = epochs(&from).await?.last() else {
            return Err(Error::invalid(format!("there are no checkpoints in '{from}'")).hint(
                "give the --data-dir of a live run; where 'execution.checkpointing.dir' puts its checkpoints elsewhere, \
                 that as --from",
            ));
        };
        let checkpoint = read_manifest(&from, last).await;
        let checkpoint = checkpoint.map_err(|e| e.context(format!("checkpoint {last} in '{from}'")))?;
        Ok(Self::new(from, checkpoint, Arc::default()))
    }

    /// The whole state of some owners has become this since the checkpoint.
    #[must_use]
    pub fn with(mut self, newer: impl IntoIterator<Item = (Owner, StateChanges)>) -> Self {
        for (owner, changes) in newer {
            self.newer.entry(owner).or_default().apply(changes);
        }
        self
    }

    /// The number of the cut.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.checkpoint.epoch()
    }

    /// Writes it to a place that has neither checkpoints nor a savepoint. If that fails, nothing is left there.
    ///
    /// # Errors
    /// `Invalid` if the place is in use, or the job has come to its end; `Data` if the checkpoint is damaged; `Unavailable`
    /// if the checkpoint can't be read or the place not be written.
    pub async fn write(self, to: &Place) -> Result<Written> {
        if self.checkpoint.finished() {
            return Err(Error::invalid("the job has come to the end of its input: there is nothing to go on with")
                .hint("to compute something else of the same input, run the changed file from its beginning"));
        }
        if to.names().await?.iter().any(|name| number(name, MANIFEST).or(number(name, PARTS)).is_some()) {
            return Err(in_use(to));
        }
        let run = Run::draw();
        match self.copy(to, run).await {
            Ok(written) => Ok(written),
            Err(e) => match self.take_back(to, run).await {
                Ok(()) => Err(e),
                Err(left) => Err(e.hint(format!("also, what was written of it could not be deleted: {left}"))),
            },
        }
    }

    /// Deletes what there is of one that has failed; what another process has written there meanwhile stays.
    async fn take_back(&self, to: &Place, run: Run) -> Result<()> {
        let (epoch, file) = (self.checkpoint.epoch, run.file(self.checkpoint.epoch));
        // The manifest first: none may name a file that is gone.
        match read_manifest(to, epoch).await {
            Ok(found) if found.run == run.number() => to.delete(&manifest_name(epoch)).await?,
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::Data => {}
            Err(e) => return Err(e),
        }
        let parts = parts_name(file);
        for name in [staged_manifest_name(file), format!("{parts}{UNFINISHED}"), parts] {
            to.delete(&name).await?;
        }
        Ok(())
    }

    async fn copy(&self, to: &Place, run: Run) -> Result<Written> {
        let (epoch, file, pulse) = (self.checkpoint.epoch, run.file(self.checkpoint.epoch), Pulse::default());
        let mut writer = PartsWriter::new(to, &pulse, file);
        let mut state: BTreeMap<Owner, Vec<SectionParts>> = BTreeMap::new();
        for (owner, sections) in self.checkpoint.state.iter().filter(|(owner, _)| !self.newer.contains_key(*owner)) {
            let mut copied = vec![];
            for section in sections {
                let mut parts = vec![];
                for part in &section.parts {
                    let written = writer.append(self.read(*part).await?, part.xxh3).await?;
                    parts.push(PartRef { goes_on: part.goes_on, ..written });
                }
                copied.push(SectionParts { parts, ..section.clone() });
            }
            state.insert(owner.clone(), copied);
        }
        for (owner, newer) in &self.newer {
            let mut written = vec![];
            for (Section { name, number }, rows) in newer.sections() {
                let mut parts = vec![];
                for rows in rows {
                    writer.write(Link::New(rows.clone()), &mut parts).await?;
                }
                written.push(SectionParts { name: name.to_string(), number: *number, upserts: false, parts });
            }
            state.insert(owner.clone(), written);
        }
        let bytes = writer.finish().await?;
        let files = if bytes > 0 { [(file, bytes)].into() } else { BTreeMap::new() };
        let id = Some(new_id(epoch));
        let manifest = Manifest {
            run: run.number(),
            created_ms: now_ms(),
            savepoint: id,
            origin: None,
            files,
            state,
            ..self.checkpoint.clone()
        };
        let text = manifest.encode()?;
        let bytes = bytes + text.len() as u64;
        match to.put(&manifest_name(epoch), &staged_manifest_name(file), text).await? {
            true => Ok(Written { bytes }),
            false => Err(in_use(to)),
        }
    }

    /// The bytes of a part, as they were written.
    async fn read(&self, part: PartRef) -> Result<Vec<u8>> {
        let name = parts_name(part.file);
        let bytes: Vec<u8> = self.from.get_range(&name, part.offset, part.bytes).await?.into();
        match xxh3_64(&bytes) == part.xxh3 {
            true => Ok(bytes),
            false => {
                Err(Error::data(format!("a part of '{}/{name}' is damaged: its checksum does not fit", self.from))
                    .hint("bring the file back; --allow-older-checkpoint lets a run go on without it"))
            }
        }
    }
}

fn in_use(to: &Place) -> Error {
    Error::invalid(format!("'{to}' has a savepoint or checkpoints already")).hint("name a place that is not there yet")
}

/// No other savepoint has it.
fn new_id(epoch: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{epoch}-{:016x}", xxh3_64(format!("{now} {}", process::id()).as_bytes()))
}

#[cfg(test)]
mod tests;
