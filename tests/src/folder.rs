//! A folder of a test's own, removed at its end.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// A fresh folder.
///
/// # Panics
/// If it can't be made.
#[must_use]
pub fn fresh() -> TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

/// A fresh folder with copies of what is in `folder`.
///
/// # Panics
/// If a file can't be copied.
#[must_use]
pub fn copy_of(folder: &Path) -> TempDir {
    let copy = fresh();
    copy_into(folder, copy.path());
    copy
}

fn copy_into(from: &Path, to: &Path) {
    for name in names(from) {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() {
            fs::create_dir(&to).expect("a folder can be made");
            copy_into(&from, &to);
        } else {
            fs::copy(from, to).expect("a file can be copied");
        }
    }
}

/// The names of everything in the folder, hidden or not, sorted; empty if there is no folder.
#[must_use]
pub fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
