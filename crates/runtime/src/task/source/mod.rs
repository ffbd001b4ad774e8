//! Sources: one reader in order, as many decoders as there are cores, stitched in the order of the rows.
//!
//! ```text
//!           reader (serial, cheap)          subtasks (parallel)
//! partition ─► chunk 0 ─► chunk 1 ─► ...   decode · stitch · operators
//!                 │          │                 carry: offset and running
//!                 └─ queue ──┴──────────────►  maximum, chunk to chunk
//! ```
//!
//! Only the *carry* is serial: how many rows came before, and the maximum of the watermark
//! expression over them. So each row's watermark is that of a single reader, whatever the number of
//! subtasks. [`plan`] decides (no waiting, no I/O), [`reader`] reads, [`worker`] decodes.

mod clocks;
mod decode;
mod event_time;
mod plan;
mod progress;
mod pulse;
mod reader;
mod rejected;
mod worker;

pub(crate) use clocks::Clocks;
pub(crate) use decode::{Made, decode, locate, make, offsets};
pub(crate) use plan::{Position, Reached, SourcePlan, Step};
pub(crate) use progress::Resumed;
pub(crate) use reader::read;
pub(crate) use rejected::rejected_rows;
pub use rejected::rejected_schema;
pub(crate) use worker::{Worker, work};
