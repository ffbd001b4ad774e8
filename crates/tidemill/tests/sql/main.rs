//! SQL within a program: what a query gives, beside the same question in typed code and a naive recomputation.

mod changes;
mod functions;
mod orders;
mod refused;
mod restarts;
mod windows;
