//! What both drivers know of a logical plan, and how its errors become ours.

mod column_names;
mod error;
mod event_time;
mod windows;

pub(crate) use column_names::position_columns;
pub(crate) use error::plan_error;
pub(crate) use event_time::{is_event_time, scanned, unaliased};
pub(crate) use windows::{scanned_table, windows};
