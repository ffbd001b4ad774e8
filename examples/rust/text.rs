//! What the examples over text have in common: files, lines and words.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use tidemill::{Error, Result};

/// The paths of the files in a folder, in the order of their names.
pub fn files(folder: &Path) -> Result<Vec<String>> {
    let paths =
        fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>());
    let paths = paths.map_err(|e| cannot_read(&folder.to_string_lossy(), e))?;
    let mut files: Vec<String> =
        paths.into_iter().filter(|path| path.is_file()).map(|path| path.to_string_lossy().into_owned()).collect();
    files.sort();
    Ok(files)
}

/// The lines of a file, read as they are asked for.
pub fn lines(path: &str) -> Result<impl Iterator<Item = Result<String>>> {
    let file = File::open(path).map_err(|e| cannot_read(path, e))?;
    Ok(BufReader::new(file).lines().map(move |line| line.map_err(|e| cannot_read(path, e))))
}

/// The words of a line, in small letters.
pub fn words(line: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let small = |word| match str::bytes(word).all(|byte| byte.is_ascii_lowercase()) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(word.to_lowercase()),
    };
    line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(small)
}

fn cannot_read(path: &str, e: io::Error) -> Error {
    Error::unavailable(format!("cannot read {path}: {e}")).because(e).hint("it must be there, and text in UTF-8")
}
