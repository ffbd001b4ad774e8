//! How a table that nobody has declared is declared: by a look at what it holds.

use std::fmt::Debug;
use std::path::Path;

use arrow::datatypes::SchemaRef;
use tidemill_core::Result;

/// What a declaration of a table says, found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inferred {
    /// The columns; all of them may be NULL.
    pub columns: SchemaRef,
    /// Those of the columns that stand in the paths of files, in the order of the folders.
    pub partitioned_by: Vec<String>,
    /// The keys and values of `WITH`, `connector` among them.
    pub options: Vec<(String, String)>,
    /// What to do about a row that contradicts the columns: not all rows were looked at.
    pub advice: String,
}

/// Finds out how to declare what a path names.
///
/// # Contract
/// - The same input gives the same declaration.
/// - It reads a bounded part of the input.
pub trait Infer: Debug + Send + Sync {
    /// Looks at what `path` names; a relative path starts at `folder`.
    ///
    /// # Errors
    /// `Unavailable` if nothing is there, `Data` if what is there can't be read, `Invalid` if it can't be told how to
    /// read it.
    fn infer(&self, path: &str, folder: &Path) -> Result<Inferred>;
}
