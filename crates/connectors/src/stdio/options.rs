//! The options of a table in a pipe: those of its format, and no other.

use tidemill_core::Result;
use tidemill_runtime::connector::TableSpec;

use crate::format::TextFormat;

/// The format of the bytes: JSON lines, unless the table says otherwise.
pub fn format(table: &TableSpec) -> Result<TextFormat> {
    TextFormat::from_table(table, Some("json"))
}
