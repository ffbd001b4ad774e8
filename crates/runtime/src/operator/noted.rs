//! What has changed since the last snapshot.

use std::collections::BTreeSet;

/// The names of things that have changed. Before the first snapshot nothing is noted, since that one tells all: where no
/// snapshots are taken, nothing piles up.
#[derive(Debug)]
pub(crate) struct Noted<T> {
    changed: Option<BTreeSet<T>>,
}

impl<T> Default for Noted<T> {
    fn default() -> Self {
        Self { changed: None }
    }
}

impl<T: Ord> Noted<T> {
    /// From now on, since a snapshot has all that there is.
    pub(crate) fn begin(&mut self) {
        self.changed = Some(BTreeSet::new());
    }

    pub(crate) fn note(&mut self, name: T) {
        if let Some(changed) = &mut self.changed {
            changed.insert(name);
        }
    }

    /// What this snapshot has to tell, of all that there is.
    pub(crate) fn take(&mut self, all: impl IntoIterator<Item = T>) -> BTreeSet<T> {
        match self.changed.replace(BTreeSet::new()) {
            Some(changed) => changed,
            None => all.into_iter().collect(),
        }
    }
}
