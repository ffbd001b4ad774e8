//! The files of a place: what they are called, and what is read of them.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};
use tidemill_core::{Epoch, Error, Result};

use super::manifest::{Manifest, Owner, PartRef, SectionParts};
use super::part;
use super::place::{Place, UNFINISHED, blocking};
use super::run::epoch_of;
use super::store::Summary;
use crate::section::{Rows, Section, State};
use crate::spill::{SpillFolder, SpillWriter, SpilledRows};

pub(super) const MANIFEST: &str = ".manifest";
pub(super) const PARTS: &str = ".parts";

/// How many parts are read at once.
const READS: usize = 4;

/// All that a checkpoint names. With `spill` it goes into files there instead of into memory.
pub(super) async fn read_state(
    place: &Place,
    manifest: &Manifest,
    spill: Option<&SpillFolder>,
) -> Result<BTreeMap<Owner, State>> {
    let mut state: BTreeMap<Owner, State> = BTreeMap::new();
    let mut alike: Vec<(&Owner, &[SectionParts])> = vec![];
    for (owner, sections) in &manifest.state {
        state.insert(owner.clone(), State::default());
        alike.extend(sections.chunk_by(|a, b| a.name == b.name).map(|sections| (owner, sections)));
    }
    let read = alike.into_iter().map(|(owner, sections)| async move {
        Ok::<_, Error>((owner.clone(), read_sections(place, sections, spill).await?))
    });
    let mut read = stream::iter(read).buffer_unordered(READS);
    while let Some((owner, sections)) = read.try_next().await? {
        let of_owner = state.entry(owner).or_default();
        sections.into_iter().for_each(|(section, rows)| of_owner.insert(section, rows));
    }
    drop(read);
    Ok(state)
}

/// Sections of one name, into one file where they are not to be in memory.
async fn read_sections(
    place: &Place,
    sections: &[SectionParts],
    spill: Option<&SpillFolder>,
) -> Result<Vec<(Section, Vec<Rows>)>> {
    let mut file = spill.map(SpillFolder::file).transpose()?;
    let mut read = vec![];
    for SectionParts { name, number, parts, .. } in sections {
        let mut rows = vec![];
        for part in parts {
            rows.push(match &mut file {
                None => Rows::Here(read_part(place, *part).await?),
                Some(file) => Rows::Spilled(spill_part(place, *part, file).await?),
            });
        }
        read.push((Section { name: name.clone().into(), number: *number }, rows));
    }
    Ok(read)
}

pub(super) async fn read_parts(place: &Place, parts: &[PartRef]) -> Result<Vec<RecordBatch>> {
    stream::iter(parts).then(|part| read_part(place, *part)).try_collect().await
}

async fn read_part(place: &Place, part: PartRef) -> Result<RecordBatch> {
    let name = parts_name(part.file);
    let bytes = place.get_range(&name, part.offset, part.bytes).await?;
    // On a thread of its own, as many as are read at once: a large state is much to decode.
    blocking(move || part::decode(bytes.into(), part.xxh3)).await.map_err(|e| e.context(name))
}

/// Puts a part into a file as it is.
async fn spill_part(place: &Place, part: PartRef, file: &mut SpillWriter) -> Result<SpilledRows> {
    let name = parts_name(part.file);
    let bytes = place.get_range(&name, part.offset, part.bytes).await?;
    part::check(&bytes, part.xxh3).map_err(|e| e.context(name))?;
    file.append(&bytes, part.xxh3)
}

/// A checkpoint that is there, with what it has cost.
pub(super) async fn summary(place: &Place, epoch: u64) -> Summary {
    let read = place.get(&manifest_name(epoch)).await;
    let read = read.and_then(|text| Ok((Manifest::decode(&text)?, text.len() as u64)));
    let written_bytes = read.as_ref().map_or(0, |(manifest, bytes)| manifest.part_bytes() + bytes);
    Summary { epoch: Epoch(epoch), manifest: read.map(|(manifest, _)| manifest), written_bytes }
}

pub(super) async fn read_manifest(place: &Place, epoch: u64) -> Result<Manifest> {
    Manifest::decode(&place.get(&manifest_name(epoch)).await?)
}

/// The numbers of the checkpoints that are there, in order.
pub(super) async fn epochs(place: &Place) -> Result<Vec<u64>> {
    Ok(place.names().await?.iter().filter_map(|name| number(name, MANIFEST)).collect())
}

pub(super) fn manifest_name(epoch: u64) -> String {
    format!("{epoch:010}{MANIFEST}")
}

pub(super) fn parts_name(file: u64) -> String {
    format!("{file:010}{PARTS}")
}

/// What a manifest is called until it is whole, whose run writes its parts to the file of this number: so no other run
/// uses the name.
pub(super) fn staged_manifest_name(file: u64) -> String {
    format!("{file:010}{MANIFEST}{UNFINISHED}")
}

/// The epoch that a file was written for, if it counts only where a manifest names it: parts, and what is not whole.
pub(super) fn epoch_of_rest(name: &str) -> Option<u64> {
    let file = match name.strip_suffix(UNFINISHED) {
        Some(unfinished) => number(unfinished, PARTS).or_else(|| number(unfinished, MANIFEST)),
        None => number(name, PARTS),
    };
    file.map(epoch_of)
}

/// The number in a name that ends so.
pub(super) fn number(name: &str, end: &str) -> Option<u64> {
    name.strip_suffix(end)?.parse().ok()
}
