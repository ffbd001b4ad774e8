//! Windows over event time: from a row's time to the windows that it is in, and their results.
//!
//! ```text
//!            one task a core                      exchange            one task a range of key groups
//! rows ─► PreAggregate (pane, group) ─► partial states by key group ─► WindowAggregate ─► rows, once a window
//!            └─► late rows                                                (fires on the watermark)
//! ```
//!
//! Lateness is judged in [`PreAggregate`], by the row's own watermark, so that it does not depend
//! on how far the operators after the exchange have come.

mod aggregate;
mod assign;
mod assigner;
mod changes;
mod late;
mod pace;
mod pre_aggregate;
mod session;
mod spec;

pub use aggregate::WindowAggregate;
pub use assign::{AssignWindows, windows_of};
pub use assigner::{Window, WindowAssigner};
pub use late::{LATE_COLUMNS, LateOutput, late_schema};
pub use pre_aggregate::PreAggregate;
pub use session::{SessionAggregate, SessionSpec, session_reach_ms};
pub use spec::{TimeColumn, WindowSpec};
