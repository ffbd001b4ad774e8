//! The functions of Tidemill's Flink SQL that DataFusion lacks, or answers differently from what is promised here.

pub mod aggregate;
mod scalar;

pub use aggregate::aggregates;
pub use scalar::scalars;
