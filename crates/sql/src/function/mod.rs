//! The functions of Tidemill's Flink SQL that DataFusion lacks, or answers differently from what is promised here.

pub mod aggregate;
mod local_time;
mod scalar;
pub(crate) mod time;

pub(crate) use aggregate::Ordered;
pub use aggregate::aggregates;
pub(crate) use local_time::Clock;
pub use scalar::scalars;
