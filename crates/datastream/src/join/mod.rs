//! Joins of two keyed streams.

mod interval;
mod side;
mod window;

pub use interval::IntervalJoin;
pub use window::{CoGroupFunction, WindowJoin};
