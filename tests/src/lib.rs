//! What the whole-program tests share: the program under test, a folder to run it in, golden cases.
//!
//! **Owns** how a test finds and runs the `tidemill` binary, and how it reads what came out.
//! **Never** computes a result: expectations stand in the cases, or are recomputed by the test.
//! **Start at** [`program::Program`].

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

pub mod case;
pub mod delta;
pub mod duckdb;
pub mod folder;
pub mod program;
pub mod rows;
pub mod running;
pub mod s3;
