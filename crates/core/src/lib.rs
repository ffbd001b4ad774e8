//! The words that every Tidemill crate speaks.
//!
//! **Owns** event time and watermarks, row kinds, the batch that flows between operators with its
//! sidecars, epochs, and the error that a person reads.
//! **Never** knows of tasks, SQL, files or any library but Arrow.
//! **Start at** [`EventBatch`], then [`Watermark`].

mod elements;
mod epoch;
mod error;
mod event_batch;
mod event_time;
mod row_kind;

pub use elements::{AnyElements, Elements};
pub use epoch::Epoch;
pub use error::{Error, ErrorKind, Excerpt, Result};
pub use event_batch::{EventBatch, Lineage, SourceRows};
pub use event_time::{EventTime, EventTimes, Watermark};
pub use row_kind::RowKind;
