//! Session windows: a key's rows that follow one another within a gap.
//!
//! ```text
//! rows by key ─► pending ── W passes a row's watermark ─► sessions (who belongs together)
//!                                                             │ session ids
//!                                                  late ◄─────┤
//!                                                             ▼
//!                                                        buffer of rows and partial states
//!                                                             │ W passes a session's end
//!                                                             ▼
//!                                                          results ─► told, while they can change
//! ```
//!
//! Which rows make a session depends on the order in which they are judged, so that order is fixed:
//! by the row's own watermark, then partition, then offset. A row waits until the operator's watermark
//! has passed its own; then no row that comes before it is still to come.

mod buffer;
mod dealt;
mod operator;
mod pending;
mod sessions;
mod snapshot;
mod told;

pub use operator::{SessionAggregate, SessionSpec};
pub use sessions::session_reach_ms;
