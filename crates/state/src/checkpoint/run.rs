//! The number of a run, which is part of the names of all files that it alone writes.
//!
//! Nothing keeps a second process from an object store, so two may write to one place. As neither writes a file of the
//! other's name, what they write never meets but in the manifest, of which an epoch has one.

use std::hash::{BuildHasher, RandomState};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

/// The last ten digits of a file's number are its epoch, those before the run. Files of versions that gave runs no
/// numbers have none.
const EPOCHS: u64 = 10_000_000_000;

/// Numbers of runs have nine digits: with the epoch they fit into 64 bits.
const FIRST_RUN: u64 = 100_000_000;
const RUNS: u64 = 900_000_000;

/// One process that writes to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run(u64);

impl Run {
    /// As in versions that gave runs no numbers.
    #[cfg(test)]
    pub(super) const NONE: Self = Self(0);

    /// One that no other run has, as far as chance goes.
    pub(super) fn draw() -> Self {
        // The clock and the process as well: where the system has little chance to give, machines differ in them.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        Self(FIRST_RUN + RandomState::new().hash_one((now, process::id())) % RUNS)
    }

    pub(super) fn number(self) -> u64 {
        self.0
    }

    /// The number of the file that it writes for an epoch.
    pub(super) fn file(self, epoch: u64) -> u64 {
        self.0 * EPOCHS + epoch % EPOCHS
    }
}

/// The epoch that a file was written for.
pub(super) fn epoch_of(file: u64) -> u64 {
    file % EPOCHS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_tells_its_epoch_also_where_it_has_no_run() {
        assert_eq!(Run(999_999_999).file(12), 9_999_999_990_000_000_012);
        assert_eq!(epoch_of(Run(100_000_000).file(12)), 12);
        assert_eq!(epoch_of(12), 12);
    }

    #[test]
    fn runs_differ() {
        let (a, b) = (Run::draw(), Run::draw());
        assert_ne!(a, b);
        assert!([a, b].iter().all(|run| (FIRST_RUN..FIRST_RUN + RUNS).contains(&run.number())));
    }
}
