//! Writes the file of parts of one checkpoint.

use arrow::array::RecordBatch;
use tidemill_core::Result;

use super::chains::Link;
use super::files::{parts_name, read_parts};
use super::manifest::PartRef;
use super::part;
use super::place::{Growing, Place};
use super::pulse::Pulse;
use crate::section::Rows;
use crate::upserts::{Merge, Step};

/// Writes the file of parts of one checkpoint, if it has any.
pub(super) struct PartsWriter<'a> {
    place: &'a Place,
    pulse: &'a Pulse,
    file: Option<Growing>,
    number: u64,
    bytes: u64,
}

impl<'a> PartsWriter<'a> {
    /// The file `number` of `place`, which nobody else writes.
    pub(super) fn new(place: &'a Place, pulse: &'a Pulse, number: u64) -> Self {
        Self { place, pulse, file: None, number, bytes: 0 }
    }

    /// Writes a piece of a section, if it does not stand somewhere, and names its parts.
    pub(super) async fn write(&mut self, link: Link, parts: &mut Vec<PartRef>) -> Result<()> {
        match link {
            Link::Old(part) => parts.push(part),
            Link::New(rows) => {
                let (bytes, checksum) = match &rows {
                    Rows::Here(batch) => part::encode(batch)?,
                    Rows::Spilled(rows) => rows.encoded()?,
                };
                parts.push(self.append(bytes, checksum).await?);
            }
            Link::Copied(part) => {
                let name = parts_name(part.file);
                let bytes = self.place.get_range(&name, part.offset, part.bytes).await?;
                part::check(&bytes, part.xxh3).map_err(|e| e.context(name))?;
                let copied = self.append(bytes.into(), part.xxh3).await?;
                parts.push(PartRef { goes_on: part.goes_on, ..copied });
            }
            Link::Merged(merged) => {
                let batch = part::concat(&read_parts(self.place, &merged).await?)?;
                self.write_instead(merged, batch, parts).await?;
            }
            Link::Compacted { parts: compacted, whole } => self.compact(&compacted, whole, parts).await?,
        }
        Ok(())
    }

    /// Writes one part in place of some; if there is none, they stay.
    async fn write_instead(
        &mut self,
        replaced: Vec<PartRef>,
        batch: Option<RecordBatch>,
        parts: &mut Vec<PartRef>,
    ) -> Result<()> {
        let Some(batch) = batch else {
            parts.extend(replaced);
            return Ok(());
        };
        if batch.num_rows() > 0 {
            let (bytes, checksum) = part::encode(&batch)?;
            parts.push(self.append(bytes, checksum).await?);
        }
        Ok(())
    }

    /// Writes parts in place of some in which each key has one row; of those that go on one from the other, one is in memory
    /// at a time.
    async fn compact(&mut self, compacted: &[PartRef], whole: bool, parts: &mut Vec<PartRef>) -> Result<()> {
        let mut runs: Vec<&[PartRef]> = compacted.chunk_by(|_, next| next.goes_on).collect();
        let mut merge = Merge::new(runs.len(), whole);
        let mut goes_on = false;
        loop {
            match merge.step()? {
                Step::Wants(run) => {
                    let (next, rest) = runs[run].split_at(runs[run].len().min(1));
                    runs[run] = rest;
                    let piece = read_parts(self.place, next).await?.pop();
                    merge.give(run, piece)?;
                }
                Step::Piece(batch) => {
                    let (bytes, checksum) = part::encode(&batch)?;
                    parts.push(PartRef { goes_on, ..self.append(bytes, checksum).await? });
                    goes_on = true;
                }
                Step::Done => return Ok(()),
            }
        }
    }

    /// Writes a part.
    pub(super) async fn append(&mut self, bytes: Vec<u8>, xxh3: u64) -> Result<PartRef> {
        let part = PartRef { file: self.number, offset: self.bytes, bytes: bytes.len() as u64, xxh3, goes_on: false };
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(self.place.create(&parts_name(self.number)).await?),
        };
        file.write(bytes, self.pulse).await?;
        self.bytes += part.bytes;
        Ok(part)
    }

    /// How many bytes it has got.
    pub(super) async fn finish(self) -> Result<u64> {
        if let Some(file) = self.file {
            file.finish(self.pulse).await?;
            self.pulse.beat();
        }
        Ok(self.bytes)
    }
}
