//! Joins of two keyed streams.

mod interval;
mod memory;
mod side;
mod window;

pub use interval::IntervalJoin;
pub use window::{CoGroupFunction, WindowJoin};
