//! Decides what the next checkpoint writes, and what it only names: a pure function of the last one and the changes.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::{Manifest, Owner, PartRef};
use crate::section::{Change, Rows, Section, StateChanges};

/// A section of more parts gets one part for all that it had.
const MAX_PARTS: usize = 32;

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
}

/// The sections of all owners, each with its pieces in order.
pub(super) type Chains = BTreeMap<Owner, BTreeMap<Section, Vec<Link>>>;

/// What the checkpoint after `last` consists of.
pub(super) fn next(last: Option<&Manifest>, changes: Vec<(Owner, StateChanges)>) -> Chains {
    let mut chains = last.map(chains_of).unwrap_or_default();
    for (owner, changes) in changes {
        let sections = chains.entry(owner).or_default();
        for (section, change) in changes.into_changes() {
            match change {
                Change::Append(rows) => sections.entry(section).or_default().push(Link::New(rows)),
                Change::Replace(rows) => {
                    sections.insert(section, rows.into_iter().map(Link::New).collect());
                }
                Change::Remove => drop(sections.remove(&section)),
            }
        }
    }
    chains.values_mut().flat_map(BTreeMap::values_mut).for_each(merge);
    if let Some(last) = last {
        let retired = retired(&chains, &last.files);
        let links = chains.values_mut().flat_map(BTreeMap::values_mut).flatten();
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
            (name, s.parts.iter().copied().map(Link::Old).collect())
        };
        owner.iter().map(section).collect()
    };
    manifest.state.iter().map(|(owner, parts)| (owner.clone(), sections(parts))).collect()
}

/// Makes one part of the old ones, where there are many.
fn merge(links: &mut Vec<Link>) {
    let old = links.iter().take_while(|link| matches!(link, Link::Old(_))).count();
    if old < MAX_PARTS {
        return;
    }
    let parts = links.drain(..old).filter_map(|link| if let Link::Old(part) = link { Some(part) } else { None });
    let merged = Link::Merged(parts.collect());
    links.insert(0, merged);
}

/// The files to give up, those first of which the least is still named.
fn retired(chains: &Chains, files: &BTreeMap<u64, u64>) -> BTreeSet<u64> {
    let mut named: BTreeMap<u64, u64> = BTreeMap::new();
    for link in chains.values().flat_map(BTreeMap::values).flatten() {
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
