//! State on a disk, where the build has it.

use tidemill_datastream::StateBackend;

#[cfg(feature = "rocksdb")]
pub fn on_disk() -> (StateBackend, Option<tempfile::TempDir>) {
    let folder = tempfile::tempdir().unwrap();
    (StateBackend::rocksdb(folder.path(), 16 << 20), Some(folder))
}

#[cfg(not(feature = "rocksdb"))]
pub fn on_disk() -> (StateBackend, Option<tempfile::TempDir>) {
    (StateBackend::memory(), None)
}
