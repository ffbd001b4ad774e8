//! SQL within a program: what a query gives, beside the same question in typed code and a naive recomputation.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod batches;
mod changes;
mod functions;
mod orders;
mod refused;
mod restarts;
mod sessions;
mod windows;
