//! From the logical plan to what runs: one planner a driver.

pub mod batch;
pub mod live;
mod outputs;

pub use outputs::{LateSink, Outputs};
