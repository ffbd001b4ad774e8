//! The files of a place: what they are called, and what is read of them.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};
use tidemill_core::{Error, Result};

use super::manifest::{Manifest, Owner, PartRef, SectionParts};
use super::part;
use super::place::Place;
use crate::section::{Rows, Section, State};

pub(super) const MANIFEST: &str = ".manifest";
pub(super) const PARTS: &str = ".parts";

/// How many parts are read at once.
const READS: usize = 4;

/// All that a checkpoint names.
pub(super) async fn read_state(place: &Place, manifest: &Manifest) -> Result<BTreeMap<Owner, State>> {
    let mut state: BTreeMap<Owner, State> = BTreeMap::new();
    let sections = manifest.state.iter().flat_map(|(owner, sections)| {
        state.insert(owner.clone(), State::default());
        sections.iter().map(move |section| (owner, section))
    });
    let sections: Vec<(&Owner, &SectionParts)> = sections.collect();
    let read = sections.into_iter().map(|(owner, section)| async move {
        let name = Section { name: section.name.clone().into(), number: section.number };
        Ok::<_, Error>((owner.clone(), name, read_parts(place, &section.parts).await?))
    });
    let mut read = stream::iter(read).buffer_unordered(READS);
    while let Some((owner, section, batches)) = read.try_next().await? {
        state.entry(owner).or_default().insert(section, batches.into_iter().map(Rows::Here).collect());
    }
    drop(read);
    Ok(state)
}

pub(super) async fn read_parts(place: &Place, parts: &[PartRef]) -> Result<Vec<RecordBatch>> {
    stream::iter(parts).then(|part| read_part(place, *part)).try_collect().await
}

async fn read_part(place: &Place, part: PartRef) -> Result<RecordBatch> {
    let name = parts_name(part.file);
    let bytes = place.get_range(&name, part.offset, part.bytes).await?;
    part::decode(&bytes, part.xxh3).map_err(|e| e.context(name))
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

/// The number in a name that ends so.
pub(super) fn number(name: &str, end: &str) -> Option<u64> {
    name.strip_suffix(end)?.parse().ok()
}
