//! The files of the checkout: where its root is, and what a check looks at.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// Folders that hold no file of ours.
const SKIPPED: [&str; 3] = [".git", "target", "out"];

/// A working copy of the repository.
pub(crate) struct Checkout {
    root: PathBuf,
}

/// A text file, by its path from the root with `/` between the names.
pub(crate) struct TextFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Checkout {
    /// The one that `cargo xtask` was called in.
    pub(crate) fn here() -> Result<Self, String> {
        // Asked for when run, not when built: checkouts share a target folder.
        let xtask = env::var_os("CARGO_MANIFEST_DIR").ok_or("call this program as cargo xtask")?;
        let root = Path::new(&xtask).parent().ok_or("xtask must be a folder of the checkout")?;
        Ok(Self { root: root.to_owned() })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn read(&self, relative: &str) -> Result<String, String> {
        fs::read_to_string(self.path(relative)).map_err(|e| format!("cannot read {relative}: {e}"))
    }

    /// The folders of `crates/`, sorted.
    pub(crate) fn crates(&self) -> Result<Vec<String>, String> {
        let entries = fs::read_dir(self.path("crates")).map_err(|e| format!("cannot list crates/: {e}"))?;
        let mut names = vec![];
        for entry in entries {
            let entry = entry.map_err(|e| format!("cannot list crates/: {e}"))?;
            if entry.path().join("Cargo.toml").is_file() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Every file whose bytes are text, sorted by path.
    pub(crate) fn text_files(&self) -> Result<Vec<TextFile>, String> {
        let ours = |name: &std::ffi::OsStr| !SKIPPED.iter().any(|skipped| name == *skipped);
        let walk = WalkDir::new(&self.root).sort_by_file_name().into_iter();
        let mut files = vec![];
        for entry in walk.filter_entry(|e| e.depth() == 0 || ours(e.file_name())) {
            let entry = entry.map_err(|e| format!("cannot walk the checkout: {e}"))?;
            if !entry.file_type().is_file() {
                continue;
            }
            let bytes = fs::read(entry.path()).map_err(|e| format!("cannot read {}: {e}", entry.path().display()))?;
            // What is not UTF-8 is data: a test's, or a picture.
            if let Ok(text) = String::from_utf8(bytes) {
                let path = entry.path().strip_prefix(&self.root).expect("the walk starts at the root");
                files.push(TextFile { path: path.to_string_lossy().replace('\\', "/"), text });
            }
        }
        Ok(files)
    }
}

impl TextFile {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether the file is nothing but tests: `foo/tests.rs`, or a file in a folder `tests`.
    pub(crate) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.split('/').any(|folder| folder == "tests")
    }

    /// Lines of code with their numbers from 1: no comments, and nothing from `#[cfg(test)]` on, which
    /// stands last in a file.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .take_while(|(_, line)| line.trim() != "#[cfg(test)]")
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}
