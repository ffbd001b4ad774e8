//! From the logical plan to what runs: one planner a driver.

pub mod batch;
mod by_name;
mod check;
mod explain;
mod identity;
pub mod live;
mod not_deterministic;
mod outputs;
mod source_columns;
mod watermark;

pub(crate) use by_name::by_name;
pub use check::{Checked, Finding, LivePlan, Severity, check, nothing_visible};
pub use explain::explain;
pub(crate) use identity::{IDENTITY, ROW_WATERMARK};
pub use not_deterministic::check_deterministic;
pub use outputs::{LateSink, Outputs};
pub(crate) use source_columns::{SourceColumns, source_columns};
pub(crate) use watermark::event_time_spec;
