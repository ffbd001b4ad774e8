//! Checkpoints: what a job was at a cut, so that a later process goes on from there.
//!
//! ```text
//! 4821937550000000012.parts   what epoch 12 has changed, as Arrow batches one after the other; written first
//! 0000000012.manifest         names the parts, of this file and of earlier ones, that make the whole state; put in
//!                             place last
//! ```
//!
//! The digits before the epoch's are the run's: two processes that write to one place do not write to one file. A manifest
//! is put where there is none, so an epoch is of one run. Another that comes to the epoch stops, and what it has written
//! is deleted once nobody can still name it.
//!
//! A checkpoint is there when its manifest is. It holds the *delta* of its epoch; the parts that it has not changed it
//! names where they stand already. What stands in files of which little is still named, or in too many parts, is written
//! anew with the delta ([`chains`]), so a checkpoint's size follows the change, and all files together the state.
//!
//! [`chains`] decides, [`place`] does the I/O, [`CheckpointStore`] drives. A [`Savepoint`] is a checkpoint that stands by itself.

mod chains;
mod files;
mod job;
mod manifest;
pub(crate) mod part;
mod place;
mod pulse;
mod run;
mod savepoint;
mod store;
mod writer;

pub use job::{JobIdentity, OperatorIdentity};
pub use manifest::{FORMAT, Manifest, Owner};
pub use place::Place;
pub use pulse::Pulse;
pub use savepoint::{Savepoint, SavepointWriter};
pub use store::{CheckpointStore, Retention, Snapshot, Summary, Written};
