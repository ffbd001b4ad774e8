//! The dataflow: what runs a job, whatever face wrote it.
//!
//! ```text
//! graph (what to run) ─► job (spawn, epochs, outcome) ─► task (loops) ─► operator, window (synchronous work)
//!                                                          │
//!                                                    exchange (channels, key groups)
//! ```
//!
//! **Owns** tasks and bounded channels, the exchange by key group, row watermarks, barriers and
//! epochs, the operators, and the contracts of sources and sinks ([`connector`]).
//! **Never** knows SQL, a file format or a server. Operators are synchronous and own no task.
//! **Start at** [`graph::JobGraph`], then [`job::run`], then [`operator::Operator`].

pub mod aggregate;
pub mod batch;
pub mod clock;
pub mod connector;
pub mod exchange;
#[cfg(test)]
mod fleet;
pub mod graph;
pub mod job;
pub mod key_groups;
pub mod metrics;
pub mod operator;
mod savepoint;
pub mod scan;
mod task;
pub mod time_zone;
#[cfg(test)]
mod told;
#[cfg(test)]
mod twins;
pub mod window;

pub use task::source::rejected_schema;

use tidemill_core::Error;

/// DataFusion's error as ours: what it says of the user's data is the user's, the rest is our bug.
#[must_use]
pub fn engine_error(error: datafusion::error::DataFusionError) -> Error {
    translated(&error)
}

fn translated(error: &datafusion::error::DataFusionError) -> Error {
    use datafusion::error::DataFusionError as E;
    match error {
        E::Context(what, inner) => translated(inner).context(what),
        // Behind an exchange of DataFusion's, all readers are given the one failure.
        E::Shared(inner) => translated(inner),
        E::External(inner) => match inner.downcast_ref::<Error>() {
            Some(ours) => ours.clone(),
            None => Error::data(inner.to_string()),
        },
        E::Execution(message) => Error::data(message),
        E::Plan(message) => Error::invalid(message),
        E::NotImplemented(message) => Error::invalid(format!("not supported: {message}")),
        E::ArrowError(e, _) => Error::data(e.to_string()),
        E::ResourcesExhausted(message) => Error::unavailable(message),
        other => Error::internal(other.to_string()),
    }
}
