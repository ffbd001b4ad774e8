//! Where a Delta table is; found out without looking there.

use std::path::{Path, PathBuf, absolute};

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::TableSpec;

use super::TABLE_PATH;

/// Where a table is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablePath {
    /// As the user wrote it, for messages.
    pub written: String,
    /// The folder, as a path from the root of this machine's files on.
    pub folder: PathBuf,
}

/// Where the table is.
///
/// # Errors
/// `Invalid` if the option is missing, or names no folder of this machine.
pub fn table_path(table: &TableSpec) -> Result<TablePath> {
    let written = table.options.required(TABLE_PATH)?;
    let refuse = |message: String| table.options.refuse(TABLE_PATH, message);
    let local = match written.split_once("://") {
        None => written.strip_prefix("file:").unwrap_or(written),
        Some(("file", rest)) if rest.starts_with('/') => rest,
        Some(("file", _)) => {
            return Err(refuse(format!("the URL '{written}' names a host"))
                .hint("a URL of a local folder has three slashes: file:///folder"));
        }
        Some((scheme, _)) => {
            return Err(refuse(format!("Delta tables are not written to the file system '{scheme}'"))
                .hint("write to a folder of this machine"));
        }
    };
    if local.is_empty() {
        return Err(refuse(format!("the option '{TABLE_PATH}' is empty")).hint("name a folder"));
    }
    let path = table.folder.join(Path::new(local));
    let folder = absolute(&path)
        .map_err(|e| Error::unavailable(format!("where '{}' is can't be found out: {e}", path.display())).because(e))?;
    // The log is read by URLs, in which these would be taken for an escape and a separator.
    if let Some(special) = ['%', '\\'].into_iter().find(|&c| folder.to_string_lossy().contains(c)) {
        return Err(refuse(format!("the path of a Delta table can't have '{special}': '{}'", folder.display()))
            .hint("give the folder another name"));
    }
    Ok(TablePath { written: written.to_owned(), folder })
}
