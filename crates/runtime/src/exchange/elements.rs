//! What an exchange asks of elements of a program's own type.

use std::fmt;

use tidemill_core::{Elements, Result};

/// The keys of elements of a program's own type.
///
/// # Contract
/// - Equal keys are of one key group, and nothing but the key decides.
pub trait ElementKeys: ElementCodec + fmt::Debug {
    /// Each element's key group.
    ///
    /// # Errors
    /// `Invalid` if a key can't be written.
    fn key_groups(&self, elements: &Elements) -> Result<Vec<u8>>;

    /// Takes elements apart: `parts` has the part of each, of which there are so many. Each part is in the order of the elements.
    ///
    /// # Errors
    /// `Internal` if elements are of another type.
    fn deal(&self, elements: Elements, parts: &[usize], count: usize) -> Result<Vec<Elements>>;
}

/// How elements of a program's own type are kept between the stages of a batch.
///
/// All are `Internal` errors if elements are of another type.
pub trait ElementCodec: Send + Sync {
    /// When each happened, in milliseconds since 1970, `i64::MIN` for one that has no time; empty if none has.
    ///
    /// # Errors
    /// See above.
    fn times<'e>(&self, elements: &'e Elements) -> Result<&'e [i64]>;

    /// Those that are picked, in that order: each by the number of its run and its place there.
    ///
    /// # Errors
    /// See above.
    fn gather(&self, runs: &[Elements], picks: &[(usize, usize)]) -> Result<Elements>;

    /// The bytes of which [`ElementCodec::read`] makes the same again.
    ///
    /// # Errors
    /// `Invalid` if an element can't be written.
    fn write(&self, elements: &Elements) -> Result<Vec<u8>>;

    /// What was written.
    ///
    /// # Errors
    /// `Data` if the bytes are not that.
    fn read(&self, bytes: &[u8]) -> Result<Elements>;
}
