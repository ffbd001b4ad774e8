//! Where elements come from, and the steps that are taken where they are read.

mod iterator;
mod pending;

pub(crate) use iterator::IteratorSource;
pub(crate) use pending::PendingSource;
