//! Decides what the next checkpoint writes, and what it only names: a pure function of the last one and the changes.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::{Manifest, Owner, PartRef};
use crate::section::{Change, Rows, Section, StateChanges};

/// A section of more parts gets one part for all that it had.
const MAX_PARTS: usize = 32;

/// A section of keys and values has fewer: of each key it needs one row. Parts that go on one from the other count as one.
const MAX_UPSERTS: usize = 8;

/// Files may have so many bytes that no section names any more, and as many again as there are that one does.
const SLACK_BYTES: u64 = 1 << 20;

/// One piece of a section in the checkpoint to come.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Link {
    /// Stays where it is.
    Old(PartRef),
    /// Is written.
    New(Rows),
    /// Is copied, because few others are left in its file.
    Copied(PartRef),
    /// Are made one part.
    Merged(Vec<PartRef>),
    /// Are made parts that go on one from the other, in which each key has one row.
    Compacted {
        parts: Vec<PartRef>,
        /// Nothing stands before them.
        whole: bool,
    },
}

/// The pieces of a section, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Chain {
    pub(super) links: Vec<Link>,
    /// Its rows are keys with their values, and the last one of a key counts.
    pub(super) upserts: bool,
}

/// The sections of all owners.
pub(super) type Chains = BTreeMap<Owner, BTreeMap<Section, Chain>>;

/// What the checkpoint after `last` consists of.
pub(super) fn next(last: Option<&Manifest>, changes: Vec<(Owner, StateChanges)>) -> Chains {
    let mut chains = last.map(chains_of).unwrap_or_default();
    for (owner, changes) in changes {
        let sections = chains.entry(owner).or_default();
        for (section, change) in changes.into_changes() {
            match change {
                Change::Append(rows) => sections.entry(section).or_default().links.push(Link::New(rows)),
                Change::Upsert(rows) => {
                    let chain = sections.entry(section).or_default();
                    chain.upserts = true;
                    chain.links.push(Link::New(rows));
                }
                Change::Replace(rows) => {
                    let links = rows.into_iter().map(Link::New).collect();
                    sections.insert(section, Chain { links, upserts: false });
                }
                Change::Remove => drop(sections.remove(&section)),
            }
        }
    }
    chains.values_mut().flat_map(BTreeMap::values_mut).for_each(Chain::shorten);
    if let Some(last) = last {
        let retired = retired(&chains, &last.files);
        let links = chains.values_mut().flat_map(BTreeMap::values_mut).flat_map(|chain| &mut chain.links);
        for link in links {
            match link {
                Link::Old(part) if retired.contains(&part.file) => *link = Link::Copied(*part),
                _ => {}
            }
        }
    }
    chains
}

fn chains_of(manifest: &Manifest) -> Chains {
    let sections = |owner: &[super::manifest::SectionParts]| {
        let section = |s: &super::manifest::SectionParts| {
            let name = Section { name: s.name.clone().into(), number: s.number };
            (name, Chain { links: s.parts.iter().copied().map(Link::Old).collect(), upserts: s.upserts })
        };
        owner.iter().map(section).collect()
    };
    manifest.state.iter().map(|(owner, parts)| (owner.clone(), sections(parts))).collect()
}

impl Chain {
    /// Makes one part of old ones, or as many as go on one from the other, where there are many.
    fn shorten(&mut self) {
        let old = self.links.iter().map_while(|link| if let Link::Old(part) = link { Some(*part) } else { None });
        let old: Vec<PartRef> = old.collect();
        let runs: Vec<&[PartRef]> = old.chunk_by(|_, next| next.goes_on).collect();
        if runs.len() < if self.upserts { MAX_UPSERTS } else { MAX_PARTS } {
            return;
        }
        let from: usize = if self.upserts { runs[..tail(&runs)].iter().map(|run| run.len()).sum() } else { 0 };
        let parts: Vec<PartRef> = old[from..].to_vec();
        let shorter = match self.upserts {
            true => Link::Compacted { parts, whole: from == 0 },
            false => Link::Merged(parts),
        };
        self.links.splice(from..old.len(), [shorter]);
    }
}

/// Where those runs begin that together are as large as the one before them, at least: a large run is written anew
/// only when as much has come behind it, so that what is written follows the change, however large the state.
fn tail(runs: &[&[PartRef]]) -> usize {
    let bytes = runs.iter().map(|run| run.iter().map(|part| part.bytes).sum::<u64>());
    let bytes: Vec<u64> = bytes.collect();
    let mut behind: u64 = bytes.iter().sum();
    let reached = bytes.iter().position(|bytes| {
        behind -= bytes;
        *bytes <= behind
    });
    // If each is larger than all behind it together, the last two are.
    reached.unwrap_or(runs.len().saturating_sub(2))
}

/// The files to give up, those first of which the least is still named.
fn retired(chains: &Chains, files: &BTreeMap<u64, u64>) -> BTreeSet<u64> {
    let mut named: BTreeMap<u64, u64> = BTreeMap::new();
    for link in chains.values().flat_map(BTreeMap::values).flat_map(|chain| &chain.links) {
        if let Link::Old(part) = link {
            *named.entry(part.file).or_default() += part.bytes;
        }
    }
    // What is named of a file, and what it has.
    let mut kept: Vec<(u64, u64, u64)> =
        named.iter().map(|(file, bytes)| (*file, *bytes, files.get(file).copied().unwrap_or(*bytes))).collect();
    kept.sort_by(|a, b| (u128::from(a.1) * u128::from(b.2)).cmp(&(u128::from(b.1) * u128::from(a.2))));
    let live: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
    let mut all: u64 = kept.iter().map(|(_, _, bytes)| bytes).sum();
    let mut retired = BTreeSet::new();
    for (file, bytes, of_file) in kept {
        if all <= 2 * live + SLACK_BYTES {
            break;
        }
        all -= of_file - bytes;
        retired.insert(file);
    }
    retired
}

#[cfg(test)]
mod tests;
