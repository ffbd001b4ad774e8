//! Proofs and arrangements over a pipeline.
//!
//! **Owns** the reconciliation of a live run with its batch.
//! **Never** prints, and never knows a connector.
//! **Start at** [`reconcile::reconcile`].

mod capture;
pub mod reconcile;

pub use capture::{Capture, StatementCapture};
