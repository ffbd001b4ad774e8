//! Flink SQL text to a plan, and a plan to one of two drivers.
//!
//! ```text
//! parse ─► pipeline (catalog, settings, one logical plan a statement)
//!                      ├─► physical::live    one graph for the runtime
//!                      └─► physical::batch   DataFusion, with our scans and windows
//! ```
//!
//! **Owns** the dialect, the types, the functions, the logical plan with its windows, and both
//! physical planners.
//! **Never** knows a connector: a table asks the registry that the program hands in.
//! **Start at** [`Pipeline::load`], then [`physical::live`].

mod advised;
mod catalog;
pub mod function;
pub mod parse;
pub mod physical;
mod pipeline;
mod plan;
mod program;
mod registered;
mod session;
mod settings;
pub mod types;
mod unnest;
mod window_tvf;

pub use catalog::{StreamTable, Table};
pub use parse::SqlText;
pub use pipeline::{Answer, LoadOptions, Pipeline, PlannedStatement, Target};
pub use program::{Query, QueryRows};
pub use registered::{Accumulators, AggregateFunction, Registered, ScalarFunction};
pub use settings::{Checkpointing, RuntimeMode, Settings, settings};
