//! From the logical plan to what runs: one planner a driver.

pub mod batch;
mod by_name;
mod identity;
pub mod live;
mod outputs;

pub(crate) use by_name::by_name;
pub(crate) use identity::IDENTITY;
pub use outputs::{LateSink, Outputs};
