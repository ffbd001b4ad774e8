//! The batch driver: the same plan over the same input as bounded history, run by DataFusion.
//!
//! What is ours: the scan of a declared table ([`source`]), which several statements share
//! ([`shared_scan`]), windows as columns ([`window`]), and the planner that knows these. Nothing is late here: the identity columns, where asked for, leave out
//! the rows that a live run found late ([`not_late`]).

mod dead_letter;
mod expected_late;
mod grouping_sets;
mod not_late;
mod over_input;
mod planner;
mod run;
mod session;
mod sessions_apart;
mod shared_scan;
mod source;
mod unnest;
mod window;

pub use expected_late::expected_late;
pub use not_late::{LateRow, LateRows};
pub(crate) use not_late::{identity_column, scan_with_identity, scan_with_watermark};
pub(crate) use planner::{BatchQueryPlanner, physical_plan};
pub use run::check_bounded;
pub use run::{BatchOutcome, run};
pub(crate) use sessions_apart::sessions_apart;
pub(crate) use source::SourceTable;
