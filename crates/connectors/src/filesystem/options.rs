//! The options of a table in files, and where its path leads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{OptionSpec, Options, TableSpec};

use super::{partition, rolling};
use crate::format::{FileFormat, with_file_format_options};

const PATH: OptionSpec = OptionSpec {
    key: "path",
    doc: "The file to read, or the folder to write part files to; a relative path starts at the folder of the SQL file.",
};

/// Every option of the connector, with those of the formats.
pub fn all() -> Vec<OptionSpec> {
    with_file_format_options(&[&[PATH], partition::OPTIONS, rolling::OPTIONS].concat())
}

/// A table in files.
#[derive(Debug, Clone)]
pub struct FilesystemOptions {
    /// The path as the user wrote it: the partition's name.
    pub written: Arc<str>,
    /// The path to open.
    pub path: PathBuf,
    /// Where the path was looked up from, if it is relative.
    pub folder: Option<PathBuf>,
    /// The format of the bytes.
    pub format: FileFormat,
}

impl FilesystemOptions {
    /// Reads and checks the options of a table; does no I/O.
    pub fn from_table(table: &TableSpec) -> Result<Self> {
        let written = table.options.required("path")?;
        let local = local_path(&table.options, written)?;
        let folder = local.is_relative().then(|| table.folder.clone());
        let format = FileFormat::from_options(&table.options)?;
        Ok(Self { written: written.into(), path: table.folder.join(local), folder, format })
    }

    /// Says where a relative path was looked up from, or else what `otherwise` says.
    pub fn explain(&self, error: Error, otherwise: &str) -> Error {
        match &self.folder {
            Some(folder) => error.hint(format!(
                "the path '{}' is relative to the folder of the SQL file, {}",
                self.written,
                shown(folder)
            )),
            None => error.hint(otherwise),
        }
    }
}

/// The part of a path or `file://` URL that names a local file. As in Flink, nothing in it is escaped.
fn local_path<'a>(options: &Options, written: &'a str) -> Result<&'a Path> {
    let local = match written.split_once("://") {
        None => written.strip_prefix("file:").unwrap_or(written),
        Some(("file", rest)) if rest.starts_with('/') => rest,
        Some(("file", _)) => {
            let error = options.refuse("path", format!("the URL '{written}' names a host"));
            return Err(error.hint("a URL of a local file has three slashes: file:///folder/file"));
        }
        Some((scheme, _)) => {
            let error = options.refuse("path", format!("the file system '{scheme}' is not supported"));
            return Err(error.hint("use the path of a local file, or a file:/// URL"));
        }
    };
    if local.is_empty() {
        return Err(options.refuse("path", "the option 'path' is empty").hint("name a file or a folder"));
    }
    Ok(Path::new(local))
}

/// A path for messages; the empty path is the current folder.
pub fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() { "the current folder".to_owned() } else { format!("'{}'", path.display()) }
}
