//! Tidemill as a library: typed streams, and the tables that they read and write.
//!
//! **Owns** the names that programs use: everything of `tidemill_datastream`, [`Table`], and [`Tables`].
//! **Never** has code of its own but what ties tables and queries to streams.
//! **Start at** [`Environment`]; a table of a connector is a [`Table`], and [`Tables`] are for SQL within a program.

/// The guide, whose code is run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct Guide;

mod columns;
pub mod functions;
mod table;
mod tables;

pub use table::Table;
pub use tables::Tables;
pub use tidemill_datastream::*;
