//! The folders that a run creates: made to last with what is committed, and removed again where it leaves them empty.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tidemill_core::{Error, Result};

use super::failed;

/// The folders of one run.
#[derive(Debug, Default)]
pub struct Folders {
    /// Those that the run has created. An outer folder sorts before what is in it.
    created: BTreeSet<PathBuf>,
    /// Where names were added that a crash of the machine could still take back.
    unsynced: BTreeSet<PathBuf>,
}

impl Folders {
    /// Makes sure that there is a folder at `path`.
    pub fn ensure(&mut self, path: &Path) -> Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if path.exists() {
            return Err(Error::invalid(format!("cannot write to '{}': it is a file", path.display()))
                .hint("the path of a sink is a folder, which gets one file for each part of the result"));
        }
        let missing = path.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists());
        let missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        fs::create_dir_all(path).map_err(|e| failed("create the folder", path, e))?;
        self.unsynced.extend(missing.iter().filter_map(|folder| folder.parent()).map(Path::to_owned));
        self.created.extend(missing);
        Ok(())
    }

    /// Makes the created folders survive a crash of the machine.
    pub fn sync(&mut self) -> Result<()> {
        while let Some(folder) = self.unsynced.first() {
            sync_folder(folder)?;
            self.unsynced.pop_first();
        }
        Ok(())
    }

    /// Removes those of the created folders that nothing is in.
    pub fn remove_empty(&self) -> Result<()> {
        for folder in self.created.iter().rev() {
            match fs::remove_dir(folder) {
                Err(e) if !matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
                    return Err(failed("remove the empty folder", folder, e));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Makes the names in a folder survive a crash of the machine.
pub fn sync_folder(folder: &Path) -> Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder).and_then(|f| f.sync_all()).map_err(|e| failed("sync the folder", folder, e))
}
